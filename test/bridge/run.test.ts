/** `uscope run` and `uscope serve` as processes, with a simulator that behaves and one that does not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compressionOf } from '../../sdk/src/format/header.js';
import { SessionStatus } from '../../sdk/src/format/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { TempDirs, upTo, valuesOf } from '../support/bridge-peer.js';
import { type DecodedFile, decodeFile } from '../support/decode-file.js';
import { cases } from '../support/effort.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk, childrenOf, isAlive, processesIn, Running, until } from '../support/processes.js';
import { runUscope } from '../support/run-cli.js';
import { zstdForTests } from '../support/zstd.js';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const SIMULATOR = fileURLToPath(new URL('./simulator.mjs', import.meta.url));
const dirs = new TempDirs();
const started: Running[] = [];

beforeAll(() => buildSdk());
afterEach(async () => {
  for (const running of started.splice(0)) {
    running.kill('SIGKILL');
    await running.ended;
  }
  dirs.cleanUp();
});

function start(args: readonly string[], cwd: string, env: Record<string, string> = {}): Running {
  const running = new Running(process.execPath, [BIN, ...args], { cwd, env: { TMPDIR: cwd, ...env } });
  started.push(running);
  return running;
}

/** `uscope run -- node simulator.mjs ...` in a separate directory. */
function run(
  simulator: readonly string[],
  options: readonly string[] = [],
): { running: Running; cwd: string } {
  const cwd = dirs.make();
  return {
    running: start(['run', '--out', 'out', ...options, '--', process.execPath, SIMULATOR, ...simulator], cwd),
    cwd,
  };
}

const fileOf = (cwd: string): DecodedFile => decodeFile(join(cwd, 'out', 'core0.uscope'));

/** A file that is being begun need not be one yet. */
function hasSegments(cwd: string): boolean {
  try {
    return fileOf(cwd).segments.length > 0;
  } catch {
    return false;
  }
}

