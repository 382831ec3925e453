/** Rows into a table of DuckDB, column by column: typed arrays of one vector's rows, copied whole. Nothing is allocated per row. */
import { BigintValues, ROWS } from './bigint-column.js';
import { type Appender, appenderNow, type Connection, type Engine, named } from './duckdb.js';
import type { ListColumn } from './list-column.js';

/**
 * A table whose columns are BIGINT, then lists. Its memory is taken at the first row: a trace may have many kinds of events, of which few occur.
 */
export class TableWriter {
  columns: readonly BigintValues[] = [];
  /** Of the row that is being written. */
  row = 0;
  /** Rows in the table so far, without those that are still here. */
  private flushed = 0;
  private chunk: import('@duckdb/node-api').DuckDBDataChunk | null = null;
  private appender: Appender | null = null;

  private constructor(
    private readonly engine: Engine,
    private readonly connection: Connection,
    readonly table: string,
    private readonly names: readonly string[],
    readonly lists: readonly ListColumn[],
  ) {}

  static async create(
    engine: Engine,
    connection: Connection,
    table: string,
    names: readonly string[],
    lists: readonly ListColumn[] = [],
  ): Promise<TableWriter> {
    const writer = new TableWriter(engine, connection, table, names, lists);
    await writer.makeTable();
    return writer;
  }

  get total(): number {
    return this.flushed + this.row;
  }

  /** Index of the next row in `columns` and `lists`. */
  begin(): number {
    if (this.appender === null) this.open();
    for (const list of this.lists) list.begin(this.row);
    return this.row;
  }

  endRow(): void {
    this.row++;
    if (this.row === ROWS) this.flush();
  }

  /** All rows are in the table. */
  close(): void {
    this.flush();
    this.appender?.closeSync();
    this.appender = null;
  }

  /** The table begins again, empty; after `close`. */
  async restart(): Promise<void> {
    await this.connection.run(`DROP TABLE ${named(this.table)}`);
    await this.makeTable();
    this.flushed = 0;
  }

  private async makeTable(): Promise<void> {
    const columns = [
      ...this.names.map((name) => `${named(name)} BIGINT`),
      ...this.lists.map(({ name, sqlType }) => `${named(name)} ${sqlType}`),
    ];
    await this.connection.run(`CREATE TABLE ${named(this.table)} (${columns.join(', ')})`);
  }

  private open(): void {
    const { engine, names, lists } = this;
    if (this.chunk === null) {
      this.columns = names.map(() => new BigintValues(ROWS));
      const types = [...names.map(() => engine.api.BIGINT), ...lists.map((list) => list.typeOf(engine.api))];
      this.chunk = engine.api.DuckDBDataChunk.create(types);
    }
    this.appender = appenderNow(engine, this.connection, this.table);
  }

  private flush(): void {
    const { row: count, chunk, appender } = this;
    if (count === 0 || chunk === null || appender === null) return;
    const { bindings } = this.engine;
    bindings.data_chunk_reset(chunk.chunk);
    this.columns.forEach((column, index) => {
      column.copyTo(bindings, bindings.data_chunk_get_vector(chunk.chunk, index), count);
    });
    this.lists.forEach((list, index) => {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, this.columns.length + index);
      list.copyTo(this.engine, vector, count);
    });
    bindings.data_chunk_set_size(chunk.chunk, count);
    appender.appendDataChunk(chunk);
    this.flushed += count;
    this.row = 0;
  }
}
