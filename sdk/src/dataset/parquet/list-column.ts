/** A column of lists of structs, or of maps: the number of entries of each row, and the fields of all entries one after the other. */
import type { ColumnChunk, DictionaryPage } from './column-chunk.js';
import { type Column, type FlatColumn, grown, TextColumn } from './columns.js';
import type { ParquetKernel } from './kernel/parquet-kernel.js';
import { listNode, mapNode, type SchemaNode } from './schema.js';

const MIN_ENTRIES = 1024;

export class ListColumn implements Column {
  /** Of each row. */
  counts = new Uint32Array(0);
  private entries = 0;
  private capacity = 0;

  constructor(
    readonly name: string,
    readonly fields: readonly FlatColumn[],
    readonly node: SchemaNode = listNode(
      name,
      fields.map((field) => field.node),
    ),
  ) {}

  get isFull(): boolean {
    return this.fields.some((field) => field.isFull);
  }

  /** Of the present page. */
  get size(): number {
    return this.entries;
  }

  begin(row: number): void {
    this.counts[row] = 0;
  }

  /** Index of a new entry of the row, whose fields are set next. */
  add(row: number): number {
    this.counts[row]++;
    if (this.entries === this.capacity) {
      this.capacity = Math.max(MIN_ENTRIES, this.capacity * 2);
      for (const field of this.fields) field.reserve(this.capacity);
    }
    return this.entries++;
  }

  reserve(rows: number): void {
    this.counts = grown(this.counts, new Uint32Array(rows));
  }

  release(): void {
    this.capacity = 0;
    for (const field of this.fields) field.release();
  }

  addPage(kernel: ParquetKernel, rows: number, chunks: readonly ColumnChunk[]): void {
    const { counts, entries } = this;
    this.fields.forEach((field, index) => {
      const chunk = chunks[index];
      kernel.reset();
      const present = field.present(kernel, entries);
      const levels = kernel.listLevels(counts, rows, entries, present, chunk.leaf.maxDefinition);
      field.write(kernel, present, levels, chunk);
    });
    this.entries = 0;
  }

  async settle(): Promise<void> {
    for (const field of this.fields) await field.settle();
  }

  dictionaries(): (DictionaryPage | null)[] {
    return this.fields.flatMap((field) => field.dictionaries());
  }
}

/** A map from texts to texts. */
export class MapColumn extends ListColumn {
  private readonly key: TextColumn;
  private readonly value: TextColumn;

  constructor(name: string) {
    const [key, value] = [new TextColumn('key', true), new TextColumn('value')];
    super(name, [key, value], mapNode(name, key.node, value.node));
    this.key = key;
    this.value = value;
  }

  setMap(row: number, entries: Iterable<readonly [string, string]>): void {
    this.begin(row);
    for (const [key, value] of new Map(entries)) {
      const entry = this.add(row);
      this.key.setText(entry, key);
      this.value.setText(entry, value);
    }
  }
}
