/** Output files that appear whole or not at all: written under a temporary name in the same directory, then renamed. */
import { randomBytes } from 'node:crypto';
import { link, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { ioError, syncDirectory } from '../writer/output/output-file.js';

export interface AtomicOptions {
  /** Files being read, which are never replaced. */
  readonly inputs: readonly string[];
  /** Replace a file that is there already. */
  readonly force?: boolean | undefined;
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
    await publish(temporary, path, options.force === true);
    await syncDirectory(dirname(path));
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw named(error, temporary, path);
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
