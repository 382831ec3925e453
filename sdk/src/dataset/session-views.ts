/** The views of a session's tables: made when a question names them, and again when there are other files. */
import { type Connection, named, quoted } from './engine/duckdb.js';
import { FileSchemas } from './file-schemas.js';
import type { TableName } from './layout.js';
import type { Reading } from './readers.js';
import { limitedQuery, type Periods, type ShownRange } from './shown-range.js';
import { type TableFile, TableFiles } from './table-files.js';
import { viewUnsigned } from './unsigned.js';
import {
  type Alike,
  filesNow,
  groupFiles,
  NOT_ALIKE,
  runFiles,
  type ViewedDataset,
  viewOf,
} from './views.js';

/** What a question wants of its tables. */
export interface Wanted {
  /** It is about a range of time. */
  readonly limit?: { readonly range: ShownRange; readonly periods: Periods } | undefined;
  /** It is about few of the runs, as far as its text says. */
  readonly isOfFewRuns?: boolean | undefined;
}

export class SessionViews {
  private readonly files = new TableFiles();
  private readonly schemas: FileSchemas;
  /** Queries of the views that are there. */
  private readonly queries = new Map<TableName, string>();
  /** Versions of the tables whose unsigned views are there. */
  private readonly unsigned = new Map<TableName, string>();

  /** @param roots of datasets, read as one */
  constructor(
    private readonly connection: Connection,
    private readonly roots: readonly string[],
  ) {
    this.schemas = new FileSchemas(connection);
  }

  /** Makes views, of the files that there are now. */
  async make(
    tables: readonly TableName[],
    readings: readonly Reading[],
    { limit, isOfFewRuns }: Wanted = {},
  ): Promise<void> {
    for (const table of tables) {
      const datasets = this.datasets(table, readings);
      const alike = isOfFewRuns ? await this.alike(datasets, table) : NOT_ALIKE;
      const whole = viewOf(datasets, table, alike);
      const query = limit ? limitedQuery(whole, table, limit.range, limit.periods) : whole;
      if (this.queries.get(table) === query) continue;
      await this.connection.run(`CREATE OR REPLACE VIEW ${named(table)} AS ${query}`);
      this.queries.set(table, query);
    }
  }

  /** The same with addresses and payloads unsigned, of views that are there. */
  async makeUnsigned(tables: readonly TableName[], readings: readonly Reading[]): Promise<void> {
    for (const table of tables) {
      const version = this.versionOf(table, readings);
      if (this.unsigned.get(table) === version) continue;
      const paths = this.pathsOf(table, readings).map(quoted);
      await viewUnsigned(this.connection, table, paths);
      this.unsigned.set(table, version);
    }
  }

  /** Another one after every change of a table's files. */
  versionOf(table: TableName, readings: readonly Reading[]): string {
    return this.filesOf(table, readings)
      .map(({ path, version }) => `${path} ${version}`)
      .join('\n');
  }

  pathsOf(table: TableName, readings: readonly Reading[]): string[] {
    return this.filesOf(table, readings).map(({ path }) => path);
  }

  private filesOf(table: TableName, readings: readonly Reading[]): TableFile[] {
    const datasets = this.datasets(table, readings);
    return [...runFiles(datasets), ...groupFiles(datasets)];
  }

  private datasets(table: TableName, readings: readonly Reading[]): ViewedDataset[] {
    return this.roots.map((root, index) => filesNow(this.files, root, readings[index].joined, table));
  }

  /** To find out takes about as long as one question: worth it from the second one on. */
  private async alike(datasets: readonly ViewedDataset[], table: TableName): Promise<Alike> {
    if (!this.queries.has(table)) return NOT_ALIKE;
    return {
      runs: await this.schemas.agree(runFiles(datasets)),
      groups: await this.schemas.agree(groupFiles(datasets)),
    };
  }
}
