/** Who holds a lock file, as the file says, and what this machine knows of the holder. */
import { createHash, randomBytes } from 'node:crypto';
import { constants, readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isEnding, isRunning, type ProcessName, processStart } from './process-name.js';

export interface Holder {
  /** Names this holding of the lock: 8 hex digits. */
  readonly token: string;
  readonly host: string;
  /** Id of the machine's boot, and the inode of the process's PID namespace; '' where there is no /proc. */
  readonly boot: string;
  readonly pidNamespace: string;
  readonly process: ProcessName;
  /** A holder that shows no sign of life for as long may be taken for dead. */
  readonly leaseMs: number;
}

/** A lock file as it was found. */
export interface Seen {
  readonly token: string;
  /** null: the file cannot be read, or says something else. */
  readonly holder: Holder | null;
  /** Changes with every sign of life. */
  readonly beat: number;
}

/** `unknown`: on another machine, or in another PID namespace. */
export type Verdict = 'alive' | 'ending' | 'dead' | 'unknown';

export const MIN_LEASE_MS = 1000;
export const MAX_LEASE_MS = 600_000;
const MAX_BYTES = 4096;
const LAYOUT = 1;

const ownStart = processStart(process.pid) ?? 0n;
const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
const pidNamespace = textOf(() => readlinkSync('/proc/self/ns/pid'));

/** Boot and PID namespace in the name of a file. */
const place = createHash('sha256').update(`${boot}/${pidNamespace}`).digest('hex').slice(0, 6);
const TEMPORARY = /\.([0-9a-f]{8})\.([0-9a-f]{6})-([0-9a-z]{1,8})-([0-9a-z]{1,14})$/;

/** Tokens of the locks that this process holds: what else names this process is of an attempt that failed. */
const held = new Set<string>();

export function newHolder(leaseMs: number): Holder {
  const token = randomBytes(4).toString('hex');
  held.add(token);
  const process_ = { pid: process.pid, start: ownStart };
  return { token, host: hostname(), boot, pidNamespace, process: process_, leaseMs };
}

export function forget({ token }: Holder): void {
  held.delete(token);
}

/**
 * Of a file that is to become a lock. It is empty for a moment, and its process may be killed in that moment: its owner is in its
 * name.
 */
export function temporaryPath(path: string, { token }: Holder): string {
  return `${path}.${token}.${place}-${process.pid.toString(36)}-${ownStart.toString(36)}`;
}

/** What can be said of the process that made such a file; null: its name is not of that kind. */
export function judgeTemporary(name: string): Verdict | null {
  const [, token, where, pid, start] = TEMPORARY.exec(name) ?? [];
  if (token === undefined) return null;
  if (where !== place || boot === '') return 'unknown';
  return judgeProcess(token, { pid: Number.parseInt(pid, 36), start: fromBase36(start) });
}

function fromBase36(digits: string): bigint {
  return [...digits].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);
}

export function encodeHolder({ token, host, boot, pidNamespace, process, leaseMs }: Holder): string {
  const { pid, start } = process;
  return `${JSON.stringify({ v: LAYOUT, token, host, boot, pidns: pidNamespace, pid, start: String(start), lease_ms: leaseMs })}\n`;
}

/** null: there is no such file. @throws what the operating system says */
export async function look(path: string): Promise<Seen | null> {
  const file = await openLock(path);
  if (file === null) return null;
  if (file === 'unreadable') return lookFromOutside(path);
  try {
    const { ino, mtimeMs, nlink } = await file.stat();
    if (nlink === 0) return null; // replaced while it was opened
    const bytes = Buffer.alloc(MAX_BYTES);
    const { bytesRead } = await file.read(bytes, 0, MAX_BYTES, 0);
    const holder = decodeHolder(bytes.toString('utf8', 0, bytesRead));
    return { token: holder?.token ?? tokenOf(ino), holder, beat: mtimeMs };
  } finally {
    await file.close();
  }
}

async function openLock(path: string): Promise<FileHandle | 'unreadable' | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESTALE') return null;
    if (code === 'EACCES' || code === 'EPERM' || code === 'ELOOP') return 'unreadable';
    throw error;
  }
}

async function lookFromOutside(path: string): Promise<Seen | null> {
  try {
    const { ino, mtimeMs } = await lstat(path);
    return { token: tokenOf(ino), holder: null, beat: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const tokenOf = (inode: number): string => inode.toString(16).padStart(8, '0').slice(-8);

function decodeHolder(text: string): Holder | null {
  try {
    const { v, token, host, boot, pidns, pid, start, lease_ms: leaseMs } = JSON.parse(text);
    const isNamed =
      [host, boot, pidns].every((name) => typeof name === 'string') && Number.isSafeInteger(pid);
    if (v !== LAYOUT || !/^[0-9a-f]{8}$/.test(token) || !isNamed || !/^\d{1,20}$/.test(start)) return null;
    if (!(leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS)) return null;
    return { token, host, boot, pidNamespace: pidns, process: { pid, start: BigInt(start) }, leaseMs };
  } catch {
    return null;
  }
}

/** What can be said at once. Only a process of the same boot and PID namespace can be looked at. */
export function judge(holder: Holder | null): Verdict {
  if (holder === null || holder.boot === '' || holder.boot !== boot) return 'unknown';
  if (holder.pidNamespace !== pidNamespace) return 'unknown';
  return judgeProcess(holder.token, holder.process);
}

/** @param name of a process of this boot and PID namespace */
function judgeProcess(token: string, name: ProcessName): Verdict {
  if (name.pid === process.pid && name.start === ownStart) return held.has(token) ? 'alive' : 'dead';
  if (!isRunning(name)) return 'dead';
  return isEnding(name) ? 'ending' : 'alive';
}

/** For messages. */
export function nameOfHolder(holder: Holder | null): string {
  if (holder === null) return 'another process';
  const where =
    holder.boot === boot && boot !== '' ? 'this machine' : JSON.stringify(holder.host.slice(0, 64));
  return `process ${holder.process.pid} on ${where}`;
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
