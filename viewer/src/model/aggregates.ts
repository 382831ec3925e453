/**
 * Sums over buckets of cycles of the whole trace, for pictures in which a pixel holds many cycles. Sums of any range of buckets take two
 * look-ups: the columns are kept as running totals.
 */

/** Columns of every trace, followed by one per stage and one per stall reason. */
export const Column = { BORN: 0, RETIRED: 1, SQUASHED: 2, FLUSHES: 3, STAGES: 4 } as const;

/** Stall reasons that have a column; what is rarer shares the last. */
export const MAX_REASONS = 15;

export interface AggregateShape {
  readonly bucketCycles: number;
  readonly buckets: number;
  readonly stages: number;
  readonly reasons: number;
}

export const columnsOf = (shape: AggregateShape): number => Column.STAGES + shape.stages + shape.reasons;

/** What one segment adds: `columns` numbers for each bucket from `first` on. */
export interface AggregatePart {
  readonly first: number;
  readonly values: Float64Array;
}

const MAX_BUCKETS = 1 << 18;
const MIN_BUCKET_CYCLES = 16;

/** The smallest power of two that keeps the number of buckets bounded. */
export function bucketCyclesFor(cycles: number): number {
  let width = MIN_BUCKET_CYCLES;
  while (cycles / width > MAX_BUCKETS) width *= 2;
  return width;
}

export class Aggregates {
  readonly columns: number;
  /** Buckets up to here are summed up. */
  known = 0;
  /** Row `b` holds the totals of the buckets before `b`. */
  private readonly totals: Float64Array;

  constructor(readonly shape: AggregateShape) {
    this.columns = columnsOf(shape);
    this.totals = new Float64Array((shape.buckets + 1) * this.columns);
  }

  /** Adds what a segment holds. Parts come in the order of time, each after all that begin before it. */
  add({ first, values }: AggregatePart): void {
    const { columns, totals } = this;
    const count = Math.min(values.length / columns, this.shape.buckets - first);
    const end = first + count;
    // Buckets behind those known so far repeat the last total until something is added to them.
    for (let bucket = this.known; bucket < end; bucket++) {
      totals.copyWithin((bucket + 1) * columns, bucket * columns, (bucket + 1) * columns);
    }
    const added = new Float64Array(columns);
    const last = Math.max(this.known, end);
    for (let bucket = first; bucket < last; bucket++) {
      if (bucket < end) {
        for (let c = 0; c < columns; c++) added[c]! += values[(bucket - first) * columns + c]!;
      }
      const at = (bucket + 1) * columns;
      for (let c = 0; c < columns; c++) totals[at + c]! += added[c]!;
    }
    this.known = last;
  }

  /** Sum of a column over buckets `[from, to)`. */
  sum(column: number, from: number, to: number): number {
    const { columns, totals, known } = this;
    const a = Math.max(0, Math.min(from, known));
    const b = Math.max(a, Math.min(to, known));
    return totals[b * columns + column]! - totals[a * columns + column]!;
  }
}
