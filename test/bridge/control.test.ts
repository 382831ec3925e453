/** `uscope ctl` against a simulator that runs: what it pauses is missing, what it marks is there, and nothing else has changed. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TempDirs } from '../support/bridge-peer.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, childrenOf, Running, until } from '../support/processes.js';
import { type CliResult, linesOf, runUscope } from '../support/run-cli.js';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
scopes:
  a:
    storages:
      value: {slots: 1, kind: dense, fields: {cycle: u64}}
      taken: {slots: 4, kind: sparse, fields: {cycle: u64}}
  b:
    storages:
      value: {slots: 1, kind: dense, fields: {cycle: u64}}
    events:
      tick: {cycle: u64}
`;
const dirs = new TempDirs();
const started: Running[] = [];
let model = '';

beforeAll(() => {
  buildSdk();
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi'), 'build/libuscope.a']);
  model = join(dirs.make(), 'model');
  const library = join(ROOT, 'dpi/build/libuscope.a');
  const source = fileURLToPath(new URL('./control.c', import.meta.url));
  execFileSync('cc', [
    '-O1',
    '-I',
    join(ROOT, 'dpi/include'),
    source,
    library,
    '-lzmq',
    '-lpthread',
    '-o',
    model,
  ]);
});
afterEach(async () => {
  for (const running of started.splice(0)) {
    running.kill('SIGKILL');
    await running.ended;
  }
});

function start(args: readonly string[], cwd: string): Running {
  const running = new Running(process.execPath, [BIN, ...args], { cwd, env: { TMPDIR: cwd } });
  started.push(running);
  return running;
}

async function startModel(options: readonly string[] = []): Promise<{ running: Running; cwd: string }> {
  const cwd = dirs.make();
  writeFileSync(join(cwd, 'schema.yaml'), SCHEMA);
  const running = start(['run', '--out', 'out', ...options, '--', model, 'schema.yaml'], cwd);
  await running.printed('running');
  return { running, cwd };
}

/** The command itself, in this process: starting one takes longer than what it does. */
const ctl = (cwd: string, ...args: string[]): Promise<CliResult> =>
  runUscope(['ctl', join(cwd, 'out'), ...args]);

async function status(cwd: string) {
  const { out } = await ctl(cwd, 'status', '--json');
  return JSON.parse(out).traces[0];
}

interface Item {
  readonly t: string;
  readonly op: string;
  readonly storage?: string;
  readonly event?: string;
  readonly value?: string;
  readonly fields?: Record<string, string>;
}

async function itemsOf(cwd: string): Promise<Item[]> {
  const dump = await runUscope(['dump', '--jsonl', join(cwd, 'out/core0.uscope')]);
  return linesOf(dump).map((line) => JSON.parse(line));
}

/** The control events of a trace: cycle, action, subject, text, source. */
function marksOf(items: readonly Item[]) {
  return items
    .filter(({ event }) => event === 'uscope/control')
    .map(({ t, fields }) => ({ cycle: Number(t) / 1000, ...(fields as Record<string, string>) }) as Mark);
}
interface Mark {
  readonly cycle: number;
  readonly action: string;
  readonly source: string;
  readonly subject: string;
  readonly text: string;
}

/** What the model says that is recorded of one scope, when the marks are obeyed from their cycle on. */
function expectedCycles(marks: readonly Mark[], scope: string, cycles: number): number[] {
  const expected: number[] = [];
  let off = false;
  let next = 0;
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (; next < marks.length && marks[next].cycle === cycle; next++) {
      const { action, subject } = marks[next];
      if (action === 'trigger' || (subject !== '' && subject !== scope)) continue;
      off = action === 'pause' || action === 'disable';
    }
    if (!off) expected.push(cycle);
  }
  return expected;
}

