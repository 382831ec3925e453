// @ts-check
/**
 * One step of a script: a child process whose output is kept back, one line with its result and time, and the whole
 * log only when it fails. Children get no stdin (a script must run unattended) and their own process group, so that a step
 * that hangs or is interrupted takes its own children with it.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { noteAgain, noteFailure } from './failures.mjs';
import { childrenSeconds } from './processor-time.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Command
 * @property {string} title What the step does, in a few words.
 * @property {string} command
 * @property {string[]} [args]
 * @property {string} [cwd] Default: the root of the repository.
 * @property {Record<string, string>} [env] Added to the environment.
 * @property {number} [timeoutMs] Default: 30 minutes.
 * @property {boolean} [live] Hand stdout and stderr through as they come, for a step whose output is the result.
 */

/**
 * @typedef {object} Outcome
 * @property {boolean} ok
 * @property {number} seconds
 * @property {number | null} [computed] Seconds of processor time, with the processes that it ran and waited for.
 * @property {string} output stdout and stderr as they came ('' for live steps).
 * @property {string} why '' when ok, else how the process ended.
 */

/** For what hangs: builds and tests of minutes must not come near it on a machine that does other things too. */
const DEFAULT_TIMEOUT_MS = 30 * 60_000;
/** A step that takes longer says that it still works, where nobody sees the line of a terminal. */
const REMINDER_MS = 60_000;
const isTerminal = process.stdout.isTTY === true;

/** Set by the first SIGINT, SIGTERM or SIGHUP: the step that runs gets it, those after it are not started. */
let interrupted = false;
/** Processor time of the children that have ended. */
let counted = childrenSeconds() ?? 0;

/**
 * Runs a command to its end without printing anything. Never throws: a program that cannot be started is a failed outcome.
 * @param {Command} step
 * @returns {Promise<Outcome>}
 */
export function run(step) {
  if (interrupted) return Promise.resolve({ ok: false, seconds: 0, output: '', why: 'interrupted' });
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(step.command, step.args ?? [], {
      cwd: step.cwd ?? ROOT,
      env: { ...process.env, ...step.env },
      stdio: step.live ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    let timedOut = false;
    /** @type {number | null} */
    let computed = null;
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));

    const timeoutMs = step.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid, 'SIGKILL');
    }, timeoutMs);
    const stopHandlingSignals = passSignalsTo(child.pid);

    /** @param {string} why */
    const finish = (why) => {
      clearTimeout(timer);
      stopHandlingSignals();
      const seconds = (performance.now() - started) / 1000;
      resolve({ ok: why === '', seconds, computed, output, why });
    };
    child.on('exit', () => {
      computed = computedSinceLast();
    });
    child.on('error', (error) => finish(`cannot start ${step.command}: ${error.message}`));
    child.on('close', (code, signal) => {
      if (timedOut) finish(`stopped after ${timeoutMs / 1000} s`);
      else if (signal) finish(`ended by ${signal}`);
      else finish(code === 0 ? '' : `exit status ${code}`);
    });
  });
}

/** The system adds the time of a child as it ends: what has come since another one ended is this one's. */
function computedSinceLast() {
  const now = childrenSeconds();
  if (now === null) return null;
  const computed = now - counted;
  counted = now;
  return computed;
}

/**
 * Runs a command and prints its line; on failure its whole output goes to stderr.
 * @param {Command} step
 * @returns {Promise<Outcome>}
 */
export async function runStep(step) {
  const started = performance.now();
  if (isTerminal && !step.live) process.stdout.write(`...   ${step.title}\r`);
  const reminder = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000);
    if (!isTerminal && !step.live) process.stdout.write(`...   ${step.title}: ${seconds} s so far\n`);
  }, REMINDER_MS);
  const outcome = await run(step);
  clearInterval(reminder);
  printResult(step.title, outcome);
  return outcome;
}

/**
 * The line of a step, for steps that are not a child process.
 * @param {string} title
 * @param {{ok: boolean, seconds: number, computed?: number | null, output?: string, why?: string}} outcome
 */
export function printResult(title, { ok, seconds, computed = null, output = '', why = '' }) {
  noteAgain(output);
  if (!ok) noteFailure(why ? `${title} (${why})` : title, output);
  if (!ok && output) process.stderr.write(`${output.trimEnd()}\n`);
  const time = `${seconds.toFixed(1)} s`.padStart(8);
  const processor = computed === null ? '' : `  ${computed.toFixed(1).padStart(6)} s of processor time`;
  const lead = isTerminal ? '\r\x1b[K' : '';
  process.stdout.write(
    `${lead}${ok ? 'ok   ' : 'FAIL '} ${title.padEnd(44)} ${time}${processor}${why ? `  (${why})` : ''}\n`,
  );
}

/**
 * @param {number | undefined} pid
 * @returns {() => void} undoes it
 */
function passSignalsTo(pid) {
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => {
    interrupted = true;
    killGroup(pid, signal);
  };
  for (const signal of signals) process.on(signal, pass);
  return () => {
    for (const signal of signals) process.off(signal, pass);
  };
}

/**
 * @param {number | undefined} pid
 * @param {NodeJS.Signals} signal
 */
function killGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // the group is gone already
  }
}
