/**
 * Functions that a question may use as tables. Others of the engine change what a session does although they are called in a SELECT: one writes a profile of each
 * question to a file, another one a log, and some run SQL that is in a string, where nothing can be checked.
 */
import { UscopeError } from '../base/errors.js';
import type { Connection } from './engine/duckdb.js';

const ALLOWED = new Set(
  `generate_series glob histogram histogram_values icu_calendar_names json_each json_tree parquet_bloom_probe parquet_file_metadata parquet_full_metadata
  parquet_kv_metadata parquet_metadata parquet_scan parquet_schema pg_timezone_names pragma_collations pragma_database_size pragma_platform pragma_show
  pragma_table_info pragma_user_agent pragma_version range read_blob read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto
  read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text repeat repeat_row sniff_csv summary test_all_types unnest duckdb_columns
  duckdb_constraints duckdb_databases duckdb_dependencies duckdb_extensions duckdb_functions duckdb_indexes duckdb_keywords duckdb_memory duckdb_optimizers
  duckdb_schemas duckdb_sequences duckdb_settings duckdb_tables duckdb_temporary_files duckdb_types duckdb_variables duckdb_views`.split(
    /\s+/,
  ),
);

/** @param ours ready-made questions @throws UscopeError DATASET_STATEMENT */
export async function checkTableFunctions(
  connection: Connection,
  called: ReadonlySet<string>,
  ours: ReadonlySet<string>,
): Promise<void> {
  const others = [...called].filter((name) => !ALLOWED.has(name) && !ours.has(name));
  if (others.length === 0) return;
  const known = await engineFunctions(connection);
  // Of a name that there is not, the engine says which one is like it.
  const refused = others.find((name) => known.has(name));
  if (refused === undefined) return;
  throw new UscopeError(
    'DATASET_STATEMENT',
    `the function ${refused} is not allowed as a table: it may do more than read; ask about the tables of the dataset`,
  );
}

async function engineFunctions(connection: Connection): Promise<Set<string>> {
  const found = await connection.runAndReadAll(
    'SELECT DISTINCT lower(function_name) FROM duckdb_functions()',
  );
  return new Set(found.getRows().map(([name]) => String(name)));
}
