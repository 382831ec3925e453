/** Parquet files of random tables: DuckDB reads what was written. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { theEngine } from '../../../../test/support/dataset-rows.js';
import { cases } from '../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { generator } from '../../../../test/support/recorded-run.js';
import { quoted } from '../engine/duckdb.js';
import { BooleanColumn, CodeColumn, type Column, NumberColumn, TextColumn, WordColumn } from './columns.js';
import { GZIP, type PageCodec, pageCodec } from './compression.js';
import { LabelDictionary, LaterDictionary, NumberDictionary } from './dictionary.js';
import { ListColumn, MapColumn } from './list-column.js';
import { PhysicalType } from './schema.js';
import { PageBudget, TableRows } from './table-rows.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-parquet-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function query(sql: string): Promise<unknown[][]> {
  const { api } = await theEngine();
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJS() as unknown[][];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** A column of each kind, what sets a random value in a row, and says which. */
function randomTable(choose: (limit: number) => number) {
  const isNull = (): boolean => choose(5) === 0;
  const textOf = (code: number): string => ['', 'a', 'ünï→𝄞', `long ${'x'.repeat(90)}`][code % 4] + code;
  const number = new NumberColumn('number');
  const word = new WordColumn('word');
  const empty = new NumberColumn('empty');
  const label = new CodeColumn('label', new LabelDictionary(textOf));
  const later = new CodeColumn('later', new LaterDictionary(async (codes) => codes.map(textOf)));
  const codes = new NumberDictionary();
  const coded = new CodeColumn('coded', codes, PhysicalType.INT64);
  const text = new TextColumn('text');
  const truth = new BooleanColumn('truth');
  const [first, second] = [new NumberColumn('first'), new TextColumn('second')];
  const list = new ListColumn('list', [first, second]);
  const map = new MapColumn('map');
  const columns: Column[] = [number, word, empty, label, later, coded, text, truth, list, map];
  let running = 0;
  const setRow = (row: number): unknown[] => {
    running += choose(30) - 3;
    const missing = Array.from({ length: 8 }, isNull);
    const [at, lo, hi, code] = [running, choose(2 ** 31) * 2 + 1, choose(2 ** 31) * 2, choose(400)];
    for (const [index, column] of [number, word, empty, label, later, coded, text, truth].entries())
      if (missing[index] || column === empty) column.setNull(row);
    if (!missing[0]) number.set(row, at);
    if (!missing[1]) word.setWords(row, lo, hi);
    if (!missing[3]) label.set(row, code);
    if (!missing[4]) later.set(row, code + 2 ** 31);
    if (!missing[5]) coded.set(row, codes.intern(code * 1_000_003));
    if (!missing[6]) text.setText(row, textOf(code >> 3));
    if (!missing[7]) truth.set(row, code & 2);
    const entries = Array.from({ length: Math.max(0, choose(5) - 1) }, () => {
      const entry = list.add(row);
      const [one, two] = [isNull() ? null : choose(1000) - 500, isNull() ? null : textOf(choose(50))];
      first.set(entry, one ?? Number.NaN);
      second.setText(entry, two);
      return { first: one === null ? null : BigInt(one), second: two };
    });
    const pairs = Array.from({ length: choose(3) }, (_, index) => [`k${index}`, textOf(choose(9))] as const);
    map.setMap(row, pairs);
    const value = <T>(index: number, of: T): T | null => (missing[index] ? null : of);
    return [
      value(0, BigInt(at)),
      value(1, BigInt.asIntN(64, (BigInt(hi) << 32n) | BigInt(lo))),
      null,
      value(3, textOf(code)),
      value(4, textOf(code + 2 ** 31)),
      value(5, BigInt((code * 1_000_003) % 2 ** 32)),
      value(6, textOf(code >> 3)),
      value(7, (code & 2) !== 0),
      entries,
      pairs.map(([key, text]) => ({ key, value: text })),
    ];
  };
  return { columns, setRow };
}

async function written(
  path: string,
  rowCount: number,
  groupRows: number,
  codec: PageCodec,
  seed: number,
): Promise<unknown[][]> {
  const { columns, setRow } = randomTable(generator(seed));
  // Without a budget pages are small.
  const rows = new TableRows(columns, new PageBudget(seed % 3 ? undefined : 0), codec);
  const file = rows.newFile(path);
  const expected: unknown[][] = [];
  for (let index = 0; index < rowCount; index++) {
    const row = rows.begin();
    expected.push(setRow(row));
    rows.endRow();
    if (index % groupRows === groupRows - 1) await rows.writeGroup(file);
  }
  await rows.writeGroup(file);
  await file.close();
  return expected;
}

it('files have the rows that were written, whatever the sizes of pages and row groups', async () => {
  const path = join(directory, 'rows.parquet');
  const all = [
    [0, 10],
    [1, 10],
    [7, 3],
    [2049, 700],
    [21_000, 100_000],
    [21_001, 9000],
    ...Array.from({ length: cases(1) - 1 }, (_, index) => [5000 + 977 * index, 300 + 411 * index]),
  ] as const;
  for (const [index, [rows, groupRows]] of all.entries()) {
    const expected = await written(path, rows, groupRows, index % 2 ? GZIP : pageCodec(), index + 1);
    const found = await query(
      `SELECT * REPLACE (map_entries(map) AS map) FROM read_parquet(${quoted(path)})`,
    );
    expect(found.length, `${rows} rows`).toBe(rows);
    expect(found, `${rows} rows`).toEqual(expected);
  }
});

it('row groups have the bounds and the number of missing values of their columns', async () => {
  const path = join(directory, 'bounds.parquet');
  await written(path, 3000, 1000, pageCodec(), 5);
  const bounds = await query(
    `SELECT path_in_schema, sum(stats_null_count), min(stats_min_value), max(stats_max_value), count(*) FROM parquet_metadata(${quoted(path)}) GROUP BY 1`,
  );
  const of = new Map(bounds.map(([name, ...rest]) => [name, rest]));
  for (const name of ['number', 'word', 'coded', 'truth']) {
    const [[nulls, lowest, highest]] = await query(
      `SELECT count(*) - count(${name}), min(${name})::VARCHAR, max(${name})::VARCHAR FROM read_parquet(${quoted(path)})`,
    );
    expect(of.get(name)?.[0], name).toEqual(nulls);
    expect(of.get(name)?.[3], name).toBe(3n);
    if (name === 'truth') continue;
    // As texts these compare otherwise.
    const [[least, most]] = await query(
      `SELECT min(stats_min_value::BIGINT)::VARCHAR, max(stats_max_value::BIGINT)::VARCHAR FROM parquet_metadata(${quoted(path)}) WHERE path_in_schema = '${name}'`,
    );
    expect([least, most], name).toEqual([lowest, highest]);
  }
  expect(of.get('empty')?.slice(0, 3)).toEqual([3000n, null, null]);
});