describe('uscope run', () => {
  it('traces a simulator, leaves stdout to it, and sums up on stderr', async () => {
    const { running, cwd } = run(['whole', '5000']);
    const { status, stdout, stderr } = await running.ended;
    expect(stderr).toMatch(
      /core0: out\/core0\.uscope: closed, 5,000 frames, 5,000 items, 0 strings, \d+ segments, [\d.]+ kB, 5\.00 µs simulated, 0 rejected, 0 lost/,
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^endpoint ipc:\/\/\S+ run [0-9a-f]{32}\ntracing\n$/);
    expect(valuesOf(fileOf(cwd))).toEqual(upTo(5000));
    expect(readdirSync(cwd)).toEqual(['out']); // the private socket's directory is gone
  });

  it('makes the copy that a model asks for, and ends with 3 when there is none', async () => {
    const { running, cwd } = run(['copied', '100']);
    expect((await running.ended).status).toBe(0);
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['core0.ftr', 'core0.uscope']);
    const again = dirs.make();
    mkdirSync(join(again, 'out/core0.ftr'), { recursive: true }); // where the copy shall be
    const simulator = [process.execPath, SIMULATOR, 'copied', '100'];
    const { status, stderr } = await start(['run', '--out', 'out', '--', ...simulator], again).ended;
    expect(stderr).toMatch(
      /core0: .*no copy was made: .*; the trace itself is complete, uscope convert makes/s,
    );
    expect(stderr).toMatch(/core0: out\/core0\.uscope: closed, 100 frames/);
    expect(status).toBe(3);
  });

  it('exports the run into a dataset, and names the file that is in the way', async () => {
    const { running, cwd } = run(['whole', '100'], ['--export', 'dataset', '--run', 'r', '--tag', 'seed=7']);
    const { status, stderr } = await running.ended;
    expect(stderr).toMatch(/^uscope: r: exported to dataset, no core, /m);
    expect(status).toBe(0);
    expect(existsSync(join(cwd, 'dataset/traces/run=r'))).toBe(true);
    // The traces are complete: the status says only that something is missing.
    const marker = join(cwd, 'dataset/uscope-dataset.json');
    writeFileSync(marker, '{"layout": 99}');
    const simulator = [process.execPath, SIMULATOR, 'whole', '100'];
    const args = ['run', '--out', 'again', '--export', 'dataset', '--run', 'r', '--', ...simulator];
    const failed = await start(args, cwd).ended;
    expect(failed.stderr).toMatch(
      /^uscope: r was not exported: DATASET_LAYOUT: .* \(.*uscope-dataset\.json\)$/m,
    );
    expect(failed.status).toBe(1);
    expect(existsSync(join(cwd, 'again/core0.uscope'))).toBe(true);
  });

  it('uses the options given', async () => {
    const { running, cwd } = run(
      ['whole', '1000'],
      ['--compression', 'none', '--checkpoint-interval', '100ns'],
    );
    expect((await running.ended).status).toBe(0);
    const { header, preamble, segments } = fileOf(cwd);
    expect(header.flags & 2).toBe(0);
    expect(preamble.checkpointIntervalPs).toBe(100_000n);
    expect(segments.length).toBe(10);
  });

  it.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))('writes small files at one word', async () => {
    const { running, cwd } = run(['whole', '1000'], ['--small']);
    expect((await running.ended).status).toBe(0);
    const trace = await openTraceFile(join(cwd, 'out', 'core0.uscope'));
    expect(compressionOf(trace.header.flags)).toBe('zstd');
    expect(trace.config.checkpointIntervalPs).toBe(20_000_000n);
    await trace.close();
  });

  it('of several cores prints a table, and the same as JSON', async () => {
    const { running, cwd } = run(['cores', '3000'], ['--json', 'run.json']);
    const { status, stdout, stderr } = await running.ended;
    expect(stdout).toMatch(
      /BRIDGE_NAME_BUSY: .*core 2 asks for the trace "soc\/core1", which core 1 of process \d+ .* is writing; give each core a different name/,
    );
    expect(stderr).toMatch(/^uscope: trace {6}core {2}cycles {2}frames {2}items {2}\/cycle {2}.*status/m);
    expect(stderr).toMatch(/^uscope: soc\/core1 {5}1 {3}3,000 {3}3,000 {2}3,000 {4}1\.00 .* closed/m);
    expect(stderr).toMatch(/^uscope: 2 traces, 6,000 items in [\d.]+ s: .* items\/s; files in out$/m);
    expect(status).toBe(3); // the third was not opened
    const summary = JSON.parse(readFileSync(join(cwd, 'run.json'), 'utf8'));
    expect(summary).toMatchObject({ exitStatus: 3, simulatorStatus: 0, totals: { items: '6000' } });
    const files = [0, 1].map((core) => decodeFile(join(cwd, 'out', 'soc', `core${core}.uscope`)));
    for (const [core, { preamble }] of files.entries()) {
      expect(Object.fromEntries(preamble.dut)).toEqual({
        'uscope.run_id': summary.runId,
        'uscope.start_time': summary.startTime,
        'uscope.core': String(core),
      });
    }
    expect(stdout).toContain(`run ${summary.runId}`);
  });

  it("ends with the simulator's status", async () => {
    const { status } = await run(['status', '7']).running.ended;
    expect(status).toBe(7);
    const killed = await run(['killed']).running.ended;
    expect(killed.stderr).toContain('SIGTERM');
    expect(killed.status).toBe(128 + 15);
  });

  it('says so, with status 3, when no trace was opened', async () => {
    const { status, stderr } = await run(['status', '0']).running.ended;
    expect(stderr).toContain('no trace was opened');
    expect(status).toBe(3);
  });

  it('says so, with status 3, when the client never closed its trace; the file is finalized', async () => {
    const { running, cwd } = run(['unclosed', '1000']);
    const { status, stderr } = await running.ended;
    expect(stderr).toContain('without closing');
    expect(status).toBe(3);
    expect(fileOf(cwd).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
    expect(valuesOf(fileOf(cwd))).toEqual(upTo(1000));
  });

  it('says why a trace was refused, and not that the simulator ran untraced', async () => {
    const { status, stdout, stderr } = await run(['refused']).running.ended;
    expect(stdout).toContain('BRIDGE_NO_SCHEMA');
    expect(stderr).toMatch(/no trace "core0": BRIDGE_NO_SCHEMA: .*--schema/);
    expect(stderr).not.toContain('untraced');
    expect(status).toBe(3);
  });

  it('records a trace whose schema contradicts its protocol, and says so once', async () => {
    const cwd = dirs.make();
    writeFileSync(
      join(cwd, 'wrong.yaml'),
      'uscope: 1\nclocks: {clk: 1 ns}\nscopes: {core0: {protocol: cpuu, clock: clk, events: {tick: {}}}}\n',
    );
    const simulator = ['--', process.execPath, SIMULATOR, 'refused'];
    const { stderr } = await start(['run', '--out', 'out', '--schema', 'wrong.yaml', ...simulator], cwd)
      .ended;
    expect(stderr.match(/^uscope: warning: PROTOCOL_UNKNOWN: core0 has the protocol "cpuu"/gm)).toHaveLength(
      1,
    );
    expect(fileOf(cwd).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
  });

  it('ends a simulator that hangs, and keeps what it traced', async () => {
    // On a busy machine the limit may be over before the simulator traces anything: the next one is longer.
    for (const limit of [3, 20, 60]) {
      const { running, cwd } = run(['hangs', '100'], ['--timeout', `${limit}`]);
      const { status, stdout, stderr } = await running.ended;
      expect(stderr).toContain(`has run for ${limit} s`);
      expect(status).toBe(124);
      if (!stdout.includes('tracing')) continue;
      expect(valuesOf(fileOf(cwd))).toEqual(upTo(100));
      expect(fileOf(cwd).header.flags & 1).toBe(1);
      return;
    }
    throw new Error('it never traced anything');
  });

  it('says what was rejected, with status 3', async () => {
    const { status, stderr } = await run(['rejects']).running.ended;
    expect(stderr).toContain('3 items were rejected (OP_SLOT 3)');
    expect(status).toBe(3);
  });

  it('leaves everything after the name of the simulator to the simulator', async () => {
    const { stdout } = await start(['run', '--out', 'out', 'echo', '--out', 'log', '--', '-x'], dirs.make())
      .ended;
    expect(stdout).toBe('--out log -- -x\n');
  });

  it('refuses what cannot work before the simulator runs', async () => {
    const cwd = dirs.make();
    const outcome = async (...args: string[]): Promise<[number | null, string]> => {
      const { status, stdout, stderr } = await start(args, cwd).ended;
      expect(stdout).toBe('');
      return [status, stderr];
    };
    const echo = ['--', 'echo', 'it ran'];
    const [missing, why] = await outcome('run', '--', './no-such-simulator');
    expect([missing, why]).toEqual([2, expect.stringMatching(/CLI_USAGE.*no-such-simulator/)]);

    writeFileSync(join(cwd, 'wrong.yaml'), 'uscope: 1\nclocks: {clk: 1ns}\nstorages: {x: {slots: many}}\n');
    const [schema, where] = await outcome('run', '--schema', 'wrong.yaml', ...echo);
    expect([schema, where]).toEqual([1, expect.stringMatching(/SCHEMA_\w+: wrong\.yaml:3/)]);
    const [absent] = await outcome('run', '--schema', 'absent.yaml', ...echo);
    expect(absent).toBe(2);

    mkdirSync(join(cwd, 'locked'));
    writeFileSync(join(cwd, 'locked', 'out'), '');
    const [directory, reason] = await outcome('run', '--out', 'locked/out/deeper', ...echo);
    expect([directory, reason]).toEqual([1, expect.stringContaining('WRITER_DIRECTORY')]);

    const wrong = [
      ['--compression', 'zip'],
      ['--checkpoint-interval', '0'],
      ['--timeout', 'soon'],
      ['--daemon-timeout', '-1'],
      ['--durability', 'interval=0'],
      ['--nice', '20'],
      ['--on-full', 'panic'],
      ['--max-traces', '0'],
    ];
    for (const option of wrong) {
      const { status, out } = await runUscope(['run', ...option, ...echo]);
      expect([option, status, out]).toEqual([option, 2, '']);
    }
  });

  it('refuses an endpoint where a daemon listens', async () => {
    const cwd = dirs.make();
    const endpoint = `ipc://${cwd}/d.sock`;
    const serve = start(['serve', '--endpoint', endpoint], cwd);
    await serve.printed('listening');
    const second = await start(['run', '--endpoint', endpoint, '--', 'echo', 'it ran'], cwd).ended;
    expect(second).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('BRIDGE_ENDPOINT'),
    });
    expect(existsSync(join(cwd, 'd.sock'))).toBe(true);
  });

  it('continues when the daemon is killed: nothing is lost', async () => {
    const { running, cwd } = run(['slow', '6000', 'gate']);
    await running.printed('tracing');
    for (let kills = 0; kills < 2; kills++) {
      await delay(300);
      const [daemon] = childrenOf(running.pid, 'serve');
      process.kill(daemon, 'SIGKILL');
      await until('another daemon', () => childrenOf(running.pid, 'serve').some((pid) => pid !== daemon));
    }
    writeFileSync(join(cwd, 'gate'), '');
    const { status, stderr } = await running.ended;
    expect(stderr).toContain('was killed by SIGKILL; another one is started');
    expect(stderr).toMatch(/closed, 6,000 frames, 6,000 items.* 0 lost/);
    expect(status).toBe(0);
    expect(valuesOf(fileOf(cwd))).toEqual(upTo(6000));
  });

  it('finalizes what a killed daemon left when the simulator ends too', async () => {
    const { running, cwd } = run(['stubborn']);
    await running.printed('tracing');
    await until('a commit', () => hasSegments(cwd));
    const [daemon] = childrenOf(running.pid, 'serve');
    const [simulator] = childrenOf(running.pid, 'simulator.mjs');
    process.kill(simulator, 'SIGKILL');
    process.kill(daemon, 'SIGKILL');
    const { status, stderr } = await running.ended;
    expect(stderr).toMatch(/core0: .*(recovered|client lost)/);
    expect(status).toBe(128 + 9);
    const values = valuesOf(fileOf(cwd));
    expect(values.length).toBeGreaterThan(0);
    expect(values).toEqual(upTo(values.length));
    expect(fileOf(cwd).header.flags & 1).toBe(1);
  });

  it('lets the simulator end at the first SIGINT', async () => {
    const { running, cwd } = run(['patient']);
    await running.printed('tracing');
    running.kill('SIGINT');
    const { status, stdout } = await running.ended;
    expect(stdout).toContain('got SIGINT');
    expect(status).toBe(5);
    expect(fileOf(cwd).preamble.session?.status).toBe(SessionStatus.CLOSED);
  });

  it('kills it at the second; its trace is finalized', async () => {
    const { running, cwd } = run(['stubborn']);
    await running.printed('tracing');
    running.kill('SIGINT');
    await running.printed('got SIGINT');
    running.kill('SIGINT');
    const { status, stderr } = await running.ended;
    expect(stderr).toContain('once more to kill it');
    expect(status).toBe(128 + 9);
    expect(fileOf(cwd).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
  });

  it('a daemon whose supervisor is killed finalizes its traces and ends', async () => {
    const { running, cwd } = run(['stubborn']);
    await running.printed('tracing');
    const [daemon] = childrenOf(running.pid, 'serve');
    const [simulator] = childrenOf(running.pid, 'simulator.mjs');
    running.kill('SIGKILL');
    await until('the end of the daemon', () => !isAlive(daemon));
    if (isAlive(simulator)) process.kill(simulator, 'SIGKILL'); // it may have noticed and given up
    expect(fileOf(cwd).header.flags & 1).toBe(1);
  });
});

