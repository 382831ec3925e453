/** The instructions in sight and where each lies on the screen. Its arrays are used again for every picture. */
import type { RowBlock } from '../../model/blocks.js';

export class RowLayout {
  /** Of a row, CSS pixels. */
  height = 0;
  count = 0;
  readonly rows: number[] = [];
  /** null: on its way. */
  readonly blocks: (RowBlock | null)[] = [];
  /** Of the row in its block. */
  readonly indices: number[] = [];
  /** Upper edge, CSS pixels below that of the plot. */
  readonly tops: number[] = [];
  /** The cycle at the left edge of the plot. */
  readonly origins: number[] = [];

  begin(height: number): void {
    this.height = height;
    this.count = 0;
  }

  add(row: number, block: RowBlock | null, index: number, top: number, origin: number): void {
    const at = this.count++;
    this.rows[at] = row;
    this.blocks[at] = block;
    this.indices[at] = index;
    this.tops[at] = top;
    this.origins[at] = origin;
  }
}

/** Where a row lies, on the screen or beside it. */
export interface RowPlace {
  readonly top: number;
  readonly origin: number;
}
