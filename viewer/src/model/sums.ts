/** Sums over time: what happened in any range of cycles takes two look-ups, since columns are kept as running totals. */

/** Columns of every trace, followed by one per stage and one per stall reason. */
export const Column = {
  BORN: 0,
  RETIRED: 1,
  SQUASHED: 2,
  /** Cycles in which something was squashed. */
  FLUSHES: 3,
  /** Instructions in flight, summed over cycles. */
  IN_FLIGHT: 4,
  /** Cycles with a stall of any reason. */
  STALLED: 5,
  /** Instructions in each stage, summed over cycles. */
  STAGES: 6,
} as const;

export interface SumsShape {
  readonly stages: number;
  readonly reasons: number;
}

export const columnsOf = ({ stages, reasons }: SumsShape): number => Column.STAGES + stages + reasons;
/** Column of a stall reason. */
export const reasonColumn = ({ stages }: SumsShape, reason: number): number =>
  Column.STAGES + stages + reason;

/** Numbers of equal intervals, as they travel between threads. A column that is not known is null. */
export interface SumsPart {
  /** First cycle, a multiple of the step. */
  readonly from: number;
  /** Cycles of an interval. */
  readonly step: number;
  readonly columns: readonly (Float64Array | null)[];
}

export interface Sums {
  readonly step: number;
  /** Cycles covered, multiples of the step. */
  readonly from: number;
  readonly to: number;
  /** Whether the columns of stages are known. */
  readonly hasStages: boolean;
  /** Sum of a column over cycles `[from, to)`, both multiples of the step within what is covered. */
  sum(column: number, from: number, to: number): number;
}

export class IntervalSums implements Sums {
  readonly step: number;
  readonly from: number;
  readonly to: number;
  readonly hasStages: boolean;
  /** Number i is the sum of the intervals before i. */
  private readonly totals: readonly (Float64Array | null)[];

  constructor({ from, step, columns }: SumsPart) {
    const length = columns.find((column) => column !== null)?.length ?? 0;
    this.from = from;
    this.step = step;
    this.to = from + length * step;
    this.hasStages = columns[Column.STAGES] != null;
    this.totals = columns.map((column) => column && totalsOf(column));
  }

  sum(column: number, from: number, to: number): number {
    const totals = this.totals[column];
    if (!totals) return 0;
    const last = totals.length - 1;
    const a = Math.max(0, Math.min((from - this.from) / this.step, last));
    const b = Math.max(a, Math.min((to - this.from) / this.step, last));
    return totals[b]! - totals[a]!;
  }
}

function totalsOf(values: Float64Array): Float64Array {
  const totals = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) totals[i + 1] = totals[i]! + values[i]!;
  return totals;
}

/** Why there are no sums of a trace that was read to its end. @param periodPs of the core's clock; 0: not known */
export const whyNoSums = (periodPs: number): string =>
  periodPs > 0 ? 'a part of the trace cannot be read' : 'the clock of the core is not known';
