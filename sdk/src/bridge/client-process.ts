/** Whether a client's process still runs: pid and start time together name one process even after pids wrap. */
import { readFileSync } from 'node:fs';

/** A process on this machine. */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks since boot (`/proc/PID/stat` field 22); 0: unknown. */
  readonly start: bigint;
}

/** Start time of a process; null when there is none (or no /proc). A process that has ended and waits for its parent is gone too. */
export function processStart(pid: number): bigint | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name, in parentheses, may itself hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return BigInt(fields[19]);
  } catch {
    return null;
  }
}

export function isRunning({ pid, start }: ProcessName): boolean {
  return start !== 0n && processStart(pid) === start;
}
