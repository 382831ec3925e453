/** Rows of a table that become pages, row groups and files. Its memory is taken at the first row: a trace may have many kinds of events, of which few occur. */
import { ColumnChunk } from './column-chunk.js';
import type { Column } from './columns.js';
import { type PageCodec, pageCodec } from './compression.js';
import { parquetKernel } from './kernel/parquet-kernel.js';
import { ListColumn } from './list-column.js';
import { ParquetFile } from './parquet-file.js';
import { leavesOf, type SchemaNode } from './schema.js';

/** Bounds what is held unencoded. */
const PAGE_ROWS = 20_480;
const FIRST_ROWS = 512;
const PAGE_ENTRIES = 65_536;
/** Bound what is held encoded; engines skip row groups by their bounds. */
const GROUP_ROWS = 122_880;
const GROUP_BYTES = 16 << 20;

export class TableRows<C extends Column = Column> {
  /** Of the row that is being written, in the page. */
  row = 0;
  private capacity = 0;
  private groupRows = 0;
  private readonly nodes: readonly SchemaNode[];
  private readonly lists: readonly ListColumn[];
  /** By column, for each of its leaves. */
  private readonly chunks: readonly (readonly ColumnChunk[])[];

  constructor(
    readonly columns: readonly C[],
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
    if (this.row === this.capacity) this.grow();
    for (const list of this.lists) list.begin(this.row);
    return this.row;
  }

  endRow(): void {
    this.row++;
    if (this.row === PAGE_ROWS || this.lists.some(({ size }) => size >= PAGE_ENTRIES)) this.endPage();
  }

  /** Room for some rows at a time: how many of `wanted` there may be. They begin at `row`, and `endRows` ends them. */
  beginRows(wanted: number): number {
    while (this.capacity - this.row < wanted && this.capacity < PAGE_ROWS) this.grow();
    const count = Math.min(wanted, this.capacity - this.row);
    for (const list of this.lists) list.counts.fill(0, this.row, this.row + count);
    return count;
  }

  endRows(count: number): void {
    this.row += count;
    if (this.row === PAGE_ROWS || this.lists.some(({ size }) => size >= PAGE_ENTRIES)) this.endPage();
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

  private grow(): void {
    this.capacity = Math.min(PAGE_ROWS, Math.max(FIRST_ROWS, this.capacity * 4));
    for (const column of this.columns) column.reserve(this.capacity);
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
