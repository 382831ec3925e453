/**
 * Every way a run can end, with real processes: of the cycles that the simulator completed, by its own ledger, each is in the file, let go by a
 * flight recorder, or counted as lost; or the summary says that the number is not known, and gives a bound that holds.
 */
import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HostMessage } from '../../sdk/src/bridge/report/host-messages.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { TempDirs } from '../support/bridge-peer.js';
import { freePort } from '../support/free-port.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, childrenOf, Running, until } from '../support/processes.js';
import { buildSimulator } from './build.mjs';
import { readLedger, State } from './processes.mjs';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const BRIDGE_SIMULATOR = fileURLToPath(new URL('../bridge/simulator.mjs', import.meta.url));
const CYCLES = 3000;
/** As simulator.c has it: it waits after that many cycles until they are durable. */
const FLUSH_EVERY = 500;
const ENDLESS = 100_000_000;
const dirs = new TempDirs();
const started: Running[] = [];
let simulator = '';

beforeAll(() => {
  buildSdk();
  simulator = buildSimulator();
});
afterEach(async () => {
  for (const running of started.splice(0)) {
    if (running.pid > 0) for (const pid of childrenOrNone(running.pid)) strike(pid);
    running.kill('SIGKILL');
    await running.ended;
  }
  dirs.cleanUp();
});

/** A trace of the `--json` summary, its numbers as bigints. */
interface Numbers {
  readonly completed: bigint | null;
  readonly atLeast: bigint;
  readonly accepted: bigint;
  readonly committed: bigint;
  readonly salvaged: bigint;
  readonly expired: bigint;
  readonly lost: bigint | null;
  readonly recoverable: bigint;
  readonly frames: bigint;
}

class Bench {
  readonly cwd = dirs.make();
  readonly memory = join(this.cwd, 'shm');
  readonly ledgerPath = join(this.cwd, 'ledger');
  readonly file = join(this.cwd, 'out', 'core0.uscope');

  constructor() {
    mkdirSync(this.memory);
    mkdirSync(join(this.cwd, 'out'));
  }

  get ledger() {
    return readLedger(this.ledgerPath);
  }

  /** Cycles that are complete and that the simulator does not know to be durable. */
  get notDurable(): number {
    const { completed, durable } = this.ledger;
    return completed - durable;
  }

  start(program: string, args: readonly string[], env: Record<string, string> = {}): Running {
    const running = new Running(program, args, {
      cwd: this.cwd,
      env: { TMPDIR: this.cwd, USCOPE_SHM_DIR: this.memory, ...env },
    });
    started.push(running);
    return running;
  }

  simulatorCommand(cycles: number, pace: number, ...end: string[]): string[] {
    return [simulator, 'core0', `${cycles}`, `${pace}`, this.ledgerPath, ...end];
  }

  run(options: readonly string[], command: readonly string[], env: Record<string, string> = {}): Running {
    const args = [BIN, 'run', '--out', 'out', '--json', 'run.json', ...options, '--', ...command];
    return this.start(process.execPath, args, env);
  }

  summary() {
    return JSON.parse(readFileSync(join(this.cwd, 'run.json'), 'utf8'));
  }

  /** The only trace, after its numbers have been held against each other, the file and the ledger. */
  async checked(): Promise<Numbers> {
    const { traces, exitStatus, simulatorStatus } = this.summary();
    expect(traces).toHaveLength(1);
    const numbers = numbersOf(traces[0]);
    const { completed, atLeast, committed, expired, lost, frames } = numbers;
    expect(frames).toBe(committed);
    if (existsSync(this.file)) expect(await framesIn(this.file)).toBeGreaterThanOrEqual(committed);
    const done = BigInt(this.ledger.completed);
    if (completed === null) {
      expect(lost).toBeNull();
      expect(atLeast).toBeGreaterThanOrEqual(committed + expired);
      expect(atLeast).toBeLessThanOrEqual(done + 1n);
    } else {
      expect(completed).toBe(committed + expired + lost!);
      // A simulator that is killed may have completed one more before its ledger was updated.
      expect([done, done + 1n]).toContain(completed);
    }
    if (simulatorStatus === 0) expect(exitStatus).toBe(lost === 0n ? 0 : 3);
    return numbers;
  }
}

