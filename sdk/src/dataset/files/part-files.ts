/** The Parquet files of one table of one core: rows are encoded as they come, and written as soon as there are enough for a row group. */
import { join } from 'node:path';
import type { Column } from '../parquet/columns.js';
import type { ParquetFile } from '../parquet/parquet-file.js';
import type { PageBudget } from '../parquet/table-rows.js';
import { TableRows } from '../parquet/table-rows.js';

/** Engines read several files at a time; a file of this many rows has some row groups. */
const PART_ROWS = 1_000_000;

/** What an export writes to. */
export interface Destination {
  /** Directory of a core's part of a table; `key` is the value of the partition above, of tables that have one. */
  partOf(table: string, core: string, key?: string): Promise<string>;
  /** Where files can be made that the dataset does not get. */
  readonly scratch: string;
  readonly budget: PageBudget;
  /** How many were written of each table. */
  readonly rows: Record<string, number>;
}

export interface PartTable {
  readonly table: string;
  readonly core: string;
  readonly key?: string | undefined;
}

export class PartFiles {
  readonly rows: TableRows;
  private file: ParquetFile | null = null;
  private parts = 0;

  /** Nothing is made before the first row. */
  constructor(
    private readonly to: Destination,
    private readonly of: PartTable,
    columns: readonly Column[],
  ) {
    this.rows = new TableRows(columns, to.budget);
  }

  /** Writes what there is enough of. Between segments, since it waits. */
  async rotate(): Promise<void> {
    if (!this.rows.hasRows) return;
    await this.rows.settle();
    if (this.rows.isFull) await this.writeGroup();
  }

  /** @param evenEmpty makes a file without rows where there are none */
  async finish({ evenEmpty = false } = {}): Promise<void> {
    if (this.rows.hasRows) await this.writeGroup();
    else if (evenEmpty && this.parts === 0) this.file = await this.newFile();
    await this.file?.close();
    this.file = null;
    this.rows.close();
  }

  private async writeGroup(): Promise<void> {
    this.file ??= await this.newFile();
    const before = this.file.rows;
    await this.rows.writeGroup(this.file);
    const { rows } = this.to;
    rows[this.of.table] = (rows[this.of.table] ?? 0) + this.file.rows - before;
    if (this.file.rows < PART_ROWS) return;
    await this.file.close();
    this.file = null;
  }

  private async newFile(): Promise<ParquetFile> {
    const { table, core, key } = this.of;
    const directory = await this.to.partOf(table, core, key);
    return this.rows.newFile(join(directory, `part-${this.parts++}.parquet`));
  }
}
