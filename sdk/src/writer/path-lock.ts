/**
 * One writer per trace file, across processes. The lock is a Unix socket in the abstract name space, named after the file: the kernel
 * takes it back when its process ends, however it ends, so no stale lock can be left behind. It holds between the processes of one machine
 * (and one network name space); Linux only, elsewhere nothing is locked.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { ioError } from './output-file.js';

export interface PathLock {
  release(): void;
}

const UNLOCKED: PathLock = { release() {} };

/** @param path of a file that need not exist, in a directory that does @throws UscopeError WRITER_BUSY, WRITER_DIRECTORY */
export async function lockPath(path: string): Promise<PathLock> {
  if (process.platform !== 'linux') return UNLOCKED;
  const name = await lockName(path);
  const server = createServer((stranger) => stranger.destroy());
  try {
    await listen(server, name);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw ioError(cause, path);
    const detail = 'another process writes this trace; wait for its end or choose another name';
    throw new UscopeError('WRITER_BUSY', detail, { file: path }, { cause });
  }
  server.unref();
  return { release: () => void server.close() };
}

/** Whether a process writes the file now, as far as this machine can tell. */
export async function isLocked(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const name = await lockName(path);
  return new Promise((resolve) => {
    const socket = connect(name);
    const answer = (locked: boolean): void => {
      socket.destroy();
      resolve(locked);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

/** Name of the socket. Whatever way leads to the directory, it is known by device and inode. */
export async function lockName(path: string): Promise<string> {
  try {
    const { dev, ino } = await stat(dirname(path), { bigint: true });
    const hash = createHash('sha256')
      .update(`${dev}/${ino}/${basename(path)}`)
      .digest('hex');
    return `\0uscope-trace-${hash.slice(0, 40)}`;
  } catch (error) {
    throw ioError(error, path);
  }
}

function listen(server: Server, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(name, resolve);
  });
}
