/** Numbers over columns of time, filled while a stretch of the trace is replayed. Times are cycles of the axis, with fractions. */
import type { Columns, CounterColumns, EventColumns, OccupancyColumns } from '../model/window.js';

/** A value that steps: how much of it there was in each column, over time. */
export class OccupancyTrack {
  private readonly sums: Float64Array;
  private readonly min: Float64Array;
  private readonly max: Float64Array;
  private since: number;

  /**
   * @param count occupied slots at the beginning
   * @param from where the trace or the columns begin, whichever is later
   */
  constructor(
    readonly id: number,
    private readonly columns: Columns,
    private count: number,
    private readonly from: number,
  ) {
    this.since = from;
    this.sums = new Float64Array(columns.length);
    this.min = new Float64Array(columns.length).fill(Number.NaN);
    this.max = new Float64Array(columns.length).fill(Number.NaN);
  }

  /** Between changes of one instant no time passes: only the last counts. */
  change(count: number, now: number): void {
    if (now > this.since) this.lasted(now);
    this.count = count;
  }

  /** @param end where the trace or the columns end, whichever is earlier */
  finish(end: number): OccupancyColumns {
    if (end > this.since) this.lasted(end);
    const { from: first, step, length } = this.columns;
    const mean = this.sums.map((sum, index) => {
      const from = Math.max(this.from, first + index * step);
      const to = Math.min(end, first + (index + 1) * step);
      return to > from ? sum / (to - from) : Number.NaN;
    });
    return { id: this.id, from: first, step, length, mean, min: this.min, max: this.max };
  }

  private lasted(now: number): void {
    const { from, step, length } = this.columns;
    const { count, since, sums, min, max } = this;
    for (let at = since, index = Math.floor((since - from) / step); at < now && index < length; index++) {
      const end = Math.min(now, from + (index + 1) * step);
      sums[index]! += count * (end - at);
      // NaN: nothing yet.
      if (!(min[index]! <= count)) min[index] = count;
      if (!(max[index]! >= count)) max[index] = count;
      at = end;
    }
    this.since = now;
  }
}

export class CounterTrack {
  private readonly totals: Float64Array;
  private filled = 0;

  constructor(
    readonly id: number,
    private readonly columns: Columns,
    private readonly start: number,
  ) {
    this.totals = new Float64Array(columns.length);
    this.last = start;
  }

  private last: number;

  change(value: number, column: number): void {
    this.totals.fill(this.last, this.filled, column);
    this.filled = column;
    this.last = value;
  }

  finish(): CounterColumns {
    this.totals.fill(this.last, this.filled);
    return { ...this.columns, id: this.id, start: this.start, totals: this.totals };
  }
}

export class EventTrack {
  readonly counts: Float64Array;

  constructor(
    readonly id: number,
    private readonly columns: Columns,
  ) {
    this.counts = new Float64Array(columns.length);
  }

  finish(): EventColumns {
    return { ...this.columns, id: this.id, counts: this.counts };
  }
}
