/** DuckDB, which answers SQL and joins files. An optional package: it is loaded when it is needed. */
import { UscopeError } from '../../base/errors.js';
import { installCommand, isOfPython } from '../../native/install-command.js';

export type DuckDb = typeof import('@duckdb/node-api');
export type Connection = import('@duckdb/node-api').DuckDBConnection;

export interface Engine {
  readonly api: DuckDb;
}

/** What the installed release was tested with. */
const VERSION = '1.5.6-r.1';

/** PyPI has no package with the engine for Node.js. */
const WITH_PYTHON =
  "; without npm, uscope export makes tables that Python's duckdb, pandas and Polars read (docs/how-to/dataset.md)";

/** @throws UscopeError DATASET_ENGINE where the package is not installed, or not for this machine */
export async function loadEngine(): Promise<Engine> {
  try {
    return { api: await import('@duckdb/node-api') };
  } catch (cause) {
    throw new UscopeError(
      'DATASET_ENGINE',
      `the package @duckdb/node-api is not installed: ${installCommand(`@duckdb/node-api@${VERSION}`)}${isOfPython() ? WITH_PYTHON : ''}`,
      {},
      { cause },
    );
  }
}

/** A string as SQL writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as SQL writes it. */
export const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;
