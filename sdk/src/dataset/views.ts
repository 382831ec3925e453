/** The views that a session has: one for each table, of the files of runs and of joined files. */
import { join } from 'node:path';
import type { FunctionSymbol } from '../semantics/program/index.js';
import { named, quoted } from './engine/duckdb.js';
import { KEYS } from './files/names.js';
import { hasDirectories, type JoinedRuns, joinedNames } from './joined-runs.js';
import { COLUMNS, type TableName } from './layout.js';

/** A dataset, and which of its joined files count. */
export interface ViewedDataset {
  readonly root: string;
  readonly joined: JoinedRuns;
}

/** The files of a table, as SQL writes them: patterns, and names of joined files. */
export async function pathsOf(datasets: readonly ViewedDataset[], table: TableName): Promise<string[]> {
  const paths: string[] = [];
  for (const { root, joined } of datasets) {
    if (await hasDirectories(root, table, KEYS[table] !== undefined)) paths.push(runsGlob(root, table));
    for (const { files } of joined.groups) paths.push(...joinedPaths(root, files, table));
  }
  return paths;
}

const runsGlob = (root: string, table: TableName): string =>
  quoted(join(root, table, ...(KEYS[table] ? ['*'] : []), '*', '*', '*.parquet'));

const joinedPaths = (root: string, files: readonly string[], table: TableName): string[] =>
  files.filter((file) => file.startsWith(`joined/${table}/`)).map((file) => quoted(join(root, file)));

/** The query of a table's view. */
export async function viewOf(datasets: readonly ViewedDataset[], table: TableName): Promise<string> {
  const key = KEYS[table];
  const plain: string[] = [];
  const selects: string[] = [];
  for (const { root, joined } of datasets) {
    if (await hasDirectories(root, table, key !== undefined)) {
      const glob = runsGlob(root, table);
      const hidden = [...joinedNames(joined)];
      if (hidden.length === 0) plain.push(glob);
      else
        selects.push(
          `${filesOf([glob], ['run', 'core'], key)} WHERE run NOT IN (${hidden.map(quoted).join(', ')})`,
        );
    }
    selects.push(...joinedSelects(root, joined, table, key));
  }
  if (plain.length > 0) selects.unshift(filesOf(plain, ['run', 'core'], key));
  // Datasets of before lack some of its columns.
  if (table === 'traces' || table === 'instructions') selects.push(emptyView(table));
  return selects.length > 0 ? selects.join(' UNION ALL BY NAME ') : emptyView(table);
}

/** Files that have rows of runs that no longer count are read by themselves. */
function joinedSelects(
  root: string,
  { groups }: JoinedRuns,
  table: TableName,
  key: string | undefined,
): string[] {
  const whole: string[] = [];
  const selects: string[] = [];
  for (const { files, dropped } of groups) {
    const paths = joinedPaths(root, files, table);
    if (paths.length === 0) continue;
    if (dropped.length === 0) whole.push(...paths);
    else selects.push(`${filesOf(paths, [], key)} WHERE run NOT IN (${dropped.map(quoted).join(', ')})`);
  }
  if (whole.length > 0) selects.push(filesOf(whole, [], key));
  return selects;
}

/** Files of runs whose designs differ are read together, by the names of their columns. */
function filesOf(paths: readonly string[], keys: readonly string[], key: string | undefined): string {
  const partitions = [...keys, ...(key ? [key] : [])];
  const types = partitions.map((name) => `${named(name)}: VARCHAR`).join(', ');
  const hive =
    partitions.length > 0 ? `hive_partitioning = true, hive_types = {${types}}` : 'hive_partitioning = false';
  return `SELECT * FROM read_parquet([${paths.join(', ')}], union_by_name = true, ${hive})`;
}

export function emptyView(table: TableName): string {
  const columns = { ...COLUMNS[table], run: 'VARCHAR', core: 'VARCHAR' };
  const casts = Object.entries(columns).map(([name, type]) => `NULL::${type} AS ${named(name)}`);
  return `SELECT ${casts.join(', ')} WHERE false`;
}

/** The functions of a program; addresses are the BIGINT of the same bits, as in `instructions`. */
export function functionsView(functions: readonly FunctionSymbol[]): string {
  if (functions.length === 0)
    return 'SELECT NULL::VARCHAR AS name, NULL::BIGINT AS from_pc, NULL::BIGINT AS to_pc WHERE false';
  const rows = functions.map(
    ({ name, from, to }) => `(${quoted(name)}, ${signed(from)}, ${signed(to - 1n)} + 1)`,
  );
  return `SELECT name, from_pc::BIGINT AS from_pc, to_pc::BIGINT AS to_pc FROM (VALUES ${rows.join(', ')}) AS f(name, from_pc, to_pc)`;
}

const signed = (address: bigint): string => BigInt.asIntN(64, address).toString();
