/**
 * Which place of one run is which of the other: instructions that both retired, in the order of the program. When there are too many, every second
 * one is dropped, and places between two are interpolated.
 */

const PAIR_COLUMNS = ['retiredA', 'retiredB', 'rowA', 'rowB', 'cycleA', 'cycleB'] as const;
type PairColumn = (typeof PAIR_COLUMNS)[number];
export type PairColumns = Readonly<Record<PairColumn, Float64Array>>;

/** 48 bytes each. */
const MAX_PAIRS = 1 << 20;
const FIRST_CAPACITY = 1 << 12;

export const emptyColumns = (capacity: number): Record<PairColumn, Float64Array> =>
  Object.fromEntries(PAIR_COLUMNS.map((name) => [name, new Float64Array(capacity)])) as never;

export class Pairs {
  count = 0;
  /** Every how many-th pair is kept. */
  stride = 1;
  private seen = 0;
  private columns = emptyColumns(FIRST_CAPACITY);

  constructor(private readonly maximum: number = MAX_PAIRS) {}

  append(more: PairColumns, count: number): void {
    for (let at = 0; at < count; at++) {
      if (this.seen++ % this.stride !== 0) continue;
      if (this.count === this.maximum) {
        this.thin();
        if ((this.seen - 1) % this.stride !== 0) continue;
      }
      if (this.count === this.columns.rowA.length) this.grow();
      for (const name of PAIR_COLUMNS) this.columns[name][this.count] = more[name][at]!;
      this.count++;
    }
  }

  value(column: PairColumn, at: number): number {
    return this.columns[column][at]!;
  }

  /** Cycles that B is behind A at a pair, counted from the first pair: what it lost since. */
  drift(at: number): number {
    const { cycleA, cycleB } = this.columns;
    return cycleB[at]! - cycleA[at]! - (cycleB[0]! - cycleA[0]!);
  }

  /**
   * The place in another column that belongs to a place in a column: between pairs in proportion, outside of them as far away as from the nearest.
   * null: there are no pairs.
   */
  map(from: PairColumn, value: number, to: PairColumn): number | null {
    if (this.count === 0) return null;
    const [source, target] = [this.columns[from], this.columns[to]];
    const at = this.find(from, value);
    if (at < 0) return target[0]! + (value - source[0]!);
    if (at === this.count - 1) return target[at]! + (value - source[at]!);
    const width = source[at + 1]! - source[at]!;
    const part = width > 0 ? (value - source[at]!) / width : 0;
    return target[at]! + part * (target[at + 1]! - target[at]!);
  }

  /** The last pair at or before a value of a column that rises; -1: it is before all of them. */
  find(column: PairColumn, value: number): number {
    const source = this.columns[column];
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (source[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * The next pair, in a direction, over which the drift changes by at least this number of cycles.
   * @param from pair not looked at any more
   */
  nextChange(from: number, direction: 1 | -1, cycles: number): number | null {
    const first = direction > 0 ? Math.max(1, from + 1) : from - 1;
    for (let at = first; at > 0 && at < this.count; at += direction)
      if (Math.abs(this.drift(at) - this.drift(at - 1)) >= cycles) return at;
    return null;
  }

  private grow(): void {
    const wider = emptyColumns(this.columns.rowA.length * 2);
    for (const name of PAIR_COLUMNS) wider[name].set(this.columns[name]);
    this.columns = wider;
  }

  private thin(): void {
    this.stride *= 2;
    this.count = Math.ceil(this.count / 2);
    for (const name of PAIR_COLUMNS) {
      const column = this.columns[name];
      for (let at = 0; at < this.count; at++) column[at] = column[2 * at]!;
    }
  }
}
