/** Processes that tests start: their output, their end, and that none remains. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROCESSES_MS } from './limits.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const BIN = `${ROOT}sdk/bin/uscope.js`;

export { buildSdk } from './build-sdk.js';

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process with what it has printed so far. */
export class Running {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private hasEnded = false;

  constructor(
    program: string,
    args: readonly string[],
    options: { cwd: string; env?: Record<string, string> },
  ) {
    this.child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (data: Buffer) => {
      this.stdout += data.toString();
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data.toString();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      // Not `exit`: what was printed last may not have been read then.
      this.child.once('close', (status, signal) => {
        this.hasEnded = true;
        resolve({ status, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Until the process has printed `text`; fails when it ends before, or after a minute. */
  async printed(text: string): Promise<void> {
    await until(`"${text}" from a process that printed\n${this.stdout}\n${this.stderr}`, () => {
      if (this.hasEnded && !this.shows(text)) {
        throw new Error(`it ended without "${text}":\n${this.stdout}\n${this.stderr}`);
      }
      return this.shows(text);
    });
  }

  private shows(text: string): boolean {
    return this.stdout.includes(text) || this.stderr.includes(text);
  }
}

/** Polls until `condition` holds; what takes longer than tests may hangs. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + PROCESSES_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Children of a process whose command line contains `text`. */
export function childrenOf(pid: number, text: string): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.map(Number).filter((child) => commandLine(child).includes(text));
}

/** Those whose working directory it is; a process that is being started still has its parent's command line. */
export function processesIn(directory: string): { pid: number; commandLine: string }[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && workingDirectory(pid) === directory)
    .map((pid) => ({ pid, commandLine: commandLine(pid) }));
}

/** Empty for a process that has ended, and for those of others. */
function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** Empty for a process that has just ended. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
