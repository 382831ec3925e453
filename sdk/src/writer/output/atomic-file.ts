/**
 * Output files that appear whole or not at all: written under an exclusive, random name in the same directory, then renamed. A link in
 * the place of the output is replaced, never followed. Everything that writes a file for users goes through here.
 */
import { randomBytes } from 'node:crypto';
import { link, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { OUTPUT_MODE } from '../../base/file-mode.js';
import { giveAccessOf } from './file-access.js';
import { ioError, syncDirectory } from './output-file.js';

export interface AtomicOptions {
  /** Files being read, which are never replaced. */
  readonly inputs: readonly string[];
  /** Replace a file that is there already. */
  readonly force?: boolean | undefined;
  /** What the output is derived from: it gets its mode and owner, of several files the strictest. Default: OUTPUT_MODE less the umask. */
  readonly source?: string | readonly string[] | undefined;
  /** A whole file does not get its name any more once this was raised. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * `write` is given the temporary path; when it has resolved, the file gets its name. When it fails, no file remains.
 * @throws UscopeError WRITER_EXISTS for an input or, without `force`, any file that is there; WRITER_*
 */
export async function writeAtomically<T>(
  path: string,
  options: AtomicOptions,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  await checkPath(path, options);
  const temporary = temporaryName(path);
  try {
    const result = await write(temporary);
    options.signal?.throwIfAborted();
    if (options.source !== undefined) await giveAccessOf(options.source, temporary);
    await publish(temporary, path, options.force === true);
    await syncDirectory(dirname(path));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw named(error, temporary, path);
  }
}

/**
 * One file with these bytes.
 * @param options `mode` of a file without a `source`, before the umask takes bits away
 * @throws UscopeError WRITER_EXISTS, WRITER_*
 */
export function writeFileAtomically(
  path: string,
  data: string | Uint8Array,
  { mode = OUTPUT_MODE, ...options }: AtomicOptions & { readonly mode?: number },
): Promise<void> {
  return writeAtomically(path, options, (temporary) => writeNewFile(temporary, data, mode));
}

/** Replaces a file of our own, such as a record or a lock: the old content or the new one is there, durably. @throws UscopeError WRITER_* */
export async function replaceFile(
  path: string,
  data: string | Uint8Array,
  mode = OUTPUT_MODE,
): Promise<void> {
  await writeFileAtomically(path, data, { inputs: [], force: true, mode });
}

/** Writes and syncs a file that is not there yet. */
async function writeNewFile(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  try {
    const file = await open(path, 'wx', mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** A temporary name next to `path`. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
}

/** Gives a whole file its name. Without `force` a file that came there meanwhile is not replaced. */
export async function publish(temporary: string, path: string, force: boolean): Promise<void> {
  try {
    if (force) await rename(temporary, path);
    else {
      await link(temporary, path);
      await unlink(temporary);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** @throws UscopeError WRITER_EXISTS when nothing may be written there */
export async function checkPath(path: string, { inputs, force }: AtomicOptions): Promise<void> {
  const there = await identity(path);
  if (there === null) return;
  for (const input of inputs) {
    if ((await identity(input)) === there) {
      throw new UscopeError('WRITER_EXISTS', 'this is an input; choose another name for the output', {
        file: path,
      });
    }
  }
  if (force && there.startsWith('file')) return;
  const detail = force ? 'no ordinary file is there' : 'the file exists; choose another name or give --force';
  throw new UscopeError('WRITER_EXISTS', detail, { file: path });
}

/** What distinguishes a file from all others, whatever its path; null when there is none. */
async function identity(path: string): Promise<string | null> {
  try {
    const { dev, ino, ...entry } = await stat(path, { bigint: true }).then((found) => ({
      dev: found.dev,
      ino: found.ino,
      isFile: found.isFile(),
    }));
    return `${entry.isFile ? 'file' : 'other'} ${dev} ${ino}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw ioError(error, path);
  }
}

/** Errors name the file asked for, not the temporary one. */
function named(error: unknown, temporary: string, path: string): unknown {
  if (!(error instanceof UscopeError)) return error;
  const file = error.place.file === temporary ? path : error.place.file;
  return new UscopeError(error.code, error.detail, { ...error.place, file }, { cause: error.cause });
}
