/** DuckDB, which writes the Parquet files of datasets and answers SQL. An optional package: it is loaded when it is needed. */
import { UscopeError } from '../../base/errors.js';
import { installCommand, isOfPython } from './install-command.js';

export type DuckDb = typeof import('@duckdb/node-api');
export type Bindings = typeof import('@duckdb/node-bindings');
export type Connection = import('@duckdb/node-api').DuckDBConnection;
export type Appender = import('@duckdb/node-api').DuckDBAppender;

export interface Engine {
  readonly api: DuckDb;
  readonly bindings: Bindings;
}

/** What the installed release was tested with. */
const VERSION = '1.5.6-r.1';

/** PyPI has no package with the engine for Node.js. */
const WITH_PYTHON =
  "; without npm, uscope export makes tables that Python's duckdb, pandas and Polars read (docs/how-to/dataset.md)";

/** @throws UscopeError DATASET_ENGINE where the package is not installed, or not for this machine */
export async function loadEngine(): Promise<Engine> {
  try {
    const [api, bindings] = await Promise.all([import('@duckdb/node-api'), import('@duckdb/node-bindings')]);
    return { api, bindings: (bindings as unknown as { default?: Bindings }).default ?? bindings };
  } catch (cause) {
    throw new UscopeError(
      'DATASET_ENGINE',
      `the package @duckdb/node-api is not installed: ${installCommand(`@duckdb/node-api@${VERSION}`)}${isOfPython() ? WITH_PYTHON : ''}`,
      {},
      { cause },
    );
  }
}

/** An appender without waiting: loops over a trace make one at the first row of a table. */
export function appenderNow({ api, bindings }: Engine, connection: Connection, table: string): Appender {
  const { connection: native } = connection as unknown as {
    connection: Parameters<Bindings['appender_create_ext']>[0];
  };
  return new api.DuckDBAppender(connection, bindings.appender_create_ext(native, null, null, table));
}

/** A string as SQL writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as SQL writes it. */
export const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;
