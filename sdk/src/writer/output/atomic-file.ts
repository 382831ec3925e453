/**
 * Output files that appear whole or not at all: written under an exclusive, random name in the same directory, then renamed. A link in
 * the place of the output is replaced, never followed. Everything that writes a file for users goes through here.
 */
import { randomBytes } from 'node:crypto';
import { constants, writeFileSync } from 'node:fs';
import { link, lstat, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { UscopeError } from '../../base/errors.js';
import { OUTPUT_MODE, PRIVATE_MODE } from '../../base/file-mode.js';
import { giveAccessOf } from './file-access.js';
import { ioError, syncDirectory } from './output-file.js';
import { removeOnSignal } from './remove-on-signal.js';

export interface AtomicOptions {
  /** Files being read, which are never replaced. What is derived from them is open to nobody who may not read all of them. */
  readonly inputs: readonly string[];
  /** Replace a file that is there already. */
  readonly force?: boolean | undefined;
  /** The file that the output is derived from and gets mode and owner of, where that is none of the inputs. */
  readonly source?: string | undefined;
  /** A whole file does not get its name any more once this was raised. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A file on its way to its name. Until then it is in a hidden directory next to it that only this user may enter, so that nobody reads it
 * who may not read the finished file, whatever mode the code that writes it gives it.
 */
export class Draft {
  /** Where the file is written. */
  readonly temporary: string;

  private constructor(
    private readonly path: string,
    private readonly directory: string,
    private readonly options: AtomicOptions,
  ) {
    // Hidden, so that nothing that lists a directory's traces takes it for one.
    this.temporary = join(directory, `.${basename(path)}`);
  }

  /** @throws UscopeError WRITER_EXISTS for an input or, without `force`, any file that is there; WRITER_* */
  static async begin(path: string, options: AtomicOptions): Promise<Draft> {
    await checkPath(path, options);
    const directory = temporaryName(path);
    removeOnSignal.add(directory);
    await mkdir(directory, { mode: 0o700 }).catch((error: unknown) => {
      removeOnSignal.delete(directory);
      throw ioError(error, path);
    });
    return new Draft(path, directory, options);
  }

  /** Gives the whole, durable file its access rights and its name. Without `force` a file that came there meanwhile is not replaced. */
  async publish(): Promise<void> {
    const { path, temporary, options } = this;
    options.signal?.throwIfAborted();
    await seal(temporary, options.source === undefined ? options.inputs : [options.source]);
    try {
      await (options.force === true ? rename(temporary, path) : giveName(temporary, path));
    } catch (error) {
      throw ioError(error, path);
    }
    await this.discard();
    await syncDirectory(dirname(path));
  }

  /** Removes what was not published. */
  async discard(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true }).catch(() => {});
    removeOnSignal.delete(this.directory);
  }

  /** Errors name the file asked for, not the temporary one, and have a code. */
  named(error: unknown): unknown {
    if (!(error instanceof UscopeError)) {
      return (error as NodeJS.ErrnoException).syscall === undefined ? error : ioError(error, this.path);
    }
    if (error.place.file !== this.temporary) return error;
    return new UscopeError(error.code, error.detail, { ...error.place, file: this.path }, { cause: error });
  }
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
  const draft = await Draft.begin(path, options);
  try {
    const result = await write(draft.temporary);
    await draft.publish();
    return result;
  } catch (error) {
    await draft.discard();
    throw draft.named(error);
  }
}

/** What a file shall hold, or what makes that once it is known that the file can be written. */
export type FileContent = string | Uint8Array | Readable;

/**
 * One file with this content. Into `/dev/stdout`, a pipe or a device they are written as they are.
 * @param options `mode` of a file that is derived from none, before the umask takes bits away
 * @throws UscopeError WRITER_EXISTS, WRITER_*
 */
export async function writeFileAtomically(
  path: string,
  content: FileContent | (() => Promise<FileContent>),
  { mode = OUTPUT_MODE, ...options }: AtomicOptions & { readonly mode?: number },
): Promise<void> {
  const make = async () => (typeof content === 'function' ? content() : content);
  const stream = await streamAt(path);
  if (stream !== null) return writeStream(stream, path, await make());
  await writeAtomically(path, options, async (temporary) =>
    writeFile(temporary, await make(), { flag: 'wx', mode }),
  );
}

/** Replaces a file of our own, such as a record or a lock: the old content or the new one is there, durably. @throws UscopeError WRITER_* */
export async function replaceFile(
  path: string,
  data: string | Uint8Array,
  mode = OUTPUT_MODE,
): Promise<void> {
  await writeFileAtomically(path, data, { inputs: [], force: true, mode });
}

/** A hidden, random name next to `path`. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);
}

/** A complete file that nobody reads who may not read the sources. */
async function seal(path: string, sources: readonly string[]): Promise<void> {
  try {
    const file = await open(path, 'r');
    try {
      await giveAccessOf(sources, file);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Answers of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Renames without replacing. */
async function giveName(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    // The name is claimed by an empty file, which only this process replaces.
    await (await open(path, 'wx', PRIVATE_MODE)).close();
    await rename(temporary, path);
  }
}

/** The path that a draft's file, or a temporary name, is for; any other path as it is. */
export function finalName(path: string): string {
  return path.replace(/\.([^/]+)\.[0-9a-f]{8}\.tmp(\/[^/]+)?$/, '$1');
}

/** Names of open files of this process. */
const OWN_STREAM = /^\/(?:dev|proc\/self)\/(?:fd\/(\d{1,9})|std(in|out|err))$/;
const STANDARD = { in: 0, out: 1, err: 2 } as const;

/** What is written to and not replaced: an open file of this process, or a pipe or device; null: a file, or nothing, is there. */
async function streamAt(path: string): Promise<number | 'device' | null> {
  const [, number, name] = OWN_STREAM.exec(resolve(path)) ?? [];
  if (number !== undefined) return Number(number);
  if (name !== undefined) return STANDARD[name as keyof typeof STANDARD];
  // Not through a link; nor a pipe that somebody else made in a shared directory.
  const there = await lstat(path).catch(() => null);
  const isOurs = there?.isCharacterDevice() || (there?.isFIFO() && there.uid === process.geteuid?.());
  return isOurs ? 'device' : null;
}

async function writeStream(stream: number | 'device', path: string, content: FileContent): Promise<void> {
  const flag = constants.O_WRONLY | constants.O_NOFOLLOW;
  try {
    if (stream === 'device') await writeFile(path, content, { flag });
    else writeFileSync(stream, content instanceof Readable ? await buffer(content) : content);
  } catch (error) {
    throw ioError(error, path);
  }
}

/** @throws UscopeError WRITER_EXISTS when nothing may be written there */
export async function checkPath(path: string, { inputs, force }: AtomicOptions): Promise<void> {
  const there = (await streamAt(path)) === null ? await identity(path) : 'other';
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
