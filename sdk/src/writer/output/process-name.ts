/** Processes of this machine: pid and start time together name one process even after pids wrap. */
import { readFileSync } from 'node:fs';

/** A process on this machine. */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks since boot (`/proc/PID/stat` field 22); 0: unknown. */
  readonly start: bigint;
}

/** Fields of `/proc/PID/stat` after the command name, which is field 2. */
const STATE = 0;
const FLAGS = 6;
const START = 19;
/** The kernel takes the process apart (PF_EXITING). */
const EXITING = 0x4;
const KILL = 1n << 8n;

/** Start time of a process; null when there is none (or no /proc). A process that has ended and waits for its parent is gone too. */
export function processStart(pid: number): bigint | null {
  const fields = statOf(pid);
  if (fields === null || fields[STATE] === 'Z' || fields[STATE] === 'X') return null;
  return BigInt(fields[START]);
}

export function isRunning({ pid, start }: ProcessName): boolean {
  return start !== 0n && processStart(pid) === start;
}

/** Whether a process that is there still has been killed, or is ending: what it holds is free in a moment. */
export function isEnding({ pid }: ProcessName): boolean {
  const fields = statOf(pid);
  return fields === null || (Number(fields[FLAGS]) & EXITING) !== 0 || isKilled(pid);
}

/** SIGKILL was sent and has not been carried out yet. */
function isKilled(pid: number): boolean {
  try {
    const masks = readFileSync(`/proc/${pid}/status`, 'latin1').matchAll(/^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)$/gm);
    return [...masks].some(([, mask]) => (BigInt(`0x${mask}`) & KILL) !== 0n);
  } catch {
    return true;
  }
}

function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name, in parentheses, may itself hold blanks and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