describe('a run that is killed', () => {
  type Moment = number | 'spawned' | 'daemon' | 'simulator' | 'tracing';

  /** The simulator alone may remain: it waits for a daemon. */
  const remain = (cwd: string): boolean =>
    processesIn(cwd).some(({ commandLine }) => commandLine.includes('bin/uscope.js'));

  /** Kills a run at an event, or that many milliseconds after its daemon is there, and waits until only the simulator is left. */
  async function killed(moment: Moment): Promise<string> {
    const { running, cwd } = run(['stubborn']);
    const { pid } = running;
    if (moment === 'simulator') await until('it', () => childrenOf(pid, 'simulator.mjs').length > 0);
    else if (moment === 'tracing') await running.printed('tracing');
    else if (moment !== 'spawned') await until('it', () => childrenOf(pid, 'serve').length > 0);
    if (typeof moment === 'number') await delay(moment);
    running.kill('SIGKILL');
    try {
      await until(`the end of the daemon of a run killed at ${moment}`, () => !remain(cwd));
    } finally {
      for (const { pid } of processesIn(cwd)) process.kill(pid, 'SIGKILL');
    }
    return cwd;
  }

  it('leaves no daemon, whatever it did at that moment', async () => {
    const moments: Moment[] = ['spawned', 'daemon', 'simulator'];
    for (let at = 0; at < cases(1, 8); at++) moments.push(Math.random() * 600);
    // Some at a time: they wait more than they work.
    while (moments.length > 0) await Promise.all(moments.splice(0, 5).map(killed));
    expect(fileOf(await killed('tracing')).header.flags & 1).toBe(1);
  });

  it('leaves none that never heard of its supervisor, or that something keeps from ending', async () => {
    const cwd = dirs.make();
    const busy = 'data:text/javascript,setInterval(() => {}, 1000)';
    const daemons = [[], ['--import', busy]].map((options, at) => {
      const args = [...options, BIN, 'serve', '--endpoint', `ipc://${cwd}/${at}.sock`];
      const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      child.disconnect();
      return once(child, 'exit');
    });
    expect(await Promise.all(daemons)).toEqual([
      [0, null],
      [null, 'SIGKILL'],
    ]);
  });
});

