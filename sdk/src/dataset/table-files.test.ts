/** What a session sees of a dataset whose files change between its questions. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { questions, theEngine } from '../../../test/support/dataset-rows.js';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { quoted } from './engine/duckdb.js';
import { FileSchemas } from './file-schemas.js';
import { LAYOUT, MARKER } from './layout.js';
import { datasetStats } from './manage/index.js';
import { SqlSession } from './session.js';
import { TableFiles } from './table-files.js';

// The database engine's threads.
limitOfFile(THREADS_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-files-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const engine = await theEngine();
const instance = await engine.api.DuckDBInstance.create(':memory:');
const connection = await instance.connect();
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

let number = 0;
let dataset = '';
beforeEach(() => {
  // A pattern would read it as a set of letters.
  dataset = join(directory, `[${number++}] d*ta?`);
  mkdirSync(dataset);
  writeFileSync(join(dataset, MARKER), JSON.stringify({ layout: LAYOUT }));
});

const HOUR_MS = 3_600_000;

/** A part of a run; its directories are as old as those of a dataset that is at rest. */
async function writePart(
  run: string,
  select: string,
  { part = 0, table = 'instructions' } = {},
): Promise<void> {
  const path = join(dataset, table, `run=${run}`, 'core=core0', `part-${part}.parquet`);
  mkdirSync(dirname(path), { recursive: true });
  await connection.run(`COPY (${select}) TO ${quoted(path)} (FORMAT parquet)`);
  const old = (Date.now() - HOUR_MS) / 1000;
  utimesSync(path, old, old);
  settle(dirname(path), old);
}

function settle(path: string, time: number): void {
  for (let above = path; above.length >= dataset.length; above = dirname(above))
    utimesSync(above, time, time++);
}

const instructions = (seq: number, more = ''): string =>
  `select ${seq}::BIGINT as seq, 10::BIGINT as birth_cycle, 15::BIGINT as end_cycle${more}`;

/** About a run that it names: such a question lets the engine open few of the files, from the second one on. */
const ofRun = (run: string, columns = 'run, seq'): string =>
  `select ${columns} from instructions where run in ('${run}') order by seq`;
const ofAll = 'select run, seq from instructions order by run, seq';

it('runs that come, go and are replaced', async () => {
  await writePart('a', instructions(1));
  await writePart('b', instructions(2));
  const { ask, close } = await questions(dataset);
  for (let time = 0; time < 3; time++) expect(await ask(ofRun('a'))).toEqual([['a', 1n]]);
  await writePart('c', instructions(3));
  expect(await ask(ofRun('c'))).toEqual([['c', 3n]]);
  rmSync(join(dataset, 'instructions', 'run=b'), { recursive: true });
  expect(await ask(ofRun('b'))).toEqual([]);
  expect(await ask(ofAll)).toEqual([
    ['a', 1n],
    ['c', 3n],
  ]);
  renameSync(join(dataset, 'instructions', 'run=c'), join(dataset, 'instructions', 'run=d'));
  await writePart('a', instructions(4));
  await writePart('a', instructions(5), { part: 10 });
  await writePart('a', instructions(6), { part: 2 });
  for (let time = 0; time < 2; time++) {
    // Parts are in the order of their numbers.
    expect(await ask("select seq from instructions where run = 'a'")).toEqual([[4n], [6n], [5n]]);
    expect(await ask(ofRun('d'))).toEqual([['d', 3n]]);
    expect(await ask(ofRun('c'))).toEqual([]);
  }
  await close();
});

it('a run that is replaced while a question begins', async () => {
  await writePart('a', instructions(1));
  await writePart('a', instructions(2), { part: 1 });
  const session = await SqlSession.open(engine, [dataset]);
  const { connection: asked } = session as unknown as { connection: { run(sql: string): Promise<unknown> } };
  const run = asked.run.bind(asked);
  let isReplaced = false;
  asked.run = (sql) => {
    if (!isReplaced && sql.startsWith('CREATE OR REPLACE VIEW')) {
      rmSync(join(dataset, 'instructions', 'run=a', 'core=core0', 'part-1.parquet'));
      isReplaced = true;
    }
    return run(sql);
  };
  const rows = await session.ask(ofAll, async (result) => (await result.fetchChunk())?.getRows());
  expect([isReplaced, rows]).toEqual([true, [['a', 1n]]]);
  // What is not there at all is an error.
  const missing = `from read_parquet(${quoted(join(dataset, 'none.parquet'))})`;
  await expect(session.ask(missing, (result) => result.fetchChunk())).rejects.toMatchObject({
    code: 'DATASET_QUERY',
  });
  await session.close();
});

