/** A flight recorder as `uscope run` starts it: its daemon killed, its simulator killed, several traces at once. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SessionStatus } from '../../sdk/src/format/index.js';
import { TempDirs, valuesOf } from '../support/bridge-peer.js';
import { decodeFile } from '../support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, childrenOf, Running, until } from '../support/processes.js';

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

function run(simulator: readonly string[], options: readonly string[]): { running: Running; cwd: string } {
  const cwd = dirs.make();
  const args = ['run', '--out', 'out', '--checkpoint-interval', '100ns', ...options];
  const command = [BIN, ...args, '--', process.execPath, SIMULATOR, ...simulator];
  const running = new Running(process.execPath, command, { cwd, env: { TMPDIR: cwd } });
  started.push(running);
  return { running, cwd };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const segmentsIn = (spool: string): number =>
  existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.segment')).length : 0;

describe('uscope run --last', () => {
  it('keeps the newest segments of every trace, and says what it let go', async () => {
    const { running, cwd } = run(['cores', '3000'], ['--last', '500cycles', '--json', 'run.json']);
    const { stderr } = await running.ended;
    expect(readdirSync(join(cwd, 'out', 'soc')).sort()).toEqual(['core0.uscope', 'core1.uscope']);
    for (const core of [0, 1]) {
      const file = decodeFile(join(cwd, 'out', 'soc', `core${core}.uscope`));
      const values = valuesOf(file);
      expect(values).toEqual(range(values[0], 3000));
      expect(values[0]).toBeGreaterThanOrEqual(2300);
      expect(values[0]).toBeLessThanOrEqual(2500);
      expect(file.preamble.session).toMatchObject({ status: SessionStatus.RING });
      expect(file.preamble.session?.ring).toEqual({
        firstFrame: BigInt(values[0]),
        nextString: 0n,
        items: 3000n,
      });
      expect(stderr).toMatch(
        new RegExp(`soc/core${core}: flight recorder: kept from 2\\.\\d+ µs on, [\\d,]+ frames`),
      );
    }
    const { traces } = JSON.parse(readFileSync(join(cwd, 'run.json'), 'utf8'));
    expect(traces[0].ring).toMatchObject({ files: [], triggers: 0, failures: [] });
  });

  it('continues when the daemon is killed', async () => {
    const { running, cwd } = run(['slow', '6000', 'gate'], ['--last', '1us']);
    const spool = join(cwd, 'out', 'core0.ring');
    await until('segments', () => segmentsIn(spool) > 5);
    const [daemon] = childrenOf(running.pid, 'serve');
    process.kill(daemon, 'SIGKILL');
    writeFileSync(join(cwd, 'gate'), '');
    const { status, stderr } = await running.ended;
    expect(stderr).toContain('was killed by SIGKILL; another one is started');
    expect(status).toBe(0);
    const values = valuesOf(decodeFile(join(cwd, 'out', 'core0.uscope')));
    const count = (number: number) => number.toLocaleString('en');
    expect(stderr).toContain(`core0.uscope: ring, ${count(values.length)} frames, 6,000 items`);
    expect(stderr).toContain(`${count(6000 - values.length)} frames in `);
    expect(values).toEqual(range(values[0], 6000));
    expect(values.length).toBeGreaterThanOrEqual(1000);
    expect(existsSync(spool)).toBe(false);
  });

  it('makes a file of what a simulator that was killed has left, also of one whose daemon was killed too', async () => {
    for (const withDaemon of [false, true]) {
      const { running, cwd } = run(['hangs', '3000'], ['--last', '1us']);
      const spool = join(cwd, 'out', 'core0.ring');
      await running.printed('durable');
      expect(segmentsIn(spool)).toBeGreaterThan(8);
      const [simulator] = childrenOf(running.pid, 'simulator.mjs');
      const [daemon] = childrenOf(running.pid, 'serve');
      process.kill(simulator, 'SIGKILL');
      if (withDaemon) process.kill(daemon, 'SIGKILL');
      await running.ended;
      const file = decodeFile(join(cwd, 'out', 'core0.uscope'));
      const values = valuesOf(file);
      expect(values).toEqual(range(values[0], values[0] + values.length));
      expect(values.length).toBeGreaterThanOrEqual(900);
      const expected = withDaemon ? SessionStatus.RECOVERED : SessionStatus.CLIENT_LOST;
      expect(file.preamble.session?.status).toBe(expected);
      expect(existsSync(spool)).toBe(false);
    }
  });

  it('says which trigger the schema does not have', async () => {
    const { running } = run(['whole', '100'], ['--ring', '1MB', '--trigger', 'core0/panic code=1']);
    const { status, stderr } = await running.ended;
    expect(stderr).toMatch(
      /no trace "core0": BRIDGE_TRIGGER: --trigger 'core0\/panic code=1': the trace has no event "core0\/panic"/,
    );
    expect(status).not.toBe(0);
  });

  it('refuses what makes no sense', async () => {
    const cwd = dirs.make();
    mkdirSync(join(cwd, 'out'));
    const wrong = [
      [['--ring', '12'], /"12" is not a size of a ring/],
      [['--trigger', 'a'], /--trigger is for a flight recorder/],
      [['--last', '0cycles'], /keeps nothing/],
      [['--ring', '1MB', '--trigger', 'a b'], /is not a trigger/],
    ] as const;
    const ends = wrong.map(([options]) => run(['whole', '100'], options).running.ended);
    for (const [index, { status, stderr }] of (await Promise.all(ends)).entries()) {
      expect(stderr).toMatch(wrong[index][1]);
      expect(status).toBe(2);
    }
  });
});
