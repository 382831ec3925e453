/** The tables of a session again, in the schema `unsigned`: columns of 64 bits without sign, which files have as the BIGINT of the same bits, are UBIGINT there. */
import { type Connection, named, quoted } from './engine/duckdb.js';
import type { TableName } from './layout.js';
import { UNSIGNED_KEY } from './parquet/parquet-file.js';

export const UNSIGNED = 'unsigned';
/** Those that each file has; of payloads, files say it. */
const FIXED: Partial<Record<TableName, readonly string[]>> = {
  instructions: ['pc'],
  transactions: ['addr'],
  counters: ['value'],
};

/** Whether a question names one of these tables, as far as its text says. */
export const namesUnsigned = (sql: string): boolean => new RegExp(`\\b${UNSIGNED}"?\\s*\\.`, 'i').test(sql);

/** Makes such a table of one that there is. @param paths of its files, as SQL writes them */
export async function viewUnsigned(
  connection: Connection,
  table: TableName,
  paths: readonly string[],
): Promise<void> {
  const wanted = [...(FIXED[table] ?? []), ...(await marked(connection, paths))];
  const described = await connection.runAndReadAll(`DESCRIBE ${named(table)}`);
  const columns = described
    .getRows()
    .filter(([, type]) => type === 'BIGINT')
    .map(([name]) => String(name))
    .filter((name) => wanted.includes(name));
  const values = columns.map((name) => `unsigned(${named(name)}) AS ${named(name)}`).join(', ');
  await connection.run(
    `CREATE OR REPLACE VIEW ${UNSIGNED}.${named(table)} AS SELECT *${values && ` REPLACE (${values})`} FROM main.${named(table)}`,
  );
}

/** Columns of which a file says it. */
async function marked(connection: Connection, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const found = await connection.runAndReadAll(unsignedQuery(paths));
  return found.getRows().map(([name]) => String(name));
}

/** The query of the names of such columns in files. @param paths as SQL writes them */
export const unsignedQuery = (paths: readonly string[]): string =>
  `SELECT DISTINCT unnest(string_split(decode(value), ',')) AS name FROM parquet_kv_metadata([${paths.join(', ')}]) ` +
  `WHERE decode(key) = ${quoted(UNSIGNED_KEY)} ORDER BY name`;