it('a run that comes with other columns, and one whose columns change', async () => {
  await writePart('a', instructions(1));
  await writePart('b', instructions(2));
  const { ask, close } = await questions(dataset);
  for (let time = 0; time < 3; time++) expect(await ask(ofRun('b'))).toEqual([['b', 2n]]);
  await writePart('c', instructions(3, ', 7::BIGINT as issue_cycle'));
  for (let time = 0; time < 3; time++) {
    expect(await ask(ofRun('c', 'seq, issue_cycle'))).toEqual([[3n, 7n]]);
    expect(await ask(ofRun('a', 'seq, issue_cycle'))).toEqual([[1n, null]]);
  }
  // The same name, and columns in another place.
  await writePart('c', instructions(3));
  await writePart('b', 'select 8::BIGINT as end_cycle, 2::BIGINT as seq, 3::BIGINT as birth_cycle');
  for (let time = 0; time < 3; time++)
    expect(await ask(ofRun('b', 'seq, birth_cycle, end_cycle'))).toEqual([[2n, 3n, 8n]]);
  await writePart('b', instructions(2, ', 9::BIGINT as issue_cycle'));
  for (let time = 0; time < 3; time++) {
    expect(await ask(ofRun('b', 'seq, issue_cycle'))).toEqual([[2n, 9n]]);
    expect(await ask("select count(issue_cycle), count(*) from instructions where run = 'b'")).toEqual([
      [1n, 1n],
    ]);
  }
  await close();
});

it('columns without sign of a run that comes later', async () => {
  const part = (more: string) => `select 1::BIGINT as seq, -1::BIGINT as pc${more}`;
  await writePart('a', part(''));
  const { ask, close } = await questions(dataset);
  const pcs = 'select pc, count(*) from unsigned.instructions group by pc';
  for (let time = 0; time < 2; time++) expect(await ask(pcs)).toEqual([[2n ** 64n - 1n, 1n]]);
  await writePart('b', part(', 3::BIGINT as more'));
  for (let time = 0; time < 2; time++) {
    expect(await ask(pcs)).toEqual([[2n ** 64n - 1n, 2n]]);
    expect(await ask("select max(more) from unsigned.instructions where run in ('b')")).toEqual([[3n]]);
  }
  await close();
});

it('tags that some runs have only', async () => {
  const traces = (more: string) => `select '/x' as file, 'cpu' as kind${more}`;
  await writePart('a', traces(''), { table: 'traces' });
  await writePart('b', traces(", '1f' as commit"), { table: 'traces' });
  const { ask, close } = await questions(dataset);
  for (let time = 0; time < 3; time++)
    expect(await ask("select run, commit from traces where run in ('a', 'b') order by run")).toEqual([
      ['a', null],
      ['b', '1f'],
    ]);
  await close();
  expect(await datasetStats(engine, dataset)).toMatchObject([{ table: 'traces', files: 2, rows: 2 }]);
});

it('a directory that changes again within one step of the clock', async () => {
  const files = new TableFiles();
  const core = join(dataset, 'instructions', 'run=a', 'core=core0');
  mkdirSync(core, { recursive: true });
  const names = Array.from({ length: 100 }, (_, part) => join(core, `part-${part}.parquet`));
  for (const [index, name] of names.entries()) {
    writeFileSync(name, '');
    const found = files.ofRuns(dataset, 'instructions', new Set()).map(({ path }) => path);
    expect(found).toEqual(names.slice(0, index + 1));
  }
  expect(files.ofRuns(dataset, 'instructions', new Set(['a']))).toEqual([]);
});

it('what is none of our files is left alone', async () => {
  await writePart('a', instructions(1));
  const table = join(dataset, 'instructions');
  for (const path of [
    'run=x',
    'run=a/core=x',
    'notes.txt',
    'run=a/notes.parquet',
    'run=a/core=core0/_x.parquet',
  ])
    writeFileSync(join(table, path), 'x');
  mkdirSync(join(table, 'run=a/core=core0/dir.parquet'));
  mkdirSync(join(table, 'run=y'));
  const { ask, close } = await questions(dataset);
  expect(await ask(ofAll)).toEqual([['a', 1n]]);
  await close();
});

it('files are alike when all their columns are, in the same order and with the same parts', async () => {
  const paths: string[] = [];
  const file = async (select: string) => {
    const path = join(dataset, `${paths.length}.parquet`);
    paths.push(path);
    await connection.run(`COPY (${select}) TO ${quoted(path)} (FORMAT parquet)`);
    return { path, version: String(paths.length) };
  };
  const pair = "select {x: 1::BIGINT} as a, {y: 'q'} as b";
  const [one, same, order, type, nested] = [
    await file(pair),
    await file('select {x: 5::BIGINT} as a, {y: NULL::VARCHAR} as b'),
    await file("select {y: 'q'} as b, {x: 1::BIGINT} as a"),
    await file("select {x: 1::INTEGER} as a, {y: 'q'} as b"),
    await file("select {y: 'q'} as a, {x: 1::BIGINT} as b"),
  ];
  const schemas = new FileSchemas(connection);
  expect(await schemas.agree([one, same])).toBe(true);
  for (const other of [order, type, nested]) expect(await schemas.agree([one, other, same])).toBe(false);
  expect(await schemas.agree([])).toBe(false);
  // The same path, another file.
  cpSync(type.path, same.path);
  expect(await schemas.agree([one, same])).toBe(true);
  expect(await schemas.agree([one, { ...same, version: 'other' }])).toBe(false);
});