function checkAgainstModel(items: readonly Item[], stdout: string): void {
  const [, cycles, skipped] = /cycles (\d+) skipped (\d+)/.exec(stdout) ?? [];
  const marks = marksOf(items);
  let left = 0;
  for (const scope of ['a', 'b']) {
    const expected = expectedCycles(marks, scope, Number(cycles));
    const recorded = items
      .filter(({ storage }) => storage === `${scope}/value`)
      .map(({ value }) => Number(value));
    expect(recorded).toEqual(expected);
    left += (Number(cycles) - expected.length) * (scope === 'b' ? 2 : 1);
    if (scope !== 'a') continue;
    const taken = items.filter(({ storage }) => storage === 'a/taken').map(({ value }) => Number(value));
    const sixteenth = expected.filter((cycle) => cycle % 16 === 0);
    expect(taken).toEqual(sixteenth);
    left += Math.ceil(Number(cycles) / 16) - sixteenth.length;
  }
  const ticks = items.filter(({ event }) => event === 'b/tick').map(({ fields }) => Number(fields?.cycle));
  expect(ticks).toEqual(expectedCycles(marks, 'b', Number(cycles)));
  expect(Number(skipped)).toBe(left);
}

const stop = (cwd: string): void => writeFileSync(join(cwd, 'stop'), '');

describe('a flight recorder of a C model', () => {
  it('makes a file with the label when somebody outside says so', async () => {
    const { running, cwd } = await startModel(['--ring', '256KB']);
    const answer = await ctl(cwd, 'trigger', 'looks odd');
    expect(answer.status, answer.err).toBe(0);
    const file = join(cwd, 'out/core0.trigger-1.uscope');
    await until('the file', () => existsSync(file));
    writeFileSync(join(cwd, 'stop'), '');
    await running.ended;
    for (const path of [file, join(cwd, 'out/core0.uscope')]) {
      expect((await runUscope(['verify', path])).status).toBe(0);
      expect(statSync(path).size).toBeLessThanOrEqual((256 + 64) * 1024);
    }
    const info = JSON.parse((await runUscope(['info', '--json', file])).out);
    expect(JSON.stringify(info)).toContain('"looks odd"');
    const dump = linesOf(await runUscope(['dump', '--jsonl', file])).map((line) => JSON.parse(line) as Item);
    expect(marksOf(dump).at(-1)).toMatchObject({ action: 'trigger', source: 'operator', text: 'looks odd' });
    const values = dump.filter(({ storage }) => storage === 'a/value').map(({ value }) => Number(value));
    expect(values).toEqual(values.map((_, i) => values[0] + i));
  });
});

