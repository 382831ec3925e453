/** How large a dataset is, table by table. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { type Engine, quoted } from '../engine/duckdb.js';
import { JOINED, TABLES, type TableName } from '../layout.js';
import { queryError } from '../statements.js';
import { openWhole } from './complete.js';
import { filesBelow } from './runs.js';

export interface TableStats {
  readonly table: TableName;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Tables without files are left out. @throws UscopeError DATASET_LAYOUT */
export async function datasetStats({ api }: Engine, root: string): Promise<TableStats[]> {
  await openWhole(root);
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const stats: TableStats[] = [];
  try {
    for (const table of TABLES) {
      const files: { path: string; bytes: number }[] = [];
      for (const directory of [join(root, table), join(root, JOINED, table)])
        if ((await readdir(directory).catch(() => [])).length > 0)
          appendAll(files, await filesBelow(directory));
      if (files.length === 0) continue;
      // By name: a pattern has no way to write the path of a dataset with a bracket in it.
      const paths = files.map(({ path }) => quoted(path)).join(', ');
      const result = await connection.runAndReadAll(
        `SELECT sum(num_rows) FROM parquet_file_metadata([${paths}])`,
      );
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      stats.push({ table, files: files.length, rows: Number(result.getRows()[0][0] ?? 0), bytes });
    }
  } catch (error) {
    throw queryError(error);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  return stats;
}
