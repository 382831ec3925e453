/** Who works on a part of a dataset, and whether that process is still there. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process of another machine cannot be asked: it is taken for dead when it has not been heard of for this long. */
export const SILENT_MS = 15 * 60_000;

export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** Start time of the process, which tells it from a later one with its number; 0: not known. */
  readonly started: number;
}

let self: Owner | null = null;

export function ownOwner(): Owner {
  self ??= { host: hostname(), pid: process.pid, started: startOf(process.pid) };
  return self;
}

/** @param heardMs when it was heard of last */
export function isAlive({ host, pid, started }: Owner, heardMs: number): boolean {
  if (host !== hostname()) return Date.now() - heardMs < SILENT_MS;
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = startOf(pid);
  return started === 0 || now === 0 || now === started;
}

/** In ticks since the machine started (proc(5), field 22). */
function startOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) || 0;
  } catch {
    return 0;
  }
}
