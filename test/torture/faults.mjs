// @ts-check
/**
 * One fault at one file call of everything that writes (`npm run torture -- --faults --runs N`): which call of the first 400, and what it fails
 * with, follow from a seed. Verbs run in one process after the other (fault-verbs.mjs); daemons, with a simulator, as `uscope run`.
 */
import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeStaleLocks } from '../../sdk/dist/writer/output/stale-locks.js';
import { FAIL_CALL } from './build.mjs';
import { FAULTS, FaultControl, problemsOfText } from './fault-control.mjs';
import { contentsOf } from './pattern.mjs';
import { State } from './processes.mjs';
import { BIN, Context, generator, TRACE } from './scenarios.mjs';

const CHILD = fileURLToPath(new URL('fault-verbs.mjs', import.meta.url));
const MOST_CALLS = 400;
const PATIENCE_MS = 120_000;
/** Of a simulator. */
const CYCLES = 60_000;
const FLUSH_EVERY = 10_000;

/** `uscope run` with these. @type {Readonly<Record<string, readonly string[]>>} */
const RUNS = { daemon: [], stop: ['--on-full', 'stop'], recorder: ['--ring', '16MB'] };
const WAITING = new Set(['daemon', 'recorder']);
const VERBS = ['index', 'slice', 'merge', 'recover', 'convert', 'convert-from', 'stats', 'codegen', 'sql'];
const DATASETS = ['export', 'export-new', 'compact', 'rm', 'rm-joined'];
export const FAULT_KINDS = [...Object.keys(RUNS), ...DATASETS, ...VERBS];
/** What takes longer comes less often: of this number of runs one is of a daemon, one of a dataset. */
const RUN_EVERY = 25;
const DATASET_EVERY = 5;

/**
 * @typedef {object} FaultOutcome
 * @property {string} kind
 * @property {number} seed
 * @property {string} fault
 * @property {number} nth
 * @property {string} hit kind of the call that failed; empty: none was reached, or the fault does not apply to it
 * @property {string[]} problems
 * @property {string} output
 */

/** @param {number} index of a run of a campaign of all kinds */
export function faultKind(index) {
  const turn = (/** @type {readonly string[]} */ kinds, /** @type {number} */ every) =>
    kinds[Math.floor(index / every) % kinds.length];
  if (index % RUN_EVERY === 0) return turn(Object.keys(RUNS), RUN_EVERY);
  if (index % DATASET_EVERY === 1) return turn(DATASETS, DATASET_EVERY);
  return VERBS[index % VERBS.length];
}

/** What the runs share: inputs, and the process of the verbs. */
export class FaultCampaign {
  #directory = mkdtempSync(join(tmpdir(), 'uscope-faults-'));
  /** @type {import('node:child_process').ChildProcess | null} */
  #child = null;
  /** File calls of a run without a fault. @type {Map<string, number>} */
  #calls = new Map();

  /** @param {string} simulator the compiled simulator.c */
  constructor(simulator) {
    this.simulator = simulator;
    FaultControl.create(join(this.#directory, 'control'));
  }

  /** @param {string} kind of FAULT_KINDS @param {number} seed @returns {Promise<FaultOutcome>} */
  async run(kind, seed) {
    const random = generator(seed);
    random();
    const calls = this.#calls.get(kind) ?? (await this.#countCalls(kind));
    const nth = 1 + Math.floor(random() * Math.min(calls, MOST_CALLS));
    // A daemon waits for room unless it shall stop.
    const faults = Object.entries(FAULTS).filter(([name]) => name !== 'full' || !WAITING.has(kind));
    const [fault, error] = faults[Math.floor(random() * faults.length)];
    const { hit, problems, output } = await this.#attempt(kind, nth, error, seed);
    return { kind, seed, fault, nth, hit, problems, output };
  }

  async close() {
    await this.#endChild();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** @param {string} kind */
  async #countCalls(kind) {
    const { count, problems, output } = await this.#attempt(kind, 0, 0, 1);
    if (problems.length > 0) throw new Error(`${kind} without a fault: ${problems.join('; ')}\n${output}`);
    this.#calls.set(kind, count);
    return count;
  }

  /** @param {string} kind @param {number} nth @param {number} error @param {number} seed */
  #attempt(kind, nth, error, seed) {
    return kind in RUNS ? this.#traced(kind, nth, error, seed) : this.#verb(kind, nth, error);
  }

  // -- verbs

  /** @param {string} kind @param {number} nth @param {number} error */
  async #verb(kind, nth, error) {
    const child = await this.#runningChild();
    const answer = await new Promise((resolve) => {
      const timer = setTimeout(() => over('it hangs'), PATIENCE_MS);
      const ended = () => over('its process has ended');
      const take = (/** @type {unknown} */ message) => over(message);
      const over = (/** @type {unknown} */ result) => {
        clearTimeout(timer);
        child.off('exit', ended).off('message', take);
        resolve(result);
      };
      child.on('exit', ended).on('message', take);
      child.send({ kind, nth, error });
    });
    if (typeof answer !== 'string') return answer;
    await this.#endChild();
    return { count: 0, hit: '?', problems: [answer], output: '' };
  }

