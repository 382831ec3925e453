/** What the path of a dataset says is not a column, and names of runs are texts: in questions, in joined files, and in what a check finds. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { questions, theEngine } from '../../../test/support/dataset-rows.js';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { quoted } from './engine/duckdb.js';
import { readJoined } from './joined-runs.js';

limitOfFile(THREADS_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-paths-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Engines take these for NULL, numbers, dates or truth values. */
const RUNS = ['0042', '0x10', '1e3', '2026-01-31', '42', 'NULL', 'null', 'true'];
/** Keys of all partitions, and characters that are patterns elsewhere. */
const ABOVE = [
  'plain',
  'run=nightly/core=all/event=e/storage=s/commit=abc',
  "a*b/what?/it's/runs [seed=1]/{x,y}",
];

const trace = join(directory, 'core0.uscope');
writeFileSync(trace, build(record(generator(3), 60).frames, 20));

const TABLES = ['instructions', 'events', 'slots'];
const counted = (table: string): string => {
  const key = { events: 'event', slots: 'storage' }[table];
  return `select run, typeof(run), core, ${key ?? "''"} as key, count(*) from ${table} group by all order by all`;
};

async function rowsOf(root: string): Promise<unknown[][]> {
  const asked = await questions(root);
  const rows = [];
  for (const table of TABLES) rows.push(...(await asked.ask(counted(table))));
  rows.push(...(await asked.ask("select count(*) from instructions where run = '0042'")));
  await asked.close();
  return rows;
}

let plain: unknown[][] | undefined;

describe.each(ABOVE)('a dataset below %s', (above) => {
  const root = join(directory, above, 'dataset');

  it('has its own runs, before and after they are joined, and is whole', async () => {
    for (const run of RUNS)
      expect((await runUscope(['export', trace, '--run', run, '-o', root])).err).toBe('');
    const rows = await rowsOf(root);
    expect([...new Set(rows.slice(0, -1).map(([run, type]) => `${run} ${type}`))]).toEqual(
      RUNS.map((run) => `${run} VARCHAR`),
    );
    plain ??= rows;
    expect(rows).toEqual(plain);
    expect((await runUscope(['dataset', 'compact', root])).out).toMatch(/^8 runs joined/);
    expect(await rowsOf(root)).toEqual(plain);
    expect((await runUscope(['dataset', 'check', root])).out).toMatch(/: whole$/m);
  });
});

it('a check finds joined rows under the name of another run', async () => {
  const root = join(directory, 'plain/dataset');
  const [group] = (await readJoined(root)).groups;
  const [file] = group?.files.filter((one) => one.startsWith('joined/instructions/')) ?? [];
  const { api } = await theEngine();
  const connection = await (await api.DuckDBInstance.create(':memory:')).connect();
  const path = join(root, file ?? '');
  await connection.run(
    `copy (select * replace ('nightly' as run) from read_parquet(${quoted(path)})) to ${quoted(`${path}.new`)} (format parquet)`,
  );
  connection.closeSync();
  const before = readFileSync(path);
  cpSync(`${path}.new`, path);
  rmSync(`${path}.new`);
  const { err, status } = await runUscope(['dataset', 'check', root]);
  expect([status, err]).toEqual([
    1,
    expect.stringMatching(/nightly: joined\/instructions\/.* not of its group/),
  ]);
  writeFileSync(path, before);
});

it('a directory whose rows are not there after a join stops it, and loses nothing', async () => {
  const root = join(directory, 'strange/dataset');
  for (const run of ['a', 'b']) await runUscope(['export', trace, '--run', run, '-o', root]);
  // A file of another run, with columns that the engine takes instead of those of the path.
  const part = join(root, 'instructions/run=a/core=core0/part-0.parquet');
  mkdirSync(join(part, '..'), { recursive: true });
  const { api } = await theEngine();
  const connection = await (await api.DuckDBInstance.create(':memory:')).connect();
  await connection.run(
    `copy (select *, 'other' as run from read_parquet(${quoted(part)}, hive_partitioning = false)) to ${quoted(`${part}.new`)} (format parquet)`,
  );
  connection.closeSync();
  cpSync(`${part}.new`, part);
  rmSync(`${part}.new`);
  const { err, status } = await runUscope(['dataset', 'compact', root]);
  expect([status, err]).toEqual([1, expect.stringMatching(/DATASET_WRITE: the files were not joined/)]);
  expect(readFileSync(part).length).toBeGreaterThan(0);
});
