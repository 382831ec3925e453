/** The Parquet files of one table of one core: rows are collected in a table of the scratch database, and written as soon as there are enough for a file. */
import { join } from 'node:path';
import { type Connection, type Engine, quoted } from '../engine/duckdb.js';
import type { ListColumn } from '../engine/list-column.js';
import { TableWriter } from '../engine/table-writer.js';

/** Bounds the scratch database; a file of this many rows has some row groups. */
const PART_ROWS = 1_000_000;
/** How all files are written. */
export const PARQUET = 'FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880';

/** What an export writes to. */
export interface Destination {
  readonly engine: Engine;
  readonly connection: Connection;
  /** Directory of a core's part of a table; `key` is the value of the partition above, of tables that have one. */
  partOf(table: string, core: string, key?: string): Promise<string>;
  /** A name for a table of the scratch database. */
  scratchName(): string;
}

export interface PartTable {
  readonly table: string;
  readonly core: string;
  readonly key?: string | undefined;
}

export interface PartColumns {
  /** All BIGINT. */
  readonly names: readonly string[];
  readonly lists?: readonly ListColumn[];
  /** The query that makes rows of the file from those of the scratch table. */
  select(source: string): Promise<string> | string;
}

export class PartFiles {
  private parts = 0;

  private constructor(
    private readonly to: Destination,
    private readonly of: PartTable,
    readonly rows: TableWriter,
    private readonly select: PartColumns['select'],
  ) {}

  static async create(
    to: Destination,
    of: PartTable,
    { names, lists, select }: PartColumns,
  ): Promise<PartFiles> {
    const rows = await TableWriter.create(to.engine, to.connection, to.scratchName(), names, lists);
    return new PartFiles(to, of, rows, select);
  }

  /** There are enough rows for a file. */
  get isFull(): boolean {
    return this.rows.total >= PART_ROWS;
  }

  /** Writes a file when there are enough rows. Between segments, since it waits. */
  async rotate(): Promise<void> {
    if (this.isFull) await this.next();
  }

  /** Writes what there is as a file, and begins the next one. */
  async next(): Promise<void> {
    await this.write();
    await this.rows.restart();
  }

  async finish(): Promise<void> {
    if (this.rows.total > 0) await this.write();
    else this.rows.close();
    await this.to.connection.run(`DROP TABLE ${this.rows.table}`);
  }

  private async write(): Promise<void> {
    this.rows.close();
    await writePart(this.to, this.of, await this.select(this.rows.table), this.parts++);
  }
}

/** Writes the rows of a query as one file. */
export async function writePart(to: Destination, of: PartTable, query: string, number = 0): Promise<void> {
  const path = join(await to.partOf(of.table, of.core, of.key), `part-${number}.parquet`);
  await to.connection.run(`COPY (${query}) TO ${quoted(path)} (${PARQUET})`);
}
