// @ts-check
/**
 * Runs in which something is killed at a random moment, and what must hold afterwards. The moments follow from a seed; what a process was
 * doing at such a moment follows from the machine, so a seed shows a failure again often, not always.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SHIM } from './build.mjs';
import { contentsOf } from './pattern.mjs';
import { childOf, Program, readLedger, State, strike, until } from './processes.mjs';

export const BIN = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
export const TRACE = 'core0';
/** About a third of a second, unless something is killed. */
const CYCLES = 6000;
/** More than a simulator that is going to be killed can come to. */
const ENDLESS = 1_000_000;
const PACE = 25;

/** @typedef {(context: Context) => Promise<void>} Scenario */

/** Where a daemon that adopts an orphan kills itself (shim.c). */
const PHASES = [
  'before-lock',
  'after-lock',
  'remains',
  ...Array.from({ length: 12 }, (_, index) => `writing-${index + 2}`),
  'finalizing-1',
  'finalizing-2',
  'finalizing-3',
  'finalizing-4',
  'before-removal',
  'after-removal',
  'before-unlock',
];
/** Of the file system that runs full: a trace is a third of it. */
const DISK_BYTES = 4 * 1024 * 1024;
/** As far as the wall clock jumps, either way. */
const JUMP_MS = 48 * 3600 * 1000;

/**
 * What is killed. `daemon`, `serve`: the simulator must not notice. In all of them every cycle that was complete must be in the file.
 * @type {Readonly<Record<string, Scenario>>}
 */
export const SCENARIOS = {
  daemon: killDaemon,
  closing: killDaemonAtTheEnd,
  opening: killDaemonAtTheStart,
  simulator: killSimulator,
  both: killBoth,
  serve: killServe,
  orphan: killServeThenSimulator,
  everything: killEverything,
  stopped: stopDaemon,
  takeover: killStoppedDaemon,
  adoption: killDuringAdoption,
  full: fillDisk,
  clock: moveClock,
};

/**
 * @typedef {object} Outcome
 * @property {string} kind
 * @property {number} seed
 * @property {number} kills
 * @property {number} completed cycles whose end_cycle had returned
 * @property {number} durable cycles that were acknowledged
 * @property {number} cycles in the file
 * @property {string[]} problems
 * @property {string | null} skipped why this machine cannot run it
 * @property {string} output of all programs
 */

/** @param {string} kind of SCENARIOS @param {number} seed @param {string} simulator the compiled simulator.c @returns {Promise<Outcome>} */
export async function tortureRun(kind, seed, simulator) {
  const context = new Context(seed, simulator);
  try {
    await SCENARIOS[kind](context);
    if (context.skipped === null) await context.check();
  } catch (error) {
    context.problem(String(error));
  } finally {
    await context.cleanUp();
  }
  const { kills, completed, durable, cycles, problems, skipped, output } = context;
  return { kind, seed, kills, completed, durable, cycles, problems, skipped, output };
}

export class Context {
  kills = 0;
  completed = 0;
  durable = 0;
  cycles = 0;
  /** @type {string[]} */
  problems = [];
  /** In which daemons have died. @type {string[]} */
  phases = [];
  /** @type {string | null} */
  skipped = null;
  /** @type {Record<string, string>} of every program */
  environment = {};
  /** A separate file system for the traces. */
  #isMounted = false;
  /** Whether the simulator shall have come to its end. */
  isWhole = true;
  /** Cycles of a simulator that comes to its end, and those between two pauses of it. */
  wanted = CYCLES;
  pace = PACE;
  /** @type {Program[]} */
  #programs = [];

