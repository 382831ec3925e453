/**
 * The daemon gives way to the simulator: where both want the same core, the simulator gets it. What waits meanwhile is in the
 * client's memory, and when that is full the simulator waits anyway.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

export const DEFAULT_NICE = 10;
export const MAX_NICE = 19;

/** Of the whole machine's groups, those without privileges may change one in so much time. */
const GROUP_RETRY_MS = 110;
const GROUP_TRIES = 500;

/**
 * Gives every thread of this process at least this nice value; threads and processes started later have it too. Never raises a priority;
 * 0 leaves it as it is. On Linux a nice value belongs to a thread, and where the kernel groups processes by session, to the group as well.
 */
export function lowerPriority(nice: number): void {
  if (nice === 0) return;
  for (const thread of threads()) {
    try {
      if (getPriority(thread) < nice) setPriority(thread, nice);
    } catch {
      // it has ended, or nobody may change it: the daemon works all the same
    }
  }
  if (leadsItsSession()) lowerGroup(nice);
}

function threads(): number[] {
  const ids = listThreads();
  // A /proc of another PID namespace has other numbers, which here are other processes, the simulator perhaps.
  return ids.includes(process.pid) ? ids : [process.pid];
}

function listThreads(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [];
  }
}

/** Otherwise its group may be the simulator's too. */
function leadsItsSession(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // The command name, in parentheses, may itself hold blanks and parentheses.
    const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(session) === process.pid;
  } catch {
    return false;
  }
}

function lowerGroup(nice: number, tries = GROUP_TRIES): void {
  const file = '/proc/self/autogroup';
  try {
    const [, current = '0'] = / nice (-?\d+)/.exec(readFileSync(file, 'utf8')) ?? [];
    if (Number(current) < nice) writeFileSync(file, String(nice));
  } catch (error) {
    // Otherwise there are no groups by session here.
    const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN';
    if (isTooSoon && tries > 1) setTimeout(lowerGroup, GROUP_RETRY_MS, nice, tries - 1).unref();
  }
}
