/** What is asked of a counter over a range, and what is found of it, until its report is made. */
import type { CounterSummary, TraceSummary } from '../../format/tsum.js';
import type { StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import {
  indexStep,
  intervalStart,
  type PsRange,
  type QueryRange,
  type SeriesGrid,
  seriesGrid,
  tickOf,
} from '../cpu/query-range.js';
import type { CounterReplay, PerCycle } from './counter-replay.js';

export interface CounterOptions extends QueryRange {
  /** By path, own name or storage id; by default all counters (of `core`, where one is given). */
  readonly counters?: readonly (string | number)[] | undefined;
  /** Also a series of at most this number of intervals, 1 to 65,536. */
  readonly points?: number | undefined;
  /** Also the least and greatest change per cycle. Without this and `points` only checkpoints are read: quick for any range. */
  readonly perCycle?: boolean | undefined;
  /** Replays the whole range for these, also where the trace's summary has them. */
  readonly exact?: boolean | undefined;
}

export interface CounterPoint {
  /** In ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Change of the value in the interval. */
  readonly delta: bigint;
  /** Value at its end. */
  readonly value: bigint;
}

export interface CounterReport {
  readonly storageId: number;
  /** Scope path and name: `core0/committed_insns`. */
  readonly name: string;
  /** The counter's own name: `committed_insns`. */
  readonly label: string;
  /** The part of the range that the trace covers, in ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Period of its clock in ps; 0n: unknown, there are no cycles. */
  readonly periodPs: bigint;
  /** Length of the range in cycles, which may be fractional; null where there are none. */
  readonly cycles: number | null;
  /** Value before the first frame of the range and after its last one (unsigned). */
  readonly startValue: bigint;
  readonly endValue: bigint;
  /** How much the value changed, modulo 2^64, as a signed number. */
  readonly delta: bigint;
  /** `delta` per cycle; null where there are no cycles. */
  readonly rate: number | null;
  /** Extremes of the cycles that changed it; null when not asked for, when none did, or where there are no cycles. */
  readonly perCycle: PerCycle | null;
  /** null when not asked for. */
  readonly series: readonly CounterPoint[] | null;
  /** Where the numbers come from. */
  readonly source: 'states' | 'index' | 'summary' | 'replay';
}

/** Buckets of the summary that lie wholly in a range, and where they begin and end in ps. */
export interface Middle {
  readonly first: number;
  /** Exclusive. */
  readonly last: number;
  readonly fromPs: bigint;
  readonly toPs: bigint;
}

/** One counter, while its report is made. */
export class CounterWork {
  readonly tickPs: bigint;
  readonly grid: SeriesGrid | null;
  readonly baseTicks: bigint;
  startValue = 0n;
  endValue = 0n;
  extremes: PerCycle | null = null;
  deltas: readonly bigint[] | null = null;
  source: CounterReport['source'] = 'states';

  constructor(
    readonly def: StorageDef,
    readonly periodPs: bigint,
    readonly range: PsRange,
    points: number | undefined,
    summary: TraceSummary | null,
    readonly known: CounterSummary | null,
    private readonly totalTimePs: bigint,
  ) {
    this.tickPs = tickOf(periodPs);
    this.baseTicks = BigInt(summary?.baseIntervalCycles ?? 1);
    this.grid = points === undefined ? null : seriesGrid(range, this.tickPs, points, this.step(points));
  }

  /** Intervals of many cycles begin and end where buckets of an index do, and in any case where those of the summary do. */
  private step(points: number): bigint {
    const { range, periodPs, tickPs, known, baseTicks } = this;
    const base = known ? baseTicks : 1n;
    const step = periodPs > 0n ? indexStep((range.to - range.from) / tickPs, points) : 1n;
    return step % base === 0n ? step : base;
  }

  /** The part of the range that the summary covers; null: none of it. */
  middle(): Middle | null {
    const level = this.known?.levels[0];
    if (!level || level.sum.length === 0) return null;
    if (this.grid && this.grid.widthTicks % this.baseTicks !== 0n) return null;
    const { from, to } = this.range;
    const width = this.baseTicks * this.tickPs;
    const count = BigInt(level.sum.length);
    const first = (from + width - 1n) / width;
    // Nothing is after the last bucket, and nothing in it is after the end of the trace.
    const last = to >= count * width || to > this.totalTimePs ? count : to / width;
    if (last <= first) return null;
    const end = last === count ? to : last * width;
    return { first: Number(first), last: Number(last), fromPs: first * width, toPs: end };
  }

  /** Adds the buckets of the summary to a replay that precedes them. */
  addMiddle(replay: CounterReplay, index: number, { first, last }: Middle): void {
    const level = this.known?.levels[0];
    if (!level) return;
    const { grid, baseTicks } = this;
    for (let bucket = first; bucket < last; bucket++) {
      if (level.max[bucket] === 0n) continue;
      const tick = BigInt(bucket) * baseTicks;
      const interval = grid ? Number((tick - grid.firstTick) / grid.widthTicks) : 0;
      replay.addKnown(index, interval, level.sum[bucket], { min: level.min[bucket], max: level.max[bucket] });
    }
  }

  take(replay: CounterReplay, index: number, source: CounterReport['source']): void {
    this.extremes = replay.perCycle(index);
    this.takeSeries(this.grid ? replay.deltas(index) : null, source);
  }

  /** @param deltas change in each interval of the grid, signed */
  takeSeries(deltas: readonly bigint[] | null, source: CounterReport['source']): void {
    this.deltas = deltas;
    this.source = source;
  }

  report(trace: Trace, options: CounterOptions): CounterReport {
    const { def, periodPs, range, startValue, endValue } = this;
    const cycles = periodPs > 0n ? Number(range.to - range.from) / Number(periodPs) : null;
    const delta = BigInt.asIntN(64, endValue - startValue);
    return {
      storageId: def.storageId,
      name: trace.names.storageNames[def.storageId],
      label: def.name,
      fromPs: range.from,
      toPs: range.to,
      periodPs,
      cycles,
      startValue,
      endValue,
      delta,
      rate: cycles ? Number(delta) / cycles : null,
      perCycle: options.perCycle && periodPs > 0n ? this.extremes : null,
      series: this.series(),
      source: this.source,
    };
  }

  private series(): CounterPoint[] | null {
    const { grid, tickPs, range, deltas } = this;
    if (!grid || !deltas) return null;
    let value = this.startValue;
    return deltas.map((delta, index) => {
      value = BigInt.asUintN(64, value + delta);
      const fromPs = intervalStart(grid, tickPs, index, range);
      return { fromPs, toPs: intervalStart(grid, tickPs, index + 1, range), delta, value };
    });
  }
}
