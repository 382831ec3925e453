/** Whether a dataset is whole: every run has its record and its directories, and every file can be read. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, quoted } from '../engine/duckdb.js';
import { TABLES } from '../layout.js';
import { completeRuns, stagedRuns } from '../publish.js';
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
  await completeRuns(root);
  const runs = await listRuns(root);
  const problems: Problem[] = [];
  for (const { run, record, parts } of runs) {
    if (record === null) {
      problems.push({ run, problem: 'its record is missing or damaged; export it again, or remove it' });
      continue;
    }
    for (const part of record.parts ?? [])
      if (!parts.includes(part)) problems.push({ run, problem: `${part} is missing; export it again` });
    for (const part of parts)
      if (!record.parts?.includes(part))
        problems.push({ run, problem: `${part} is not of its last export; export it again` });
  }
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  let files = 0;
  let rows = 0;
  try {
    for (const path of await filesOf(root)) {
      files++;
      try {
        // Reads every column: a file may be cut or changed in the middle.
        const result = await connection.runAndReadAll(
          `SELECT count(*), count(columns(*)) FROM read_parquet(${quoted(join(root, path))}, hive_partitioning = false)`,
        );
        rows += Number(result.getRows()[0][0]);
      } catch (error) {
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

/** All Parquet files of the tables, relative to the dataset. */
async function filesOf(root: string): Promise<string[]> {
  const files: string[] = [];
  for (const table of TABLES) {
    const names = await readdir(join(root, table), { recursive: true }).catch(() => [] as string[]);
    for (const name of names) if (name.endsWith('.parquet')) files.push(join(table, name));
  }
  return files.sort();
}
