/**
 * One writer per trace file, across processes and hosts. Two locks in a row:
 *
 * - A Unix socket in the abstract name space, named after the file. The kernel takes it back when its process ends, however it ends. It holds
 *   between the processes of one machine and network name space; Linux only.
 * - A hidden file next to the trace (lock-file.ts), which holds between all that share the directory.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { UscopeError } from '../../base/errors.js';
import { busy, defaultLeaseMs, ENDING_MS, LockFile, POLL_MS, whenFree } from './lock-file.js';
import { judge, look } from './lock-holder.js';
import { ioError } from './output-file.js';

export interface PathLock {
  release(): void;
  /**
   * To be called before every write: undefined when the lock is surely held, else a promise that resolves when that is sure.
   * @throws UscopeError WRITER_LOCK_LOST
   */
  check?(): Promise<void> | undefined;
}

export interface PathLockOptions {
  /** The file will only be read: a directory in which nothing can be created is not an obstacle. */
  readonly onlyReads?: boolean | undefined;
  /** Without a sign of life for as long, this holder may be taken for dead by other hosts. */
  readonly leaseMs?: number | undefined;
}

/** Everything after it in the names of claims, and of files that are to become locks, takes up to 60 more. */
const MAX_NAME_BYTES = 180;

/**
 * Waits for a holder that was killed and has not ended yet, and for the lease of one on another host that gives no sign of life.
 * @param path of a file that need not exist, in a directory that does
 * @throws UscopeError WRITER_BUSY, WRITER_DIRECTORY, WRITER_DISK_FULL, WRITER_IO
 */
export async function lockPath(path: string, options: PathLockOptions = {}): Promise<PathLock> {
  const socket = await holdSocket(path);
  try {
    const file = await lockFile(path, options);
    const release = (): void => {
      file?.release();
      socket?.close();
    };
    return { release, check: () => file?.check() };
  } catch (error) {
    socket?.close();
    throw error;
  }
}

async function lockFile(path: string, { onlyReads, leaseMs }: PathLockOptions): Promise<LockFile | null> {
  const file = lockFilePath(path);
  try {
    return (await LockFile.acquire(file, path, leaseMs ?? defaultLeaseMs())).keep();
  } catch (error) {
    if (!onlyReads || (error as UscopeError).code !== 'WRITER_DIRECTORY') throw error;
    await whenFree(file, path);
    return null;
  }
}

/** The lock file of a trace: hidden, and gone when nobody writes it. */
export function lockFilePath(path: string): string {
  const name = basename(path);
  const isShort = Buffer.byteLength(name) <= MAX_NAME_BYTES;
  return join(dirname(path), `.${isShort ? name : createHash('sha256').update(name).digest('hex')}.lock`);
}

/**
 * Whether a process writes the file now, as far as can be seen immediately. Of a holder on another host there is only the time of its last sign
 * of life, by a clock that need not be ours: good enough for a list.
 */
export async function isLocked(path: string): Promise<boolean> {
  if (await isSocketHeld(path)) return true;
  const seen = await look(lockFilePath(path)).catch(() => null);
  if (seen === null) return false;
  const verdict = judge(seen.holder);
  return verdict === 'unknown' ? Math.abs(Date.now() - seen.beat) < LIST_MS : verdict === 'alive';
}

/** More than clocks on a farm differ. */
const LIST_MS = 5 * 60_000;

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

async function isSocketHeld(path: string): Promise<boolean> {
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

/** null: there are no such sockets. */
async function holdSocket(path: string): Promise<Server | null> {
  if (process.platform !== 'linux') return null;
  const name = await lockName(path);
  const end = performance.now() + ENDING_MS;
  for (;;) {
    const server = createServer((stranger) => stranger.destroy());
    try {
      await listen(server, name);
      return server.unref();
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw ioError(cause, path);
      // A process that was killed has its sockets until it has ended, which takes a while on a busy machine.
      const holder = (await look(lockFilePath(path)).catch(() => null))?.holder ?? null;
      if (judge(holder) === 'alive' || performance.now() > end) throw busy(path, holder);
    }
    await delay(POLL_MS);
  }
}

function listen(server: Server, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(name, resolve);
  });
}