const NUMBERS = ['atLeast', 'accepted', 'committed', 'salvaged', 'expired', 'recoverable', 'frames'] as const;

function numbersOf(trace: Record<string, string | null>): Numbers {
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, BigInt(trace[name] ?? -1)]));
  const unknown = (name: string) => (trace[name] === null ? null : BigInt(trace[name] ?? -1));
  return { ...numbers, completed: unknown('completed'), lost: unknown('lost') } as unknown as Numbers;
}

/** What `uscope recover` says, and its exit status. */
async function recoverJson(bench: Bench, file: string, ...more: string[]) {
  const args = [BIN, 'recover', file, '-o', 'whole.uscope', '--json', ...more];
  const { status, stdout, stderr } = await bench.start(process.execPath, args).ended;
  expect(stderr).toBe('');
  return { status, account: JSON.parse(stdout).account };
}

async function framesIn(path: string): Promise<bigint> {
  const trace = await openTraceFile(path);
  let frames = 0n;
  await trace.scan({}, { frame: () => frames++ });
  await trace.close();
  return frames;
}

/**
 * Stops the daemon while the simulator is at most `cycles` beyond what it knows to be durable, and so does not wait for an answer that
 * may be on its way: all that it records from now on is nowhere but in its memory.
 */
async function stoppedWithin(bench: Bench, daemon: Running, cycles: number): Promise<void> {
  for (;;) {
    daemon.kill('SIGSTOP');
    await until('the daemon to be stopped', () => stateOf(daemon.pid) === 'T');
    if (bench.notDurable <= cycles) return;
    daemon.kill('SIGCONT');
    await delay(1);
  }
}

