// @ts-check
/** The processes of one torture run: started, watched through the simulator's ledger, and killed; none remains. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** What simulator.c writes into its ledger. */
export const State = /** @type {const} */ ({ OPENING: 0, TRACING: 1, CLOSING: 2, CLOSED: 3, REFUSED: 4 });

const PATIENCE_MS = 60_000;
/** For the output of a program that has ended: a child of it may have the other end for longer. */
const LAST_WORDS_MS = 5000;

/** A running program and what it has printed. */
export class Program {
  output = '';
  /** @type {number | null} */
  status = null;
  isOver = false;
  /** All that it has printed is in `output`. */
  #isRead = false;

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {{ cwd: string, env: Record<string, string> }} options
   */
  constructor(command, args, { cwd, env }) {
    this.child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const take = (/** @type {Buffer} */ data) => {
      this.output += data.toString();
    };
    this.child.stdout.on('data', take);
    this.child.stderr.on('data', take);
    /** @type {Promise<void>} */
    const read = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.status = code;
        this.signal = signal;
        this.isOver = true;
        setTimeout(resolve, LAST_WORDS_MS).unref();
      });
      this.child.once('close', () => resolve());
    });
    /** Its end, with all that it has printed. */
    this.ended = read.then(() => {
      this.#isRead = true;
    });
  }

  get pid() {
    return this.child.pid ?? -1;
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal = 'SIGKILL') {
    if (!this.isOver) this.child.kill(signal);
  }

  /** Its end; a program that does not come to one is killed. @returns {Promise<boolean>} whether it ended by itself */
  async end() {
    const patience = delay(PATIENCE_MS, true, { ref: false });
    const tooLate = await Promise.race([this.ended.then(() => false), patience]);
    if (tooLate) this.kill();
    await this.ended;
    return !tooLate;
  }

  /** @param {string} text */
  async printed(text) {
    await until(() => this.output.includes(text) || this.#isRead);
    if (!this.output.includes(text)) throw new Error(`ended without "${text}":\n${this.output}`);
  }
}

/** The child of a process that runs `program`, or `uscope VERB`; 0 when there is none. @param {number} pid @param {string} program */
export function childOf(pid, program) {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean);
  // A child that has been forked and has not yet become what it will be shows its parent's command line.
  const isIt = (/** @type {string} */ child) => {
    const [first, , verb] = read(`/proc/${child}/cmdline`).split('\0');
    return first === program || verb === program;
  };
  return Number(children.find(isIt) ?? 0);
}

/** Ends a process of ours that may have ended already. @param {number} pid @param {NodeJS.Signals} signal */
export function strike(pid, signal = 'SIGKILL') {
  try {
    if (pid > 0) process.kill(pid, signal);
  } catch {
    // it was faster
  }
}

/** @param {string} path */
export function readLedger(path) {
  const bytes = readBytes(path);
  if (bytes.length < 24) return { completed: 0, durable: 0, state: State.OPENING };
  const at = (/** @type {number} */ offset) => Number(bytes.readBigUInt64LE(offset));
  return { completed: at(0), durable: at(8), state: at(16) };
}

/** The longest wait that was not in vain, in ms: how near the limit a loaded machine comes. */
export let longestWaitMs = 0;

/** @param {() => boolean} condition @param {number} ms how long it is waited for at most */
export async function until(condition, ms = PATIENCE_MS) {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() > start + ms) throw new Error(`waited in vain, ${ms / 1000} s`);
    await delay(2);
  }
  longestWaitMs = Math.max(longestWaitMs, performance.now() - start);
}

/** @param {string} path */
function read(path) {
  return readBytes(path).toString('latin1');
}

/** @param {string} path */
function readBytes(path) {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
