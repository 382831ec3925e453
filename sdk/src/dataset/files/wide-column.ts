/** A column of a wide field (docs/reference/format.md#wide-fields): its pieces come one by one, and the file has the text of each value. */
import { joinPieces, wideText } from '../../format/wide-fields.js';
import type { ColumnChunk } from '../parquet/column-chunk.js';
import { TextColumn, WordColumn } from '../parquet/columns.js';
import type { ParquetKernel } from '../parquet/kernel/parquet-kernel.js';

export class WideColumn extends TextColumn {
  /** The lowest first. */
  readonly pieces: readonly WordColumn[];
  /** Which bits are unknown; empty for two states. */
  readonly unknown: readonly WordColumn[];

  constructor(
    name: string,
    private readonly bits: number,
    pieces: number,
    unknown: number,
  ) {
    super(name);
    const columns = (count: number): WordColumn[] =>
      Array.from({ length: count }, () => new WordColumn(name));
    this.pieces = columns(pieces);
    this.unknown = columns(unknown);
  }

  override reserve(rows: number): void {
    super.reserve(rows);
    for (const column of [...this.pieces, ...this.unknown]) column.reserve(rows);
  }

  override addPage(kernel: ParquetKernel, rows: number, chunks: readonly ColumnChunk[]): void {
    const numberOf = (columns: readonly WordColumn[], row: number): bigint =>
      joinPieces(columns.map((column) => column.wordAt(row)));
    for (let row = 0; row < rows; row++)
      this.setText(row, wideText(this.bits, numberOf(this.pieces, row), numberOf(this.unknown, row)));
    super.addPage(kernel, rows, chunks);
  }
}
