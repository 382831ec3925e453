/** Retired instructions of one run that are read and not compared yet: columns, the oldest first. */

const FIRST_CAPACITY = 1 << 13;

/** Instructions as they come from the trace. */
export interface RetiredColumns {
  readonly count: number;
  /** Of the table that both runs share: `statics.ts`. */
  readonly statics: Int32Array;
  /** Cycle in which each retired. */
  readonly cycles: Float64Array;
  /** Row in its trace; -1: not known. */
  readonly rows: Float64Array;
}

export class RetiredQueue {
  /** Instructions taken so far. */
  taken = 0;
  /** No more will come. */
  isEnded = false;
  private statics = new Int32Array(FIRST_CAPACITY);
  private cycles = new Float64Array(FIRST_CAPACITY);
  private rows = new Float64Array(FIRST_CAPACITY);
  private head = 0;
  private tail = 0;

  get length(): number {
    return this.tail - this.head;
  }

  push({ count, statics, cycles, rows }: RetiredColumns): void {
    this.makeRoom(count);
    this.statics.set(statics.subarray(0, count), this.tail);
    this.cycles.set(cycles.subarray(0, count), this.tail);
    this.rows.set(rows.subarray(0, count), this.tail);
    this.tail += count;
  }

  /** @param at instructions after the oldest */
  staticAt(at: number): number {
    return this.statics[this.head + at]!;
  }

  cycleAt(at: number): number {
    return this.cycles[this.head + at]!;
  }

  rowAt(at: number): number {
    return this.rows[this.head + at]!;
  }

  drop(count: number): void {
    this.head += count;
    this.taken += count;
  }

  private makeRoom(count: number): void {
    const { length } = this;
    if (this.tail + count <= this.statics.length) return;
    const capacity = Math.max(this.statics.length, 2 ** Math.ceil(Math.log2((length + count) * 2)));
    const moved = <T extends Int32Array | Float64Array>(from: T, to: T): T => {
      to.set(from.subarray(this.head, this.tail));
      return to;
    };
    this.statics = moved(this.statics, new Int32Array(capacity));
    this.cycles = moved(this.cycles, new Float64Array(capacity));
    this.rows = moved(this.rows, new Float64Array(capacity));
    this.head = 0;
    this.tail = length;
  }
}
