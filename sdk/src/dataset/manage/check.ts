/** Whether a dataset is whole: every run has its record and its directories, and every file can be read. */

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { type Connection, type Engine, quoted } from '../engine/duckdb.js';
import { readJoined } from '../joined-runs.js';
import { JOINED, TABLES } from '../layout.js';
import { stagedRuns } from '../publish.js';
import { openWhole } from './complete.js';
import { listRuns } from './runs.js';

export interface Problem {
  readonly run: string | null;
  readonly problem: string;
}

export interface Check {
  readonly runs: number;
  readonly files: number;
  readonly rows: number;
  readonly problems: readonly Problem[];
}

/** Completes what killed exports had committed, first. @throws UscopeError DATASET_LAYOUT */
export async function checkDataset({ api }: Engine, root: string): Promise<Check> {
  await openWhole(root);
  const runs = await listRuns(root);
  const problems: Problem[] = [];
  for (const { run, record, parts, isJoined } of runs) {
    if (record === null) {
      problems.push({ run, problem: 'its record is missing or damaged; export it again, or remove it' });
      continue;
    }
    if (isJoined) continue;
    for (const part of record.parts ?? [])
      if (!parts.includes(part)) problems.push({ run, problem: `${part} is missing; export it again` });
    for (const part of parts)
      if (!record.parts?.includes(part))
        problems.push({ run, problem: `${part} is not of its last export; export it again` });
  }
  appendAll(problems, await problemsOfJoined(root));
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const { groups } = await readJoined(root);
  const runsOf = new Map(
    groups.flatMap(({ files, runs, dropped }) => files.map((file) => [file, [...runs, ...dropped]])),
  );
  let files = 0;
  let rows = 0;
  try {
    for (const path of await filesOf(root)) {
      files++;
      try {
        const found = await rowsIn(connection, join(root, path), runsOf.get(path));
        rows += found.rows;
        for (const run of found.strange)
          problems.push({
            run,
            problem: `${path} has rows of it, and is not of its group; export its runs again`,
          });
      } catch (error) {
        if (!existsSync(join(root, path))) continue; // removed meanwhile
        const run = /(?:^|\/)run=([^/]*)/.exec(path)?.[1] ?? null;
        problems.push({ run, problem: `${path} cannot be read: ${(error as Error).message.split('\n')[0]}` });
      }
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  for (const name of await stagedRuns(root)) {
    const run = name.slice(0, name.indexOf('~'));
    problems.push({ run, problem: 'it is being exported by another process' });
  }
  return { runs: runs.length, files, rows, problems };
}

/** Reads every column: a file may be cut or changed in the middle. @param runs of the group, of a joined file */
async function rowsIn(
  connection: Connection,
  file: string,
  runs: readonly string[] | undefined,
): Promise<{ rows: number; strange: string[] }> {
  const from = `read_parquet(${quoted(file)}, hive_partitioning = false)`;
  const counts = await connection.runAndReadAll(`SELECT count(*), count(columns(*)) FROM ${from}`);
  const rows = Number(counts.getRows()[0][0]);
  if (runs === undefined) return { rows, strange: [] };
  const names = await connection.runAndReadAll(`SELECT DISTINCT run FROM ${from} ORDER BY run`);
  return {
    rows,
    strange: names
      .getRows()
      .map(([run]) => String(run))
      .filter((run) => !runs.includes(run)),
  };
}

/** Files of groups that are not there, files that are of none, and rows that no longer count. */
async function problemsOfJoined(root: string): Promise<Problem[]> {
  const { groups } = await readJoined(root);
  const there = new Set(await filesBelow(root, JOINED));
  const problems: Problem[] = [];
  for (const { files, dropped } of groups) {
    for (const file of files)
      if (!there.delete(file))
        problems.push({ run: null, problem: `${file} is missing; export its runs again` });
    for (const run of dropped)
      problems.push({
        run,
        problem: 'joined files have rows of it from before; run "uscope dataset compact"',
      });
  }
  for (const file of there)
    problems.push({ run: null, problem: `${file} is of no group of joined runs; remove it` });
  return problems;
}

/** All Parquet files of the tables, relative to the dataset. */
async function filesOf(root: string): Promise<string[]> {
  const files = await Promise.all([...TABLES, JOINED].map((table) => filesBelow(root, table)));
  return files.flat().sort();
}

async function filesBelow(root: string, directory: string): Promise<string[]> {
  const names = await readdir(join(root, directory), { recursive: true }).catch(() => [] as string[]);
  return names.filter((name) => name.endsWith('.parquet')).map((name) => join(directory, name));
}