  /** @param {number} seed @param {string} simulator */
  constructor(seed, simulator) {
    this.random = generator(seed);
    this.simulator = simulator;
    this.directory = mkdtempSync(join(tmpdir(), 'uscope-torture-'));
    this.memory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'uscope-torture-'));
    this.ledgerPath = join(this.directory, 'ledger');
    this.endpoint = `ipc://${this.directory}/daemon.sock`;
    mkdirSync(join(this.directory, 'out'));
  }

  get output() {
    return [this.phases.join(', '), ...this.#programs.map(({ output }) => output)].join('');
  }

  /** Cycles the simulator shall come to. */
  get length() {
    return `${this.isWhole ? this.wanted : ENDLESS}`;
  }

  get ledger() {
    return readLedger(this.ledgerPath);
  }

  /** @param {string} problem */
  problem(problem) {
    this.problems.push(problem);
  }

  /** @param {number} most milliseconds */
  async sleepUpTo(most) {
    await delay(this.random() * most);
  }

  /** @param {string} command @param {readonly string[]} args @param {Record<string, string>} more environment */
  start(command, args, more = {}) {
    const own = {
      USCOPE_SHM_DIR: this.memory,
      USCOPE_ENDPOINT: this.endpoint,
      TMPDIR: this.directory,
      // A daemon that was killed before a trace was opened has a successor, which a busy machine takes long to start.
      USCOPE_OPEN_TIMEOUT_MS: '40000',
    };
    const env = { ...own, ...this.environment, ...more };
    const program = new Program(command, args, { cwd: this.directory, env });
    this.#programs.push(program);
    return program;
  }

  /** @param {string[]} end how the simulator ends by itself */
  supervise(...end) {
    return this.startRun([], {}, end);
  }

  /** `uscope run` with these options. @param {readonly string[]} options @param {Record<string, string>} env @param {readonly string[]} end how the simulator ends by itself */
  startRun(options, env, end = []) {
    const simulator = [this.simulator, TRACE, this.length, `${this.pace}`, this.ledgerPath, ...end];
    return this.start(process.execPath, [BIN, 'run', '--out', 'out', ...options, '--', ...simulator], env);
  }

  /** @param {{ endpoint?: string, env?: Record<string, string> }} more */
  startServe({ endpoint = this.endpoint, env = {} } = {}) {
    return this.start(process.execPath, [BIN, 'serve', '--out', 'out', '--endpoint', endpoint], env);
  }

  /** @param {{ endpoint?: string, env?: Record<string, string> }} more */
  async serve(more = {}) {
    const daemon = this.startServe(more);
    await daemon.printed('listening on');
    return daemon;
  }

  /** Nothing of a dead client is left. */
  get isMemoryEmpty() {
    return readdirSync(this.memory).length === 0;
  }

  get out() {
    return join(this.directory, 'out');
  }

  /** The traces get a file system that soon is full. @returns {boolean} false: this user may not mount one */
  mountSmallDisk() {
    try {
      const options = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', this.out];
      execFileSync('mount', options, { stdio: ['ignore', 'ignore', 'pipe'] });
      this.#isMounted = true;
    } catch {
      this.skipped = 'only root may mount a small file system';
    }
    return this.#isMounted;
  }

  simulate() {
    return this.start(this.simulator, [TRACE, this.length, `${this.pace}`, this.ledgerPath]);
  }

  async tracing() {
    await until(() => this.ledger.state !== State.OPENING);
  }

  /** @param {Program} program @param {(program: Program) => boolean} isRight */
  async expectEnd(program, isRight) {
    if (!(await program.end())) this.problem('a program had to be killed, it came to no end');
    else if (!isRight(program)) this.problem(`a program ended with ${program.status ?? program.signal}`);
  }

  async check() {
    const { completed, durable, state } = this.ledger;
    Object.assign(this, { completed, durable });
    if (this.isWhole && state !== State.CLOSED) this.problem(`the simulator is in state ${state}`);
    if (this.isWhole && completed !== this.wanted)
      this.problem(`the simulator completed ${completed} of ${this.wanted}`);
    const path = join(this.directory, 'out', `${TRACE}.uscope`);
    if (completed === 0 && durable === 0) return;
    const contents = await contentsOf(path);
    this.cycles = contents.cycles;
    if (contents.problem) this.problem(contents.problem);
    if (!contents.isComplete) this.problem('the file is not finalized');
    if (contents.lost > 0n) this.problem(`the file says that ${contents.lost} items are lost`);
    if (contents.cycles < durable)
      this.problem(`${durable - contents.cycles} acknowledged cycles of ${durable} are lost`);
    if (contents.cycles < completed)
      this.problem(`${completed - contents.cycles} completed cycles of ${completed} are lost`);
    // One more may have been complete before the ledger was updated.
    if (contents.cycles > completed + 1) this.problem(`${contents.cycles} cycles of ${completed}`);
    const wanted = this.isWhole ? ['closed'] : ['client lost', 'recovered'];
    // A client killed right after its close cannot be distinguished from one that ended well.
    if (!wanted.includes(contents.status) && state < State.CLOSING)
      this.problem(`the session is ${contents.status}`);
    // The word that a killed daemon left of its endpoint is removed by the next one that starts.
    const files = readdirSync(this.out).filter((name) => !name.startsWith('.uscope-daemon.'));
    if (files.length !== 1) this.problem(`the directory holds ${files.join(', ')}`);
    const left = readdirSync(this.memory);
    if (left.length > 0) this.problem(`the client's memory is left behind: ${left.join(', ')}`);
  }

  async cleanUp() {
    for (const program of this.#programs) {
      // A daemon that lives on has no use for it any more.
      strike(childOf(program.pid, 'serve'));
      program.kill();
      await program.ended;
    }
    if (this.#isMounted) execFileSync('umount', ['-l', this.out]);
    if (this.problems.length === 0) rmSync(this.directory, { recursive: true, force: true });
    rmSync(this.memory, { recursive: true, force: true });
  }
}

// -- one thing is killed

/** @param {Context} context */
async function killDaemon(context) {
  const run = context.supervise();
  const kills = 1 + Math.floor(context.random() * 3);
  await context.tracing();
  for (let i = 0; i < kills && !run.isOver; i++) {
    await context.sleepUpTo(300);
    await killChildDaemon(context, run);
  }
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** @param {Context} context */
async function killDaemonAtTheEnd(context) {
  const run = context.supervise();
  await until(() => context.ledger.state >= State.CLOSING || run.isOver);
  await context.sleepUpTo(12);
  await killChildDaemon(context, run);
  await context.sleepUpTo(600);
  await killChildDaemon(context, run);
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** @param {Context} context */
async function killDaemonAtTheStart(context) {
  const run = context.supervise();
  await until(() => childOf(run.pid, context.simulator) > 0 || run.isOver);
  await context.sleepUpTo(15);
  await killChildDaemon(context, run);
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** @param {Context} context @param {Program} run */
async function killChildDaemon(context, run) {
  const daemon = childOf(run.pid, 'serve');
  if (daemon === 0) return;
  strike(daemon);
  context.kills++;
}

/** @param {Context} context */
async function killSimulator(context) {
  context.isWhole = false;
  const ends = ['kill', 'abort', 'segv', ''];
  const end = ends[Math.floor(context.random() * ends.length)];
  const run = end
    ? context.supervise(`${end}@${Math.floor(context.random() * CYCLES)}`)
    : context.supervise();
  context.kills++;
  if (!end) {
    await until(() => childOf(run.pid, context.simulator) > 0 || run.isOver);
    await context.sleepUpTo(400);
    strike(childOf(run.pid, context.simulator));
  }
  await context.expectEnd(run, ({ status }) => status !== null && status >= 128);
}

/** @param {Context} context */
async function killServe(context) {
  let daemon = await context.serve();
  const simulator = context.simulate();
  await context.tracing();
  const kills = 1 + Math.floor(context.random() * 2);
  for (let i = 0; i < kills; i++) {
    await context.sleepUpTo(250);
    daemon.kill();
    context.kills++;
    await daemon.ended;
    daemon = await context.serve();
  }
  await context.expectEnd(simulator, ({ status }) => status === 0);
  daemon.kill('SIGTERM');
  await context.expectEnd(daemon, ({ status }) => status === 0);
}

// -- more than one

/** @param {Context} context */
async function killBoth(context) {
  context.isWhole = false;
  const run = context.supervise();
  await context.tracing();
  await context.sleepUpTo(350);
  context.kills += 2;
  const simulator = childOf(run.pid, context.simulator);
  const daemonFirst = context.random() < 0.5;
  if (daemonFirst) strike(childOf(run.pid, 'serve'));
  else strike(simulator);
  await context.sleepUpTo(40);
  if (daemonFirst) strike(simulator);
  else strike(childOf(run.pid, 'serve'));
  await context.expectEnd(run, ({ status }) => status !== null && status >= 128);
}

/** @param {Context} context */
async function killServeThenSimulator(context) {
  context.isWhole = false;
  const first = await context.serve();
  const simulator = context.simulate();
  await context.tracing();
  await context.sleepUpTo(300);
  context.kills += 2;
  first.kill();
  await first.ended;
  const daemonFirst = context.random() < 0.3;
  const next = daemonFirst ? context.serve() : null;
  await context.sleepUpTo(150);
  simulator.kill();
  await simulator.ended;
  await endServe(context, await (next ?? context.serve()));
}

/** @param {Context} context */
async function killEverything(context) {
  context.isWhole = false;
  const run = context.supervise();
  await context.tracing();
  await context.sleepUpTo(350);
  const pids = [run.pid, childOf(run.pid, 'serve'), childOf(run.pid, context.simulator)];
  pids.sort(() => context.random() - 0.5);
  for (const pid of pids) {
    await context.sleepUpTo(8);
    strike(pid);
    context.kills++;
  }
  await run.ended;
  await endServe(context, await context.serve());
}

/** A daemon has the time to take over what one before it left. @param {Context} context @param {Program} daemon */
async function endServe(context, daemon) {
  const { completed } = context.ledger;
  if (completed > 0)
    await until(() => / (recovered|client lost|closed), /.test(daemon.output) || context.isMemoryEmpty);
  daemon.kill('SIGTERM');
  await context.expectEnd(daemon, ({ status }) => status === 0);
}

// -- what is not killed, or not at once

/** @param {Context} context */
async function stopDaemon(context) {
  const run = context.supervise();
  await context.tracing();
  const stops = 1 + Math.floor(context.random() * 3);
  for (let i = 0; i < stops && !run.isOver; i++) {
    await context.sleepUpTo(150);
    const daemon = childOf(run.pid, 'serve');
    strike(daemon, 'SIGSTOP');
    await context.sleepUpTo(500);
    strike(daemon, 'SIGCONT');
  }
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** The next daemon comes while the one before is stopped and has the trace's lock. @param {Context} context */
async function killStoppedDaemon(context) {
  context.isWhole = false;
  const first = await context.serve();
  const simulator = context.simulate();
  await context.tracing();
  await context.sleepUpTo(300);
  first.kill('SIGSTOP');
  await context.sleepUpTo(100);
  simulator.kill();
  await simulator.ended;
  const next = await context.serve({ endpoint: `ipc://${context.directory}/next.sock` });
  await context.sleepUpTo(1500);
  context.kills += 2;
  first.kill();
  await endServe(context, next);
}

/** Daemons that die while they take over what was left, and one that does not. @param {Context} context */
async function killDuringAdoption(context) {
  context.isWhole = false;
  const first = await context.serve();
  const simulator = context.simulate();
  await context.tracing();
  await context.sleepUpTo(300);
  context.kills += 2;
  first.kill();
  simulator.kill();
  await Promise.all([first.ended, simulator.ended]);
  const deaths = 1 + Math.floor(context.random() * 2);
  for (let i = 0; i < deaths; i++) {
    const phase = PHASES[Math.floor(context.random() * PHASES.length)];
    const mortal = context.startServe({ env: { LD_PRELOAD: SHIM, TORTURE_DIE: phase } });
    await until(() => mortal.isOver || (context.isMemoryEmpty && mortal.output.includes('listening')));
    if (mortal.isOver && mortal.signal !== 'SIGKILL') context.problem(`${phase}: ended by itself`);
    context.phases.push(phase);
    mortal.kill();
    await mortal.ended;
    context.kills++;
  }
  await endServe(context, await context.serve());
}

/** @param {Context} context */
async function fillDisk(context) {
  if (!context.mountSmallDisk()) return;
  const run = context.supervise();
  await context.tracing();
  for (let i = 0; i < 2 && !run.isOver; i++) {
    await context.sleepUpTo(100);
    const filler = join(context.out, 'filler');
    fill(filler);
    await context.sleepUpTo(800);
    rmSync(filler);
  }
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** @param {string} path */
function fill(path) {
  for (const size of [64 * 1024, 4096]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOSPC') throw error;
    }
  }
}

/** The wall clock jumps, forwards and back, in the simulator, the daemon and their supervisor; the daemon is killed too. @param {Context} context */
async function moveClock(context) {
  const clock = join(context.directory, 'clock');
  const jump = () => {
    const ahead = Buffer.alloc(8);
    ahead.writeBigInt64LE(BigInt(Math.round((context.random() * 2 - 1) * JUMP_MS)) * 1_000_000n);
    writeFileSync(clock, ahead, { flag: existsSync(clock) ? 'r+' : 'w' });
  };
  jump();
  context.environment = { LD_PRELOAD: SHIM, TORTURE_CLOCK: clock };
  const run = context.supervise();
  await context.tracing();
  for (let jumps = 0; !run.isOver && jumps < 200; jumps++) {
    await context.sleepUpTo(60);
    jump();
    if (jumps === 3) await killChildDaemon(context, run);
  }
  await context.expectEnd(run, ({ status }) => status === 0);
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). @param {number} seed */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
