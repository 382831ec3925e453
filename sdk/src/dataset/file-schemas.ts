/**
 * Whether files have the same columns. Then the engine opens one of them to know the columns of all, instead of all of them for each question. What a file has is
 * asked once, until the file changes.
 */
import { type Connection, quoted } from './engine/duckdb.js';
import type { TableFile } from './table-files.js';

interface Known {
  readonly version: string;
  readonly schema: string;
}

export class FileSchemas {
  private known = new Map<string, Known>();

  constructor(private readonly connection: Connection) {}

  async agree(files: readonly TableFile[]): Promise<boolean> {
    await this.learn(files.filter(({ path, version }) => this.known.get(path)?.version !== version));
    const [first] = files;
    const schemaOf = ({ path }: TableFile): string | undefined => this.known.get(path)?.schema;
    const wanted = first && schemaOf(first);
    return wanted !== undefined && files.every((file) => schemaOf(file) === wanted);
  }

  private async learn(files: readonly TableFile[]): Promise<void> {
    if (files.length === 0) return;
    const versions = new Map(files.map(({ path, version }) => [path, version]));
    const found = await this.connection.runAndReadAll(schemasQuery(files));
    for (const [path, schema] of found.getRows()) {
      const version = versions.get(String(path));
      if (version !== undefined) this.known.set(String(path), { version, schema: String(schema) });
    }
  }
}

/** Path, and a digest of all columns in their order. */
const schemasQuery = (files: readonly TableFile[]): string =>
  "SELECT file_name, md5(string_agg(line, ',' ORDER BY column_id)) FROM (SELECT file_name, column_id, [name, type, repetition_type, " +
  'num_children::VARCHAR, converted_type, logical_type, scale::VARCHAR, "precision"::VARCHAR]::VARCHAR AS line ' +
  `FROM parquet_schema([${files.map(({ path }) => quoted(path)).join(', ')}])) GROUP BY file_name`;
