/**
 * The file layer under the writer. Everything the writer does to a disk goes through this interface, so that tests can put a layer
 * under it that forgets, reorders and tears what was not synced.
 */
import { constants, fdatasync, writev } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { OUTPUT_MODE } from '../../base/file-mode.js';
import { ownUid } from './own-file.js';

export interface OutputFile {
  readonly path: string;
  /** Writes the chunks one after the other from `position`; on an error any part of them may have been written. */
  write(chunks: readonly Uint8Array[], position: number): Promise<void>;
  /** Reads up to `length` bytes; fewer at the end of the file. @param memory where they may be put, if it has room */
  read(position: number, length: number, memory?: Uint8Array): Promise<Uint8Array>;
  /** fdatasync: when it resolves, everything written before is durable. */
  sync(): Promise<void>;
  /** fsync of the directory that holds the file: makes its name durable. */
  syncDirectory(): Promise<void>;
  size(): Promise<number>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens an output file: 'create' fails if the path exists, 'resume' if it does not. */
export type OpenOutput = (path: string, mode: 'create' | 'resume') => Promise<OutputFile>;

export const openNodeOutput: OpenOutput = async (path, mode) => {
  try {
    const handle = await open(
      path,
      mode === 'create' ? 'wx+' : constants.O_RDWR | constants.O_NOFOLLOW,
      OUTPUT_MODE,
    );
    if (mode === 'resume') await checkOwner(handle, path);
    return new NodeOutputFile(path, handle);
  } catch (error) {
    throw ioError(error, path);
  }
};

/** What is continued was begun by this user: in a shared directory somebody else may have put a file there. Root continues files of others. */
async function checkOwner(handle: FileHandle, path: string): Promise<void> {
  const { uid } = await handle.stat();
  if (uid === ownUid() || ownUid() === 0) return;
  await handle.close();
  throw new UscopeError('READER_UNTRUSTED', `it belongs to user ${uid}, and is not continued; remove it`, {
    file: path,
  });
}

/** What a vectored write may take at a time (IOV_MAX). */
const MAX_VECTORS = 1024;

/** The chunks without their first `count` bytes. */
function behind(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  let skip = count;
  let index = 0;
  while (index < chunks.length && skip >= chunks[index].length) skip -= chunks[index++].length;
  const rest = chunks.slice(index);
  if (skip > 0) rest[0] = rest[0].subarray(skip);
  return rest;
}

type Done = (error: Error | null) => void;

/** All chunks, however many calls that takes. */
function writeChunks(fd: number, chunks: Uint8Array[], position: number, done: Done): void {
  if (chunks.length === 0) {
    done(null);
    return;
  }
  const some = chunks.length > MAX_VECTORS ? chunks.slice(0, MAX_VECTORS) : chunks;
  writev(fd, some, position, (error, written) => {
    if (error) done(error);
    else writeChunks(fd, behind(chunks, written), position + written, done);
  });
}

class NodeOutputFile implements OutputFile {
  private underWay = 0;
  private readonly closers: (() => void)[] = [];

  constructor(
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  write(chunks: readonly Uint8Array[], position: number): Promise<void> {
    const rest = chunks.filter((chunk) => chunk.length > 0);
    return this.perform((fd, done) => writeChunks(fd, rest, position, done));
  }

  read(position: number, length: number, memory?: Uint8Array): Promise<Uint8Array> {
    return this.guard(async () => {
      const bytes = memory && length <= memory.length ? memory.subarray(0, length) : new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await this.handle.read(bytes, done, length - done, position + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    });
  }

  sync(): Promise<void> {
    return this.perform(fdatasync);
  }

  /** What every segment needs is done by callbacks, which cost less than the promises of a FileHandle. */
  private perform(action: (fd: number, done: Done) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const done: Done = (error) => {
        this.underWay--;
        if (this.underWay === 0) for (const wake of this.closers.splice(0)) wake();
        if (error) reject(ioError(error, this.path));
        else resolve();
      };
      this.underWay++;
      try {
        action(this.handle.fd, done);
      } catch (error) {
        done(error as Error);
      }
    });
  }

  syncDirectory(): Promise<void> {
    return syncDirectory(dirname(this.path));
  }

  size(): Promise<number> {
    return this.guard(async () => (await this.handle.stat()).size);
  }

  truncate(size: number): Promise<void> {
    return this.guard(() => this.handle.truncate(size));
  }

  close(): Promise<void> {
    return this.guard(async () => {
      // The number of a closed descriptor may be another file's the next moment.
      if (this.underWay > 0) await new Promise<void>((resolve) => this.closers.push(resolve));
      await this.handle.close();
    });
  }

  private async guard<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw ioError(error, this.path);
    }
  }
}

/** fsync of a directory: the names in it, and those that are gone from it, are durable when it resolves. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT']);
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

/** An operating system error as a coded one. */
export function ioError(error: unknown, path: string): UscopeError {
  if (error instanceof UscopeError) return error;
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  const place = { file: path };
  if (DISK_FULL.has(code)) {
    return new UscopeError(
      'WRITER_DISK_FULL',
      `no space left (${code}); free some space on that file system`,
      place,
      { cause: error },
    );
  }
  if (code === 'EEXIST') {
    return new UscopeError(
      'WRITER_EXISTS',
      'the file exists already; remove it or choose another name',
      place,
      { cause: error },
    );
  }
  if (NOT_WRITABLE.has(code)) {
    const detail = `cannot be written (${code}); check that its directory exists and that you may write there`;
    return new UscopeError('WRITER_DIRECTORY', detail, place, { cause: error });
  }
  return new UscopeError('WRITER_IO', `the operating system said: ${message}`, place, { cause: error });
}
