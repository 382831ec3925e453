/** The views that a session has: one for each table, of the files of runs and of joined files. */
import { appendAll } from '../base/arrays.js';
import type { FunctionSymbol } from '../semantics/program/index.js';
import { named, quoted } from './engine/duckdb.js';
import { KEYS } from './files/names.js';
import { type JoinedRuns, joinedNames } from './joined-runs.js';
import { COLUMNS, type TableName } from './layout.js';
import type { TableFile, TableFiles } from './table-files.js';

/** The files of a table in a dataset. */
export interface ViewedDataset {
  /** Of the runs that have directories. */
  readonly runs: readonly TableFile[];
  readonly groups: readonly ViewedGroup[];
}

interface ViewedGroup {
  readonly files: readonly TableFile[];
  /** Runs whose rows are in them, and no longer count. */
  readonly dropped: readonly string[];
}

/** What there is now. */
export function filesNow(
  files: TableFiles,
  root: string,
  joined: JoinedRuns,
  table: TableName,
): ViewedDataset {
  return {
    runs: files.ofRuns(root, table, joinedNames(joined)),
    groups: joined.groups.map((group) => ({
      files: files.ofGroup(root, table, group),
      dropped: group.dropped,
    })),
  };
}

/** Those of all runs that have directories, and those of all groups. */
export const runFiles = (datasets: readonly ViewedDataset[]): TableFile[] =>
  datasets.flatMap(({ runs }) => runs);
export const groupFiles = (datasets: readonly ViewedDataset[]): TableFile[] =>
  datasets.flatMap(({ groups }) => groups.flatMap(({ files }) => files));

/**
 * Of which files the engine takes it for granted that they have the same columns. It then opens those only that a question needs, and knows nothing of the others'
 * values: arithmetic over all of them takes a third longer, since each result is checked for overflow.
 */
export interface Alike {
  readonly runs: boolean;
  readonly groups: boolean;
}

export const NOT_ALIKE: Alike = { runs: false, groups: false };

/** The query of a table's view. */
export function viewOf(datasets: readonly ViewedDataset[], table: TableName, alike: Alike): string {
  const key = KEYS[table];
  const selects: string[] = [];
  const ofRuns = runFiles(datasets);
  const keys = key === undefined ? [] : [key];
  if (ofRuns.length > 0) selects.push(rowsOf(pathsOf(ofRuns), [...keys, 'run', 'core'], !alike.runs));
  appendAll(selects, joinedSelects(datasets, keys, alike.groups));
  // Datasets of before lack some of its columns.
  if (table === 'traces' || table === 'instructions') selects.push(emptyView(table));
  return selects.length > 0 ? selects.join(' UNION ALL BY NAME ') : emptyView(table);
}

const pathsOf = (files: readonly TableFile[]): string[] => files.map(({ path }) => path);

/** Files that have rows of runs that no longer count are read by themselves. */
function joinedSelects(
  datasets: readonly ViewedDataset[],
  keys: readonly string[],
  areAlike: boolean,
): string[] {
  const whole: TableFile[] = [];
  const selects: string[] = [];
  for (const { files, dropped } of datasets.flatMap(({ groups }) => groups)) {
    if (files.length === 0) continue;
    if (dropped.length === 0) appendAll(whole, files);
    else
      selects.push(
        `${rowsOf(pathsOf(files), keys, !areAlike)} WHERE run NOT IN (${dropped.map(quoted).join(', ')})`,
      );
  }
  if (whole.length > 0) selects.push(rowsOf(pathsOf(whole), keys, !areAlike));
  return selects;
}

/**
 * Rows of files, with a column for each of the directories right above them, whose names begin with these keys. Nothing else of a path is read: directories
 * above the dataset may have the same keys. A filter on such a column leaves other files closed, as long as the engine's column is called `filename`.
 * @param keys of the directories, from the outer to the inner one
 * @param isByName files of runs whose designs differ are read by the names of their columns; for that the engine opens all of them
 */
export function rowsOf(paths: readonly string[], keys: readonly string[], isByName: boolean): string {
  const files = `[${paths.map(quoted).join(', ')}], union_by_name = ${isByName}, hive_partitioning = false`;
  if (keys.length === 0) return `SELECT * FROM read_parquet(${files})`;
  const columns = keys.map((key, index) => {
    const step = `split_part(filename, '/', ${index - keys.length - 1})`;
    return `url_decode(${step}[${key.length + 2}:]) AS ${named(key)}`;
  });
  return `SELECT * EXCLUDE (filename), ${columns.join(', ')} FROM read_parquet(${files}, filename = true)`;
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