  async #runningChild() {
    if (this.#child) return this.#child;
    const [inputs, run] = [join(this.#directory, 'inputs'), join(this.#directory, 'run')];
    const env = {
      ...process.env,
      LD_PRELOAD: FAIL_CALL,
      FAIL_BELOW: run,
      FAIL_CONTROL: join(this.#directory, 'control'),
    };
    const child = fork(CHILD, [inputs, run], {
      env,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await new Promise((resolve) => child.once('message', resolve));
    this.#child = child;
    return child;
  }

  async #endChild() {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  // -- `uscope run`

  /** @param {string} kind @param {number} nth @param {number} error @param {number} seed */
  async #traced(kind, nth, error, seed) {
    const context = new Context(seed, this.simulator);
    const control = join(context.directory, 'control');
    const faults = FaultControl.create(control);
    // As fast as it can: segments wait while one is committed, and are there to be lost when that fails.
    Object.assign(context, { wanted: CYCLES, pace: 0 });
    const shim = { LD_PRELOAD: FAIL_CALL, FAIL_BELOW: context.out, FAIL_CONTROL: control };
    const environment = { ...shim, TORTURE_FLUSH_EVERY: `${FLUSH_EVERY}` };
    try {
      faults.arm(nth, error);
      const summary = join(context.directory, 'summary.json');
      const run = context.startRun([...RUNS[kind], '--json', summary], environment);
      if (!(await run.end())) context.problem('it hangs');
      const { count, hit } = faults.disarm();
      // What a failed call left of a lock is removed by the next daemon that starts.
      if (hit !== '') await removeStaleLocks(context.out);
      if (run.status === 0) await context.check();
      else await checkTorn(context, summary, kind === 'recorder');
      if (run.status !== 0 && hit === '')
        context.problem(`it ended with ${run.status} though nothing had failed`);
      const problems = [...problemsOfText(run.output), ...context.problems];
      return { count, hit, problems, output: context.output };
    } catch (failure) {
      context.problem(String(failure));
      return { count: 0, hit: '?', problems: context.problems, output: context.output };
    } finally {
      await context.cleanUp();
    }
  }
}

/** A trace that has failed: all that was acknowledged is in the file or in the client's memory, and the numbers are those of the file. @param {Context} context @param {string} summaryPath @param {boolean} isRecorder */
async function checkTorn(context, summaryPath, isRecorder) {
  const { durable, completed, state } = context.ledger;
  const [file, spool] = [`${TRACE}.uscope`, `${TRACE}.ring`].map((name) => join(context.out, name));
  const input = existsSync(file) ? file : spool;
  if (state === State.REFUSED || !existsSync(input)) {
    if (durable > 0) context.problem(`${durable} cycles were acknowledged and there is no file`);
    return;
  }
  const summary = existsSync(summaryPath) ? JSON.parse(readFileSync(summaryPath, 'utf8')) : null;
  const committed = Number(summary?.traces?.[0]?.committed ?? -1);
  const alone = recover(context, input, 'alone.uscope', ['--no-memory']);
  const readable = input === file ? file : alone;
  const found = readable === null ? null : await contentsOf(readable);
  if (found?.problem) context.problem(found.problem);
  const cycles = found?.cycles ?? 0;
  if (committed !== cycles) context.problem(`the summary has ${committed} cycles, the file ${cycles}`);
  const whole = recover(context, input, 'whole.uscope', ['--keep-memory']);
  const saved = whole ? await contentsOf(whole) : null;
  if (saved?.problem) context.problem(`recovered: ${saved.problem}`);
  const kept = saved?.cycles ?? 0;
  if (kept < durable) context.problem(`of ${durable} acknowledged cycles ${kept} can be recovered`);
  if (!isRecorder && kept > completed + 1) context.problem(`${kept} cycles of ${completed}`);
  rmSync(context.memory, { recursive: true, force: true });
}

/** @param {Context} context @param {string} input @param {string} name @param {string[]} more @returns {string | null} path; null: there is nothing in it */
function recover(context, input, name, more) {
  const output = join(context.directory, name);
  const env = { ...process.env, USCOPE_SHM_DIR: context.memory };
  try {
    execFileSync(process.execPath, [BIN, 'recover', input, '-o', output, ...more], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { status, stderr } = /** @type {{ status: number, stderr: Buffer }} */ (error);
    const said = stderr.toString();
    if (status !== 3 && !said.includes('RECOVER_NOTHING')) context.problem(`recover: ${said}`);
  }
  return existsSync(output) ? output : null;
}