describe('uscope serve', () => {
  it('continues when nobody reads what it says any more', async () => {
    const cwd = dirs.make();
    const endpoint = `ipc://${cwd}/d.sock`;
    const args = [BIN, 'serve', '--endpoint', endpoint, '--out', 'out'];
    const serve = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      await once(serve.stderr, 'data');
      serve.stderr.destroy();
      for (let at = 0; at < 2; at++) {
        const simulator = new Running(process.execPath, [SIMULATOR, 'whole'], {
          cwd,
          env: { USCOPE_ENDPOINT: endpoint, USCOPE_TIMEOUT_MS: '5000' },
        });
        expect((await simulator.ended).status).toBe(0);
      }
      serve.kill('SIGTERM');
      expect(await once(serve, 'exit')).toEqual([0, null]);
    } finally {
      serve.kill('SIGKILL');
    }
    expect(fileOf(cwd).header.flags & 1).toBe(1);
  });

  it('tells of every trace, and finalizes at SIGTERM', async () => {
    const cwd = dirs.make();
    const endpoint = `ipc://${cwd}/run/d.sock`;
    const serve = start(['serve', '--endpoint', endpoint, '--out', 'out'], cwd);
    await serve.printed(`listening on ${endpoint}`);
    expect(statSync(join(cwd, 'run')).mode & 0o777).toBe(0o700);
    const env = { USCOPE_ENDPOINT: endpoint };
    const simulate = (...args: string[]): Running => {
      const running = new Running(process.execPath, [SIMULATOR, ...args], { cwd, env });
      started.push(running);
      return running;
    };
    expect((await simulate('whole').ended).status).toBe(0);
    await serve.printed('closed, 1,000 frames');
    expect(serve.stderr).toMatch(/opened core0 .*\n.*core0: out\/core0\.uscope: closed, 1,000 frames/);
    const endless = simulate('stubborn');
    await endless.printed('tracing');
    serve.kill('SIGTERM');
    const { status, stderr } = await serve.ended;
    expect(stderr).toMatch(/client lost/);
    expect(status).toBe(3);
    expect(fileOf(cwd).header.flags & 1).toBe(1);
    expect(existsSync(join(cwd, 'run', 'd.sock'))).toBe(false);
  });

  it('keeps the files of another daemon in the same directory', async () => {
    const cwd = dirs.make();
    const daemonAt = async (name: string): Promise<string> => {
      const endpoint = `ipc://${cwd}/${name}.sock`;
      await start(['serve', '--endpoint', endpoint, '--out', 'out'], cwd).printed('listening');
      return endpoint;
    };
    const [first, second] = [await daemonAt('a'), await daemonAt('b')];
    const simulate = (endpoint: string): Running => {
      const env = { USCOPE_ENDPOINT: endpoint };
      const running = new Running(process.execPath, [SIMULATOR, 'slow', '1000', 'gate'], { cwd, env });
      started.push(running);
      return running;
    };
    const traced = simulate(first);
    await traced.printed('tracing');
    const refused = await simulate(second).ended;
    expect(refused.stderr).toContain('WRITER_BUSY');
    writeFileSync(join(cwd, 'gate'), '');
    expect((await traced.ended).status).toBe(0);
    expect(valuesOf(fileOf(cwd))).toEqual(upTo(1000));
  });

  it('takes the place of a daemon that was killed', async () => {
    const cwd = dirs.make();
    const endpoint = `ipc://${cwd}/d.sock`;
    const first = start(['serve', '--endpoint', endpoint], cwd);
    await first.printed('listening');
    first.kill('SIGKILL');
    await first.ended;
    expect(existsSync(join(cwd, 'd.sock'))).toBe(true);
    await start(['serve', '--endpoint', endpoint], cwd).printed('listening');
  });
});
