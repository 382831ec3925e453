/**
 * Rows of a table that become pages, row groups and files. Its memory is taken at the first row: a trace may have many kinds of events, of which few occur.
 *
 * Datasets have their own writer because of what others cost. Exports of three traces through hyparquet-writer 0.17 took 2.8 to 4.3 times the
 * processor time and 2.5 to 3.5 times the memory, and made files 1.04 to 1.6 times as large; through DuckDB 1.5 (data chunks, then COPY) 3.6
 * to 5.2 times the time and 3.5 to 5.9 times the memory, files 1.14 to 3.7 times as large. DuckDB is also an optional package.
 */
import { ColumnChunk } from './column-chunk.js';
import type { Column } from './columns.js';
import { type PageCodec, pageCodec } from './compression.js';
import { parquetKernel } from './kernel/parquet-kernel.js';
import { ListColumn } from './list-column.js';
import { ParquetFile } from './parquet-file.js';
import { leavesOf, type SchemaNode } from './schema.js';

/** Engines skip row groups by the bounds of their columns. */
const GROUP_ROWS = 122_880;
/** A page is as large as the group, as long as the budget has room for it. */
const SURE_ROWS = 8192;
const FIRST_ROWS = 512;
const PAGE_ENTRIES = 262_144;
const VALUE_BYTES = 8;
/** Bounds what is held encoded. */
const GROUP_BYTES = 16 << 20;

/** What the tables of an export may hold unencoded, together: a trace may have hundreds of them. Large pages are read faster, and are smaller. */
export class PageBudget {
  private held = 0;

  constructor(private readonly most = 64 << 20) {}

  /** @returns false: there is not as much left */
  take(bytes: number): boolean {
    if (this.held + bytes > this.most) return false;
    this.held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }
}

export class TableRows<C extends Column = Column> {
  /** Of the row that is being written, in the page. */
  row = 0;
  private capacity = 0;
  private groupRows = 0;
  /** Of the budget. */
  private taken = 0;
  private readonly nodes: readonly SchemaNode[];
  private readonly lists: readonly ListColumn[];
  /** By column, for each of its leaves. */
  private readonly chunks: readonly (readonly ColumnChunk[])[];

  constructor(
    readonly columns: readonly C[],
    private readonly budget = new PageBudget(),
    codec: PageCodec = pageCodec(),
  ) {
    this.nodes = columns.map(({ node }) => node);
    this.lists = columns.filter((column) => column instanceof ListColumn);
    this.chunks = this.nodes.map((node) => leavesOf([node]).map((leaf) => new ColumnChunk(leaf, codec)));
  }

  /** There is something that is in no file yet. */
  get hasRows(): boolean {
    return this.groupRows + this.row > 0;
  }

  /** There is enough for a row group, which `writeGroup` writes. */
  get isFull(): boolean {
    if (this.groupRows + this.row >= GROUP_ROWS) return true;
    if (this.columns.some(({ isFull }) => isFull)) return true;
    return this.chunks.flat().reduce((sum, { bytes }) => sum + bytes, 0) >= GROUP_BYTES;
  }

  /** Index of the next row in the columns. */
  begin(): number {
    if (this.row === this.capacity && !this.grow()) this.endPage();
    for (const list of this.lists) list.begin(this.row);
    return this.row;
  }

  endRow(): void {
    this.endRows(1);
  }

  /** Room for some rows at a time: how many of `wanted` there may be. They begin at `row`, and `endRows` ends them. */
  beginRows(wanted: number): number {
    let canGrow = true;
    while (canGrow && this.capacity - this.row < wanted) canGrow = this.grow();
    if (this.row === this.capacity) this.endPage();
    const count = Math.min(wanted, this.capacity - this.row);
    for (const list of this.lists) list.counts.fill(0, this.row, this.row + count);
    return count;
  }

  endRows(count: number): void {
    this.row += count;
    if (this.row === GROUP_ROWS || this.lists.some(({ size }) => size >= PAGE_ENTRIES)) this.endPage();
  }

  /** Between segments, before `isFull` is asked: pages name values that are looked up here. */
  async settle(): Promise<void> {
    for (const column of this.columns) await column.settle();
  }

  /** Writes what there is as a row group of a file of these columns. */
  async writeGroup(file: ParquetFile): Promise<void> {
    this.endPage();
    if (this.groupRows === 0) return;
    await this.settle();
    const dictionaries = this.columns.flatMap((column) => column.dictionaries());
    await file.addGroup(this.groupRows, this.chunks.flat(), dictionaries);
    this.groupRows = 0;
  }

  newFile(path: string): ParquetFile {
    const unsigned = this.columns.filter(({ isUnsigned }) => isUnsigned).map(({ name }) => name);
    return new ParquetFile(path, this.nodes, unsigned);
  }

  /** After the last row. */
  close(): void {
    this.budget.release(this.taken);
    this.taken = 0;
    this.capacity = 0;
    for (const column of this.columns) column.release();
  }

  /** @returns false: the page is as large as it may be */
  private grow(): boolean {
    const { capacity, columns } = this;
    const rows = Math.min(GROUP_ROWS, Math.max(FIRST_ROWS, capacity * 4));
    if (rows === capacity) return false;
    if (rows > SURE_ROWS) {
      const bytes = (rows - capacity) * columns.length * VALUE_BYTES;
      if (!this.budget.take(bytes)) return false;
      this.taken += bytes;
    }
    this.capacity = rows;
    for (const column of columns) column.reserve(rows);
    return true;
  }

  private endPage(): void {
    if (this.row === 0) return;
    const kernel = parquetKernel();
    this.columns.forEach((column, index) => {
      column.addPage(kernel, this.row, this.chunks[index]);
    });
    this.groupRows += this.row;
    this.row = 0;
  }
}