/** As `ps` has it. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.charAt(stat.lastIndexOf(')') + 2);
}

function strike(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it was faster
  }
}

function childrenOrNone(pid: number): number[] {
  try {
    return childrenOf(pid, '');
  } catch {
    return [];
  }
}

describe('the account of a run whose simulator', () => {
  it('closes its trace: everything is in the file', async () => {
    const bench = new Bench();
    expect((await bench.run([], bench.simulatorCommand(CYCLES, 0)).ended).status).toBe(0);
    expect(await bench.checked()).toMatchObject({ completed: BigInt(CYCLES), lost: 0n, salvaged: 0n });
  });

  it('is killed: what it had not sent is salvaged', async () => {
    let salvaged = 0n;
    // Ten cycles after it has waited for the others: they take microseconds, and the client sends each 4 ms. A machine that takes the
    // processor away in between does so once, hardly three times.
    for (let tries = 0; tries < 3 && salvaged === 0n; tries++) {
      const bench = new Bench();
      await bench.run([], bench.simulatorCommand(CYCLES, 0, `kill@${3 * FLUSH_EVERY + 10}`)).ended;
      const numbers = await bench.checked();
      expect([numbers.lost, numbers.committed]).toEqual([0n, 1510n]);
      salvaged = numbers.salvaged;
    }
    expect(salvaged).toBe(10n);
  });

  it('is killed, as its daemon is: the next daemon finds the same', async () => {
    const bench = new Bench();
    const running = bench.run([], bench.simulatorCommand(ENDLESS, 25));
    await until('cycles', () => bench.ledger.completed > 500);
    for (const pid of childrenOf(running.pid, 'serve')) strike(pid);
    for (const pid of childrenOf(running.pid, simulator)) strike(pid);
    await running.ended;
    expect((await bench.checked()).lost).toBe(0n);
  });

  it('continues while its daemon is killed: nothing is lost', async () => {
    const bench = new Bench();
    const running = bench.run([], bench.simulatorCommand(CYCLES, 25));
    await until('cycles', () => bench.ledger.completed > 500);
    for (const pid of childrenOf(running.pid, 'serve')) strike(pid);
    await running.ended;
    expect((await bench.checked()).lost).toBe(0n);
  });

  it('has no shared memory and is killed: the number is not known, with a bound', async () => {
    const bench = new Bench();
    await bench.run([], bench.simulatorCommand(CYCLES, 25, 'kill@1999'), { USCOPE_SHM: '0' }).ended;
    expect((await bench.checked()).completed).toBeNull();
  });

  it('speaks tcp and is killed: the number is not known, with a bound', async () => {
    const bench = new Bench();
    const endpoint = `tcp://127.0.0.1:${await freePort()}`;
    await bench.run(['--endpoint', endpoint], bench.simulatorCommand(CYCLES, 25, 'kill@1999')).ended;
    expect((await bench.checked()).completed).toBeNull();
  });

  it.each(['', 'kill@2999'])('has a flight recorder: what was let go is counted (%s)', async (end) => {
    const bench = new Bench();
    const options = ['--last', '500cycles'];
    await bench.run(options, bench.simulatorCommand(CYCLES, 25, ...(end ? [end] : []))).ended;
    const { expired, committed, lost } = await bench.checked();
    expect(lost).toBe(0n);
    expect(expired).toBeGreaterThan(0n);
    expect(await framesIn(bench.file)).toBe(committed);
  });

  it('has a flight recorder: recover of its file does not count as lost what was let go', async () => {
    const bench = new Bench();
    await bench.run(['--last', '500cycles'], bench.simulatorCommand(CYCLES, 25)).ended;
    const { expired, committed } = await bench.checked();
    const { status, account } = await recoverJson(bench, bench.file);
    expect(account).toMatchObject({
      completed: `${CYCLES}`,
      committed: `${committed}`,
      expired: `${expired}`,
      lost: '0',
    });
    expect(status).toBe(0);
  });

  it.each([true, false])(
    'is killed, as the daemon of its flight recorder: recover of the directory takes what it lacks from the memory, or says what it lacks (memory: %s)',
    async (isThere) => {
      const bench = new Bench();
      const endpoint = `ipc://${bench.cwd}/d.sock`;
      const options = ['--out', 'out', '--last', '500cycles', '--endpoint', endpoint];
      const daemon = bench.start(process.execPath, [BIN, 'serve', ...options]);
      await daemon.printed('listening on');
      const running = bench.start(simulator, bench.simulatorCommand(ENDLESS, 25).slice(1), {
        USCOPE_ENDPOINT: endpoint,
      });
      await until('durable cycles', () => bench.ledger.durable > 2000);
      await stoppedWithin(bench, daemon, FLUSH_EVERY - 100);
      await until('a simulator that waits', () => bench.notDurable === FLUSH_EVERY);
      for (const process_ of [running, daemon]) process_.kill('SIGKILL');
      await Promise.all([running.ended, daemon.ended]);
      const more = isThere ? [] : ['--no-memory'];
      const { status, account } = await recoverJson(bench, join(bench.cwd, 'out', 'core0.ring'), ...more);
      expect(status).toBe(isThere ? 0 : 3);
      const [atLeast, committed, expired] = [account.atLeast, account.committed, account.expired].map(BigInt);
      expect(expired).toBeGreaterThan(0n);
      if (isThere) {
        expect(BigInt(account.completed) - BigInt(bench.ledger.completed)).toBeLessThanOrEqual(1n);
        expect(BigInt(account.completed)).toBe(committed + expired);
        expect(account.lost).toBe('0');
        expect(BigInt(account.salvaged)).toBeGreaterThanOrEqual(100n);
        expect(await framesIn(join(bench.cwd, 'whole.uscope'))).toBe(committed);
      } else {
        expect(account).toMatchObject({ completed: null, lost: null });
        expect(atLeast).toBe(committed + expired);
      }
      expect(readdirSync(bench.memory)).toHaveLength(isThere ? 0 : 1);
    },
  );

  it('speaks tcp and is killed: a daemon of many runs ends with 3', async () => {
    const bench = new Bench();
    const endpoint = `tcp://127.0.0.1:${await freePort()}`;
    const serve = [BIN, 'serve', '--out', 'out', '--endpoint', endpoint];
    const daemon = bench.start(process.execPath, serve);
    await daemon.printed('listening on');
    const command = bench.simulatorCommand(CYCLES, 25, 'kill@1999').slice(1);
    await bench.start(simulator, command, { USCOPE_ENDPOINT: endpoint }).ended;
    daemon.kill('SIGTERM');
    const { status, stderr } = await daemon.ended;
    expect(status).toBe(3);
    const [, atLeast] = /how many cycles it completed is not known: at least ([\d,]+)/.exec(stderr) ?? [];
    expect(Number(atLeast.replaceAll(',', ''))).toBeLessThanOrEqual(1999);
    expect(await framesIn(bench.file)).toBeLessThanOrEqual(1999n);
  });

  it('refuses items: they are rejected, not lost', async () => {
    const bench = new Bench();
    await bench.run([], [process.execPath, BRIDGE_SIMULATOR, 'rejects', '300']).ended;
    const [trace] = bench.summary().traces;
    expect(trace).toMatchObject({ rejected: '3', lost: '0', completed: trace.committed });
    expect(bench.summary().exitStatus).toBe(3);
  });

  it('runs on when its daemon is stopped: the number is not known', async () => {
    const bench = new Bench();
    const endpoint = `ipc://${bench.cwd}/d.sock`;
    const serve = [BIN, 'serve', '--out', 'out', '--endpoint', endpoint];
    const daemon = bench.start(process.execPath, serve);
    await daemon.printed('listening on');
    bench.start(simulator, bench.simulatorCommand(ENDLESS, 25).slice(1), { USCOPE_ENDPOINT: endpoint });
    await until('cycles', () => bench.ledger.completed > 500);
    daemon.kill('SIGTERM');
    const { status, stderr } = await daemon.ended;
    expect(status).toBe(3);
    expect(stderr).toMatch(/how many cycles it completed is not known: at least [\d,]+/);
  });
});

/** A file system of a few megabytes, in a name space of mounts: where that is allowed. */
const SMALL_DISK = ['unshare', '-Urm', 'sh', '-c'];
const canMount = ((): boolean => {
  try {
    execFileSync(SMALL_DISK[0], [...SMALL_DISK.slice(1), 'mount -t tmpfs -o size=1m none /mnt'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!canMount)('a disk that is full', () => {
  /** The run, on a separate disk; what it has written is copied out afterwards. */
  function runOnSmallDisk(bench: Bench, options: string, command: readonly string[]): Running {
    const run = `"${process.execPath}" "${BIN}" run --out small --compression none --json run.json ${options} -- ${command.map((word) => `"${word}"`).join(' ')}`;
    const script = `mkdir small && mount -t tmpfs -o size=1m none small && { echo mounted; trap : INT; ${run}; status=$?; cp small/core0.uscope out/; exit $status; }`;
    return bench.start(SMALL_DISK[0], [...SMALL_DISK.slice(1), script], { USCOPE_ON_FAILURE: 'continue' });
  }

  async function recovered(bench: Bench) {
    const { account } = await recoverJson(bench, bench.file);
    return { account, frames: await framesIn(join(bench.cwd, 'whole.uscope')) };
  }

  it('stops the trace: what is not in the file is lost or kept, to the last cycle', async () => {
    const bench = new Bench();
    await runOnSmallDisk(bench, '--on-full=stop', bench.simulatorCommand(60_000, 0)).ended;
    const { committed, completed, lost, recoverable } = await bench.checked();
    expect(completed).toBe(60_000n);
    expect(lost).toBeGreaterThan(0n);
    expect(bench.summary()).toMatchObject({
      traces: [{ failure: { code: 'WRITER_DISK_FULL' } }],
    });
    const { account, frames } = await recovered(bench);
    expect(frames).toBe(committed + recoverable);
    expect(account).toMatchObject({
      completed: '60000',
      committed: `${frames}`,
      lost: `${60_000n - frames}`,
    });
    expect(readdirSync(bench.memory)).toEqual([]);
  });

  it('stops the trace of a client that speaks tcp: the number is not known', async () => {
    const bench = new Bench();
    const endpoint = `tcp://127.0.0.1:${await freePort()}`;
    const command = bench.simulatorCommand(60_000, 0);
    await runOnSmallDisk(bench, `--on-full=stop --endpoint=${endpoint}`, command).ended;
    const { completed, committed, atLeast } = await bench.checked();
    const { simulatorStatus, exitStatus } = bench.summary();
    expect([exitStatus, completed]).toEqual([simulatorStatus || 3, null]);
    expect(atLeast).toBeGreaterThan(committed);
  });

  it('is waited for until nobody waits any more: the rest is kept in the memory', async () => {
    const bench = new Bench();
    const running = runOnSmallDisk(bench, '--on-full=wait', bench.simulatorCommand(ENDLESS, 0));
    await running.printed('WRITER_DISK_FULL');
    const [run] = childrenOf(running.pid, 'run');
    await until('a simulator that waits', () => childrenOf(run, simulator).length > 0);
    for (const pid of childrenOf(run, simulator)) strike(pid);
    await until('the end of the simulator', () => childrenOf(run, simulator).length === 0);
    await running.printed('the simulator was killed');
    process.kill(run, 'SIGINT');
    await running.ended;
    const { committed, lost, recoverable, completed } = await bench.checked();
    expect(lost).toBeGreaterThan(0n);
    expect(recoverable).toBe(lost);
    const { account, frames } = await recovered(bench);
    expect(frames).toBe(committed + recoverable);
    expect(account).toMatchObject({ completed: `${completed}`, lost: '0' });
  });
});

describe('a daemon that comes after the one that had closed a trace', () => {
  it('reports the trace as it is, and does not touch the file', async () => {
    const bench = new Bench();
    await bench.run([], bench.simulatorCommand(CYCLES, 0)).ended;
    expect(bench.ledger.state).toBe(State.CLOSED);
    const before = readFileSync(bench.file);
    const session = Buffer.from((await sessionOf(bench.file)) ?? []).toString('hex');
    const ended = await finalizedBy(bench, { name: 'core0', path: bench.file, session });
    expect(ended.account).toMatchObject({ completed: BigInt(CYCLES), lost: 0n });
    expect(ended.stats).toMatchObject({ frames: BigInt(CYCLES), status: 1 });
    expect(readFileSync(bench.file).equals(before)).toBe(true);
  });
});

async function sessionOf(path: string): Promise<Uint8Array | undefined> {
  const trace = await openTraceFile(path);
  await trace.close();
  return trace.session?.sessionId;
}

type Ended = Extract<HostMessage, { type: 'ended' }>;

/** What a daemon says of a trace that the supervisor believes unfinished. */
async function finalizedBy(
  bench: Bench,
  trace: { name: string; path: string; session: string },
): Promise<Ended> {
  const args = ['serve', '--out', join(bench.cwd, 'out'), '--endpoint', `ipc://${bench.cwd}/next.sock`];
  const daemon = fork(BIN, args, {
    serialization: 'advanced',
    env: { ...process.env, USCOPE_SHM_DIR: bench.memory },
  });
  const gone = new Promise((resolve) => daemon.once('exit', resolve));
  try {
    return await new Promise<Ended>((resolve, reject) => {
      daemon.on('message', (message: HostMessage) => {
        if (message.type === 'ready') daemon.send({ type: 'finalize', unfinished: [trace] });
        if (message.type === 'ended') resolve(message);
        if (message.type === 'done') reject(new Error('nothing was said of the trace'));
      });
    });
  } finally {
    await gone;
  }
}
