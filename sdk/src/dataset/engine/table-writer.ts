/** Rows into a table of DuckDB, column by column: typed arrays of one vector's rows, copied whole. Nothing is allocated per row. */
import type { Connection, Engine } from './duckdb.js';
import { named } from './duckdb.js';

/** Rows of a vector of DuckDB. */
const ROWS = 2048;
const WORD = 0x1_0000_0000;

/** A column of 64-bit numbers, of which some may be missing. */
export class BigintColumn {
  readonly words = new Uint32Array(ROWS * 2);
  readonly validity = new Uint32Array(ROWS / 32);
  hasNulls = false;

  /** @param value a whole number from 0 to 2^53 */
  set(row: number, value: number): void {
    this.words[row * 2] = value;
    this.words[row * 2 + 1] = Math.floor(value / WORD);
  }

  setWords(row: number, lo: number, hi: number): void {
    this.words[row * 2] = lo;
    this.words[row * 2 + 1] = hi;
  }

  setNull(row: number): void {
    this.validity[row >> 5] &= ~(1 << (row & 31));
    this.hasNulls = true;
  }

  reset(): void {
    this.validity.fill(0xffff_ffff);
    this.hasNulls = false;
  }
}

export class TableWriter {
  readonly columns: readonly BigintColumn[];
  /** Of the row that is being written. */
  row = 0;
  total = 0;
  private readonly chunk: import('@duckdb/node-api').DuckDBDataChunk;

  private constructor(
    private readonly engine: Engine,
    private readonly appender: import('@duckdb/node-api').DuckDBAppender,
    names: readonly string[],
  ) {
    this.columns = names.map(() => new BigintColumn());
    for (const column of this.columns) column.reset();
    this.chunk = engine.api.DuckDBDataChunk.create(names.map(() => engine.api.BIGINT));
  }

  /** Makes the table, all of whose columns are BIGINT. */
  static async create(
    engine: Engine,
    connection: Connection,
    table: string,
    names: readonly string[],
  ): Promise<TableWriter> {
    await connection.run(
      `CREATE TABLE ${named(table)} (${names.map((name) => `${named(name)} BIGINT`).join(', ')})`,
    );
    return new TableWriter(engine, await connection.createAppender(table), names);
  }

  endRow(): void {
    this.row++;
    if (this.row === ROWS) this.flush();
  }

  close(): void {
    this.flush();
    this.appender.closeSync();
  }

  private flush(): void {
    const { row: count, chunk } = this;
    if (count === 0) return;
    const { bindings } = this.engine;
    bindings.data_chunk_reset(chunk.chunk);
    this.columns.forEach((column, index) => {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
      bindings.copy_data_to_vector(vector, 0, column.words.buffer, 0, count * 8);
      if (column.hasNulls) {
        bindings.vector_ensure_validity_writable(vector);
        bindings.copy_data_to_vector_validity(vector, 0, column.validity.buffer, 0, ROWS / 8);
        column.reset();
      }
    });
    bindings.data_chunk_set_size(chunk.chunk, count);
    this.appender.appendDataChunk(chunk);
    this.total += count;
    this.row = 0;
  }
}
