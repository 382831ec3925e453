/**
 * The daemon gives way to a simulator that runs: where both want the same core, the simulator gets it. What waits meanwhile is in the
 * client's memory, and when that is full the simulator waits anyway.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

export const DEFAULT_NICE = 10;
export const MAX_NICE = 19;

/** A trace that has been open for this long is of a simulator that runs for a while: shorter runs end before it matters who waits. */
const LOWER_AFTER_MS = 1000;
const LOOK_MS = 200;

/** Of the whole machine's groups, those without privileges may change one in so much time. */
const GROUP_RETRY_MS = 110;
const GROUP_TRIES = 500;
const GROUP_FILE = '/proc/self/autogroup';

/**
 * Lowers the priority of this process while simulators run, and only then: what starts a trace, and what finishes it, is waited for by
 * somebody, and a busy machine gives a process of low priority next to nothing.
 */
export class DaemonPriority {
  private readonly own = getPriority();
  private openSince: number | null = null;
  private isLow = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param isRecording a trace is open, and its client has not closed it */
  constructor(
    private readonly nice: number,
    private readonly isRecording: () => boolean,
  ) {}

  /** A trace was opened. */
  opened(): void {
    if (this.nice > this.own) this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** No trace is opened any more. */
  restore(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.openSince = null;
    if (this.isLow) raisePriority(this.own);
    this.isLow = false;
  }

  private look(): void {
    if (!this.isRecording()) {
      this.restore();
      return;
    }
    this.openSince ??= performance.now();
    if (this.isLow || performance.now() - this.openSince < LOWER_AFTER_MS) return;
    this.isLow = true;
    lowerPriority(this.nice);
  }
}

/** Gives every thread this nice value, as far as the system allows: without privileges only a group gets its priority back. */
function raisePriority(nice: number): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, nice);
    } catch {
      // it has ended, or this process may not: then it finishes its traces with the priority that it has
    }
  }
  if (leadsItsSession()) setGroup(nice);
}

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
  if (leadsItsSession()) setGroup(nice, (current) => current < nice);
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

/** The last call: an earlier one does not try again. */
let groupCall = 0;

function setGroup(nice: number, isWanted: (current: number) => boolean = () => true): void {
  const call = ++groupCall;
  const attempt = (tries: number): void => {
    if (call !== groupCall) return;
    try {
      if (isWanted(groupNice())) writeFileSync(GROUP_FILE, String(nice));
    } catch (error) {
      // Otherwise there are no groups by session here.
      const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN';
      if (isTooSoon && tries > 1) setTimeout(attempt, GROUP_RETRY_MS, tries - 1).unref();
    }
  };
  attempt(GROUP_TRIES);
}

function groupNice(): number {
  const [, current = '0'] = / nice (-?\d+)/.exec(readFileSync(GROUP_FILE, 'utf8')) ?? [];
  return Number(current);
}
