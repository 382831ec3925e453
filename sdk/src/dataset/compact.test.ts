import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions, theEngine } from '../../../test/support/dataset-rows.js';
import { cases } from '../../../test/support/effort.js';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { readJoined } from './joined-runs.js';
import { TABLES } from './layout.js';
import { compactDataset, listRuns, purgeJoined } from './manage/index.js';
import { removeRun } from './publish.js';
import { beginReading } from './readers.js';

// Exports and joins with the database engine's threads.
limitOfFile(THREADS_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-compact-'));
const dataset = join(directory, 'dataset');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const trace = (run: string): string => join(directory, 'runs', run, 'core0.uscope');

function writeRun(run: string, seed: number): void {
  mkdirSync(join(directory, 'runs', run), { recursive: true });
  writeFileSync(trace(run), build(record(generator(seed), 60).frames, 20));
}

const exported = (...args: string[]) => runUscope(['export', ...args, '-o', dataset]);

/** Every row of every table, as text. */
async function contents(): Promise<string[]> {
  const asked = await questions(dataset);
  try {
    const all: string[] = [];
    for (const table of TABLES) {
      const rows = await asked.ask(`select t::varchar from (select columns(*) from ${table}) t`);
      const names = await asked.ask(`select column_name from (describe ${table}) order by 1`);
      all.push(`${table} ${names.join()}`, ...rows.map(([row]) => sortedFields(String(row))).sort());
    }
    return all;
  } finally {
    await asked.close();
  }
}

/** The order of columns is not a matter. */
const sortedFields = (row: string): string => [...row].sort().join('');

const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.parquet'));

let before: string[];

beforeAll(async () => {
  for (const [seed, run] of ['a-1', 'a-2', 'b-1'].entries()) writeRun(run, seed);
  await exported(join(directory, 'runs'), '--jobs', '1', '--tag', 'commit=1', '--tables', 'all');
  before = await contents();
});

describe('uscope dataset compact', () => {
  it('joins the files of runs; the tables are the same', async () => {
    const files = filesOf(dataset).length;
    const { out, err, status } = await runUscope(['dataset', 'compact', dataset]);
    expect(err).toBe('');
    expect(status).toBe(0);
    const after = filesOf(dataset);
    expect(out).toBe(`3 runs joined: ${files} files are ${after.length} now\n`);
    expect(after.length).toBeLessThan(files / 2);
    expect(after.every((name) => name.startsWith('joined/'))).toBe(true);
    expect(await contents()).toEqual(before);
    expect((await runUscope(['dataset', 'compact', dataset])).out).toBe('nothing to join\n');
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/: whole\n$/);
    expect((await runUscope(['dataset', 'ls', dataset])).out).toMatch(/^a-1 +joined/m);
  });

  it('an export of the same traces leaves joined runs alone; a changed one is taken out and joined again', async () => {
    expect((await exported(trace('a-1'), '--tag', 'commit=1', '--tables', 'all')).out).toBe(
      'a-1: unchanged\n',
    );
    writeRun('b-1', 7);
    expect((await exported(trace('b-1'), '--tag', 'commit=1', '--tables', 'all')).status).toBe(0);
    const changed = await contents();
    expect(changed).not.toEqual(before);
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/: whole\n$/);
    expect(existsSync(join(dataset, 'traces/run=b-1'))).toBe(true);
    expect((await runUscope(['dataset', 'compact', dataset])).status).toBe(0);
    expect(existsSync(join(dataset, 'traces/run=b-1'))).toBe(false);
    expect(await contents()).toEqual(changed);
  });

  it('a joined run that is removed is in no file', async () => {
    expect((await runUscope(['dataset', 'rm', dataset, 'b-1'])).out).toBe('b-1: removed\n');
    const asked = await questions(dataset);
    expect(await asked.ask('select distinct run from instructions order by run')).toEqual([['a-1'], ['a-2']]);
    await asked.close();
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/^2 runs.*: whole\n$/);
    const { api } = await theEngine();
    const connection = await (await api.DuckDBInstance.create(':memory:')).connect();
    const rows = await connection.runAndReadAll(
      `select distinct run from read_parquet('${dataset}/joined/instructions/*.parquet') order by run`,
    );
    expect(rows.getRows()).toEqual([['a-1'], ['a-2']]);
    connection.closeSync();
  });

  it('waits for questions that may read the files of before; when it does not, the next command removes them', async () => {
    writeRun('c-1', 8);
    await exported(trace('c-1'), '--tag', 'commit=1');
    const reading = await beginReading(dataset);
    const done = await compactDataset(await theEngine(), dataset, { waitMs: 0 });
    expect(done.runs).toBe(3);
    const old = join(dataset, 'traces/run=c-1');
    expect(existsSync(old)).toBe(true);
    const asked = await questions(dataset);
    expect(await asked.ask('select run, count(*) from traces group by run order by run')).toEqual(
      ['a-1', 'a-2', 'c-1'].map((run) => [run, 1n]),
    );
    await asked.close();
    expect(existsSync(old)).toBe(true);
    reading.end();
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/^3 runs.*: whole\n$/);
    expect(existsSync(old)).toBe(false);
  });

  it('of a process that was killed is completed after its commit, and undone before it', async () => {
    const rows = await contents();
    const { groups } = await readJoined(dataset);
    const [old] = groups;
    expect(groups).toHaveLength(1);
    const [undone, committed] = ['0', '1'].map((digit) =>
      join(dataset, '_staging', `~join~${digit.repeat(16)}`),
    );
    const files = old.files.map((file) => file.replace(old.name, 'group-new'));
    for (const [index, file] of files.entries()) {
      for (const staged of [undone, committed]) {
        mkdirSync(dirname(join(staged, file)), { recursive: true });
        copyFileSync(join(dataset, old.files[index]), join(staged, file));
      }
    }
    const commit = {
      group: { ...old, name: 'group-new', files },
      replaces: [old.name],
      removed: [],
      removedFiles: old.files,
      generation: null,
    };
    writeFileSync(join(committed, 'join.json'), JSON.stringify(commit));
    // One of its files was moved already.
    renameSync(join(committed, files[0]), join(dataset, files[0]));
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/^3 runs.*: whole\n$/);
    expect((await readJoined(dataset)).groups.map(({ name }) => name)).toEqual(['group-new']);
    expect(await contents()).toEqual(rows);
    expect(filesOf(dataset).sort()).toEqual([...files].sort());
    expect([undone, committed].some((path) => existsSync(path))).toBe(false);
  });

  it('of a list that is damaged, or that names files outside the dataset, moves and removes nothing', async () => {
    const precious = join(directory, 'precious');
    writeFileSync(precious, 'kept');
    const staged = join(dataset, '_staging', `~join~${'2'.repeat(16)}`);
    const removed = (paths: object) =>
      JSON.stringify({ group: null, replaces: [], removed: [], removedFiles: [], generation: 0, ...paths });
    const lists = [
      removed({ removedFiles: ['../precious'] }),
      removed({ removedFiles: [precious] }),
      removed({ removed: [{ run: 'c-1', part: 'traces/../../precious' }] }),
      '{"group":',
    ];
    for (const list of lists) {
      mkdirSync(staged, { recursive: true });
      writeFileSync(join(staged, 'join.json'), list);
      const { status, err } = await runUscope(['dataset', 'check', dataset]);
      expect([list, status, err]).toEqual([
        list,
        1,
        expect.stringMatching(/DATASET_LAYOUT: .*join.*remove the directory/),
      ]);
      expect(existsSync(precious)).toBe(true);
    }
    rmSync(staged, { recursive: true });
    const run = join(dataset, '_staging', `evil~${'3'.repeat(16)}`);
    mkdirSync(run);
    for (const commit of [
      { run: 'evil', record: null, moved: [], removed: ['../precious'] },
      { run: '../../precious', record: null, moved: [], removed: [] },
    ]) {
      writeFileSync(join(run, 'commit.json'), JSON.stringify(commit));
      const { status, err } = await runUscope(['dataset', 'check', dataset]);
      expect([status, err]).toEqual([
        1,
        expect.stringMatching(/DATASET_LAYOUT: an export that was interrupted names/),
      ]);
      expect(existsSync(precious)).toBe(true);
    }
    rmSync(run, { recursive: true });
    expect((await runUscope(['dataset', 'check', dataset])).out).toMatch(/: whole\n$/);
  });

  it('and the removal of a run at the same time wait for each other', async () => {
    const root = join(directory, 'beside');
    for (let round = 0; round < cases(1, 3); round++) {
      for (const run of ['a-1', 'a-2', 'b-1', 'c-1'])
        expect((await runUscope(['export', trace(run), '--tag', `round=${round}`, '-o', root])).status).toBe(
          0,
        );
      const removal = async (): Promise<void> => {
        expect(await removeRun(root, 'b-1')).toBe(true);
        await purgeJoined(root);
      };
      await Promise.all([compactDataset(await theEngine(), root), removal(), listRuns(root)]);
      expect((await runUscope(['dataset', 'check', root])).out).toMatch(/^3 runs.*: whole\n$/);
    }
  });
});
