import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { someOf } from '../../../../test/support/effort.js';
import { limitOfFile, THREADS_MS } from '../../../../test/support/limits.js';
import { build, generator, record } from '../../../../test/support/recorded-run.js';
import { runUscope } from '../../../../test/support/run-cli.js';
import { StagedRun } from '../../dataset/publish.js';
import { parseSchema } from '../../schema/index.js';
import { TraceWriter } from '../../writer/index.js';
import { SqlSources } from './sources.js';

limitOfFile(THREADS_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-sources-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const bytes = build(record(generator(3), 60).frames, 20);

function traceIn(name: string): string {
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(join(directory, name, 'core0.uscope'), bytes);
  return join(directory, name, 'core0.uscope');
}

const ask = (...words: string[]) => runUscope(['sql', ...words, '--jsonl', '--no-links']);

describe('the run of a trace', () => {
  const names: readonly [directory: string, run: string][] = [
    ['läufe', 'laufe'],
    ['-x', '_-x'],
    ['a'.repeat(200), 'a'.repeat(128)],
    ['my runs', 'my_runs'],
    ['seed=1', 'seed_1'],
    ['日本', '__'],
    ['null', 'null'],
    ['__HIVE_DEFAULT_PARTITION__', '__HIVE_DEFAULT_PARTITION___'],
  ];
  it.each(someOf(3, names))('in a directory %s', async (name, run) => {
    const trace = traceIn(name);
    expect(await ask(trace, 'select run from traces')).toEqual({
      status: 0,
      out: `{"run":"${run}"}\n`,
      err: '',
    });
    expect((await runUscope(['export', trace, '-o', join(directory, 'named')])).err).toBe('');
    expect(
      (await ask(join(directory, 'named'), `select run from traces where run = '${run}'`)).out,
    ).toContain(run);
  });

  it('is the one of --run, where there is one', async () => {
    const trace = traceIn('other name');
    expect((await ask(trace, 'select run from traces', '--run', 'mine')).out).toBe('{"run":"mine"}\n');
    expect((await ask(trace, 'select 1', '--run', 'a b')).err).toContain('DATASET_NAME');
    for (const sources of [[trace, traceIn('second')], [join(directory, 'named')]]) {
      const { status, err } = await ask(...sources, 'select 1', '--run', 'mine');
      expect([status, err]).toEqual([2, expect.stringContaining('--run names the run of one trace')]);
    }
  });
});

describe('tables of a trace', () => {
  const sourcesOf = (trace: string, limits = {}) => new SqlSources([trace], undefined, limits);
  const never = new AbortController().signal;

  it('that two questions want at the same time are made once, and both have them', async () => {
    const trace = traceIn('shared');
    const [first, second] = await Promise.all(
      [0, 1].map(() => sourcesOf(trace).datasets(['instructions', 'stalls'], never)),
    );
    expect(first).toEqual([join(directory, 'shared/.uscope-sql/shared')]);
    expect(second).toEqual(first);
    expect(readdirSync(join(String(first), '_staging'))).toEqual([]);
  });

  it('that take longer or more memory than they may are not made', async () => {
    const trace = traceIn('limited');
    const cache = join(directory, 'limited/.uscope-sql/limited');
    const { err } = await ask(trace, 'select count(*) from stages', '--memory', '1MB');
    expect(err).toMatch(/DATASET_QUERY: to make the tables took more than --memory/);
    // Another process makes them, and does not end.
    const busy = await StagedRun.begin(cache, 'limited');
    const late = await ask(trace, 'select count(*) from stages', '--timeout', '0.2');
    expect(late.err).toMatch(/DATASET_TIMEOUT: to make the tables took longer than --timeout/);
    await busy.abandon();
    expect(existsSync(join(cache, 'stages'))).toBe(false);
    expect((await ask(trace, 'select count(*) as n from stages', '--timeout', '60')).out).toMatch(
      /"n":[1-9]/,
    );
  });

  it('are open to those only who may read the trace, also when that has changed', async () => {
    const trace = traceIn('modes');
    const cache = join(directory, 'modes/.uscope-sql');
    for (const mode of [0o644, 0o640, 0o600]) {
      chmodSync(trace, mode);
      expect((await ask(trace, 'select count(*) from traces')).status).toBe(0);
      expect(statSync(cache).mode & 0o044).toBe(mode & 0o044);
    }
  });
});

describe('a trace without a core', () => {
  it('has rows to export, and says which tables it cannot have', async () => {
    mkdirSync(join(directory, 'plain'));
    const path = join(directory, 'plain/a.uscope');
    const text = 'uscope: 1\nclocks: {clk: 1 ns}\nstorages: {x: {slots: 1, kind: dense, fields: {a: u8}}}\n';
    const writer = await TraceWriter.create({ path, schema: parseSchema(text).schema });
    for (let cycle = 0; cycle < 5; cycle++) {
      writer.beginCycle(cycle * 1000);
      writer.slotSet('x', 0, 'a', cycle + 1);
      writer.endCycle();
    }
    await writer.close();
    const dataset = join(directory, 'plain-dataset');
    const exported = await runUscope(['export', path, '-o', dataset, '--json']);
    const [{ rows }] = JSON.parse(exported.out).runs;
    expect(rows).toEqual({ traces: 1, slots: 6 });
    const again = await runUscope(['export', path, '-o', join(directory, 'plain-again')]);
    expect(again.out).toBe('plain: no core, 6 slots\n');
    for (const source of [path, dataset]) {
      expect(await ask(source, 'select count(*) as n from slots')).toEqual({
        status: 0,
        out: '{"n":6}\n',
        err: '',
      });
      for (const [table, what] of [
        ['transactions', 'network'],
        ['occupancy', 'core'],
        ['cycles', 'core'],
        ['hot_pcs(3)', 'core'],
      ] as const) {
        const { status, err } = await ask(source, `from ${table}`);
        expect([status, err], table).toEqual([
          0,
          expect.stringMatching(new RegExp(`note: DATASET_EMPTY: \\w+ can have no rows: .* has a ${what}`)),
        ]);
      }
    }
  });

  it('a table that a run was exported without is not said to be empty', async () => {
    const dataset = join(directory, 'few-tables');
    await runUscope(['export', traceIn('few'), '-o', dataset, '--tables', 'instructions']);
    expect((await ask(dataset, 'from cycles')).err).toMatch(
      /DATASET_EMPTY: cycles has no rows, since it was not exported/,
    );
    expect((await ask(dataset, 'select count(*) from instructions')).err).toBe('');
  });
});