describe('uscope ctl', () => {
  it('pauses, disables and marks; the trace holds exactly the rest', async () => {
    const { running, cwd } = await startModel();
    const [file] = readdirSync(join(cwd, 'out')).filter((name) => name.startsWith('.uscope-daemon.'));
    expect(statSync(join(cwd, 'out', file)).mode & 0o777).toBe(0o600);
    expect(await status(cwd)).toMatchObject({
      name: 'core0',
      state: 'recording',
      disabled: [],
      skipped: '0',
    });
    const paused = await ctl(cwd, 'pause');
    expect(paused).toMatchObject({ status: 0, out: 'core0: pause done\n' });
    expect(await status(cwd)).toMatchObject({ state: 'paused', disabled: [''] });
    expect((await ctl(cwd, 'trigger', 'while paused')).status).toBe(0);
    expect((await ctl(cwd, 'resume')).status).toBe(0);
    expect((await ctl(cwd, 'disable', 'a')).status).toBe(0);
    const disabled = await status(cwd);
    expect(disabled).toMatchObject({ state: 'recording', disabled: ['a'] });
    expect(BigInt(disabled.skipped)).toBeGreaterThan(0n);
    expect((await ctl(cwd, 'enable', 'a')).status).toBe(0);
    expect((await ctl(cwd, 'trigger', 'at the end', '--trace', 'core0')).status).toBe(0);
    const wrong = await ctl(cwd, 'disable', 'c');
    expect(wrong).toMatchObject({ status: 1, out: expect.stringContaining('OP_SCOPE: no scope "c"') });
    stop(cwd);
    const { status: exit, stdout, stderr } = await running.ended;
    expect(exit).toBe(0);
    expect(stderr).toContain('items were not recorded, as asked');
    const items = await itemsOf(cwd);
    expect(
      marksOf(items).map(({ action, source, subject, text }) => [action, source, subject, text]),
    ).toEqual([
      ['pause', 'operator', '', ''],
      ['trigger', 'operator', '', 'while paused'],
      ['resume', 'operator', '', ''],
      ['disable', 'operator', 'a', ''],
      ['enable', 'operator', 'a', ''],
      ['trigger', 'operator', '', 'at the end'],
    ]);
    checkAgainstModel(items, stdout);
    const path = join(cwd, 'out/core0.uscope');
    expect(await runUscope(['verify', path])).toMatchObject({ status: 0 });
    // While it is paused nothing is in flight.
    const taken = async (mark: number) => {
      const at = String(marksOf(items)[mark].cycle * 1000);
      const state = await runUscope(['state', path, '--at', at, '--storage', 'a/taken', '--json']);
      return JSON.parse(state.out).storages[0].occupancy;
    };
    expect(await taken(0)).toBe(0);
    expect(await taken(1)).toBe(0);
    expect(await taken(5)).toBeGreaterThan(0);
    expect(existsSync(join(cwd, 'out', file))).toBe(false);
  });

  it('stays paused when the daemon is killed, and is resumed through the next one', async () => {
    const { running, cwd } = await startModel();
    expect((await ctl(cwd, 'pause')).status).toBe(0);
    const [daemon] = childrenOf(running.pid, 'serve');
    process.kill(daemon, 'SIGKILL');
    await running.printed('another one is started');
    await until('another daemon', () =>
      childrenOf(running.pid, 'serve').some(
        (pid) => pid !== daemon && existsSync(join(cwd, `out/.uscope-daemon.${pid}.json`)),
      ),
    );
    await expect
      .poll(() => status(cwd), { timeout: 60_000 })
      .toMatchObject({ state: 'paused', disabled: [''] });
    expect((await ctl(cwd, 'resume')).status).toBe(0);
    stop(cwd);
    const { status: exit, stdout } = await running.ended;
    expect(exit).toBe(0);
    const items = await itemsOf(cwd);
    expect(marksOf(items).map(({ action }) => action)).toEqual(['pause', 'resume']);
    checkAgainstModel(items, stdout);
  });

  it('says so when nobody acts, when nobody is there, and what it does not understand', async () => {
    const { running, cwd } = await startModel();
    const [pid] = childrenOf(running.pid, 'schema.yaml').slice(-1);
    process.kill(pid, 'SIGSTOP');
    const late = await ctl(cwd, 'pause', '--timeout', '2');
    expect(late).toMatchObject({
      status: 1,
      out: expect.stringContaining('pause pending: the client has not begun a cycle'),
    });
    process.kill(pid, 'SIGCONT');
    await expect.poll(() => status(cwd), { timeout: 60_000 }).toMatchObject({ state: 'paused' });
    expect(await ctl(cwd, 'status', '--trace', 'core9')).toMatchObject({
      status: 1,
      err: expect.stringContaining('BRIDGE_UNKNOWN_TRACE'),
    });
    expect((await ctl(cwd, 'stop')).status).toBe(2);
    expect((await ctl(cwd, 'disable')).status).toBe(2);
    stop(cwd);
    await running.ended;
    expect(await ctl(cwd, 'status')).toMatchObject({
      status: 1,
      err: expect.stringContaining('BRIDGE_NO_DAEMON'),
    });
    expect(readFileSync(join(cwd, 'schema.yaml'), 'utf8')).toBe(SCHEMA);
  });
});
