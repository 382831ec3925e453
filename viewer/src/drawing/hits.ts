/** What the search found: marked at rows, and in pictures of time. */
import { lowerBound } from '../model/blocks.js';

export class Hits {
  /** Both rising. */
  constructor(
    private readonly rows: Float64Array,
    private readonly cycles: Float64Array,
  ) {}

  has(row: number): boolean {
    return this.rows[lowerBound(this.rows, row)] === row;
  }

  /** Whether one lies in `[from, to)`. */
  between(from: number, to: number): boolean {
    return this.cycles[lowerBound(this.cycles, from)]! < to;
  }
}
