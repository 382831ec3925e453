import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { THREADS_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-manage-'));
const dataset = join(directory, 'dataset');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const RUNS = ['base-1', 'base-2', 'new-1'];

beforeAll(() => {
  for (const [index, run] of [...RUNS, 'bad'].entries()) {
    const path = join(directory, 'runs', run, 'core0.uscope');
    mkdirSync(join(directory, 'runs', run), { recursive: true });
    writeFileSync(path, run === 'bad' ? 'no trace' : build(record(generator(index), 60).frames, 20));
  }
});

describe('uscope export', () => {
  it('of many runs uses threads; one that fails does not keep the others back', {
    timeout: THREADS_MS,
  }, async () => {
    const { status, out, err } = await runUscope([
      'export',
      join(directory, 'runs'),
      '-o',
      dataset,
      '--jobs',
      '2',
    ]);
    expect(err).toMatch(/^uscope: bad: FORMAT_\w+: .*\n$/);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.slice(0, line.indexOf(':')))
        .sort(),
    ).toEqual(RUNS);
    expect(status).toBe(1);
    const asked = await questions(dataset);
    expect(await asked.ask('select run from traces group by run order by run')).toEqual(
      RUNS.map((run) => [run]),
    );
    await asked.close();
  });

  it('in the same way in one thread', async () => {
    const other = join(directory, 'other');
    await runUscope(['export', join(directory, 'runs'), '-o', other, '--jobs', '1']);
    const files = (root: string) =>
      readdirSync(root, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('.parquet'))
        .sort();
    expect(files(other)).toEqual(files(dataset));
  });
});

describe('uscope dataset', () => {
  it('lists runs and tables', async () => {
    const { runs } = JSON.parse((await runUscope(['dataset', 'ls', dataset, '--json'])).out) as {
      runs: { run: string; files: number; bytes: number; sources: { path: string }[] }[];
    };
    expect(runs.map(({ run }) => run)).toEqual(RUNS);
    expect(runs[0].sources[0].path).toContain('base-1');
    expect((await runUscope(['dataset', 'ls', dataset])).out).toMatch(/base-1 .*core0\.uscope/);
    const { tables } = JSON.parse((await runUscope(['dataset', 'stats', dataset, '--json'])).out) as {
      tables: { table: string; rows: number; files: number }[];
    };
    expect(tables.find(({ table }) => table === 'traces')).toMatchObject({ rows: 3, files: 3 });
    expect((await runUscope(['dataset', 'stats', dataset])).out).toMatch(/^table +files +rows/);
  });

  it('finds a file that is cut, and a run without record', async () => {
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(
      /^3 runs, \d+ files, [\d,]+ rows: whole\n$/,
    );
    const file = join(dataset, 'instructions/run=base-2/core=core0/part-0.parquet');
    truncateSync(file, 300);
    rmSync(join(dataset, '_runs/new-1.json'));
    rmSync(join(dataset, 'traces/run=base-1'), { recursive: true });
    const { status, err } = await runUscope(['dataset', 'check', dataset]);
    expect(status).toBe(1);
    expect(err).toMatch(/base-2: instructions\/run=base-2\/core=core0\/part-0\.parquet cannot be read/);
    expect(err).toMatch(/new-1: its record is missing/);
    expect(err).toMatch(/base-1: traces\/run=base-1 is missing/);
  });

  it('removes runs by name and pattern', async () => {
    expect((await runUscope(['dataset', 'rm', dataset, 'base-*', '--dry-run'])).out).toBe(
      'base-1: would be removed\nbase-2: would be removed\n',
    );
    expect((await runUscope(['dataset', 'rm', dataset, 'base-*'])).out).toBe(
      'base-1: removed\nbase-2: removed\n',
    );
    expect(existsSync(join(dataset, 'instructions/run=base-1'))).toBe(false);
    const { runs } = JSON.parse((await runUscope(['dataset', 'ls', dataset, '--json'])).out) as {
      runs: { run: string }[];
    };
    expect(runs.map(({ run }) => run)).toEqual(['new-1']);
    expect((await runUscope(['dataset', 'rm', dataset, 'base-1'])).err).toContain('DATASET_RUN');
  });

  it('says what is wrong with arguments', async () => {
    for (const args of [
      ['nope', dataset],
      ['ls', dataset, 'x'],
      ['rm', dataset],
    ])
      expect((await runUscope(['dataset', ...args])).status, args.join(' ')).toBe(2);
    expect((await runUscope(['dataset', 'ls', directory])).err).toContain('DATASET_LAYOUT');
  });
});
