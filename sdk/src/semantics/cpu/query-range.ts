/** The part of a trace that a question is about, and equal intervals that cover it. */
import { UscopeError } from '../../base/errors.js';
import { rangeBounds, requireOneOf } from '../../reader/arguments.js';
import type { TimePs, Trace } from '../../reader/index.js';
import { firstSegmentStart } from '../../reader/queries/state-before.js';
import { type CpuCore, requirePeriod } from './cores.js';

/** Start inclusive, end exclusive; by default the whole trace. */
export interface QueryRange {
  readonly from?: TimePs | undefined;
  readonly to?: TimePs | undefined;
  /** What `from` and `to` count: picoseconds (default) or cycles of the clock of `core`. */
  readonly unit?: 'ps' | 'cycles' | undefined;
  /** Only what belongs to this core. Required for cycles. */
  readonly core?: CpuCore | undefined;
  /** Called with how much of the work is done, 0 to 1, now and then. */
  readonly progress?: ((fraction: number) => void) | undefined;
  /** Ends the work: the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Start inclusive, end exclusive; by default the whole trace. */
export interface CoreRange {
  readonly from?: TimePs | undefined;
  readonly to?: TimePs | undefined;
  /** What `from` and `to` count: picoseconds (default) or cycles of the core's clock. */
  readonly unit?: 'ps' | 'cycles' | undefined;
}

/** Range in ps; `to` undefined: to the end. */
export function rangeInPs(
  core: Parameters<typeof requirePeriod>[0],
  range: CoreRange,
): { from: bigint; to: bigint | undefined } {
  if (range.unit !== undefined) requireOneOf(range.unit, ['ps', 'cycles'], 'the unit of a range');
  const scale = range.unit === 'cycles' ? requirePeriod(core) : 1n;
  const bounds = rangeBounds(range);
  const from = bounds.from * scale;
  const to = bounds.to === null ? undefined : bounds.to * scale;
  if (to !== undefined && to < from) {
    throw new UscopeError('READER_RANGE', `the range ends at ${to} ps, before it begins at ${from} ps`);
  }
  return { from: from < 0n ? 0n : from, to: to !== undefined && to < 0n ? 0n : to };
}

/** In ps; start inclusive, end exclusive. */
export interface PsRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** What the caller asked for, in ps; `to` null: to the end. @throws UscopeError READER_RANGE, READER_NO_CYCLES */
export function askedRange(range: QueryRange): { from: bigint; to: bigint | null } {
  const { core, unit } = range;
  if (unit !== undefined) requireOneOf(unit, ['ps', 'cycles'], 'the unit of a range');
  if (unit === 'cycles' && !core) throw new UscopeError('READER_RANGE', 'a range in cycles needs a core');
  const scale = unit === 'cycles' && core ? requirePeriod(core) : 1n;
  const bounds = rangeBounds(range);
  const from = bounds.from * scale;
  const to = bounds.to === null ? null : bounds.to * scale;
  if (to !== null && to <= from) {
    throw new UscopeError('READER_RANGE', `the range is empty: it ends at ${to} ps and begins at ${from} ps`);
  }
  return { from: from < 0n ? 0n : from, to };
}

/**
 * The part of a range that the trace covers. The last frame's state lasts until the end of its cycle: that is where the trace ends,
 * one ps after the frame where the clock has no known period (`periodPs` 0n).
 * @throws UscopeError READER_RANGE when the range lies outside the trace
 */
export async function coveredRange(
  trace: Trace,
  asked: { readonly from: bigint; readonly to: bigint | null },
  periodPs: bigint,
): Promise<PsRange> {
  const first = await firstSegmentStart(trace);
  const start = first ?? 0n;
  const tick = tickOf(periodPs);
  const end = first !== null ? (lastFramePs(trace) / tick + 1n) * tick : 0n;
  const from = later(asked.from, start);
  const to = asked.to === null ? end : earlier(asked.to, end);
  if (first !== null && from >= to) {
    throw new UscopeError(
      'READER_RANGE',
      `the trace goes from ${start} to ${end} ps; nothing of it lies in ${asked.from} to ${asked.to ?? end} ps`,
    );
  }
  return { from, to };
}

/** Of a trace of ours still being written the end of its last segment is known, one ps after the last frame. */
export function lastFramePs({ isComplete, session, totalTimePs }: Trace): bigint {
  return !isComplete && session !== null && totalTimePs > 0n ? totalTimePs - 1n : totalTimePs;
}

/** Smallest step of time: a cycle, or 1 ps where the period is not known. */
export function tickOf(periodPs: bigint): bigint {
  return periodPs > 0n ? periodPs : 1n;
}

/** Equal intervals one after the other; the first may begin before the range and the last end after it. */
export interface SeriesGrid {
  /** Start of the first interval, in ticks (see `tickOf`). */
  readonly firstTick: bigint;
  readonly widthTicks: bigint;
  readonly length: number;
}

/** Most intervals a series may have. */
export const MAX_POINTS = 65_536;

/**
 * At most `points` intervals over a range. Where they are not shorter than `step` ticks, they begin and end at multiples of it.
 * @throws UscopeError READER_RANGE when `points` is not 1 to 65,536
 */
export function seriesGrid(range: PsRange, tickPs: bigint, points: number, step = 1n): SeriesGrid {
  requirePoints(points);
  const from = range.from / tickPs;
  const to = ceilDiv(range.to, tickPs);
  const unit = ceilDiv(to - from, BigInt(points)) >= step ? step : 1n;
  const first = (from / unit) * unit;
  const width = ceilDiv(ceilDiv(to - first, BigInt(points)), unit) * unit || unit;
  return { firstTick: first, widthTicks: width, length: Number(ceilDiv(to - first, width)) };
}

function requirePoints(points: number): void {
  if (Number.isInteger(points) && points >= 1 && points <= MAX_POINTS) return;
  throw new UscopeError('READER_RANGE', `a series has 1 to ${MAX_POINTS} points, not ${points}`);
}

/**
 * Intervals of many cycles begin and end where buckets of an index do (`seriesGrid`'s step), so that a trace with an index and one without have the
 * same; 1n: they are too short.
 * @throws UscopeError READER_RANGE when `points` is not 1 to 65,536
 */
export function indexStep(cycles: bigint, points: number): bigint {
  requirePoints(points);
  let step = BUCKET_CYCLES;
  while (step * 16n * BigInt(points) <= cycles) step *= 4n;
  return step * 4n * BigInt(points) <= cycles ? step : 1n;
}

/** Of the finest level of an index; coarser ones have four times as many each. */
const BUCKET_CYCLES = 256n;

function ceilDiv(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Start of interval `index` in ps, not before the range and not after it. */
export function intervalStart(grid: SeriesGrid, tickPs: bigint, index: number, range: PsRange): bigint {
  const start = (grid.firstTick + BigInt(index) * grid.widthTicks) * tickPs;
  return earlier(later(start, range.from), range.to);
}

/** The lesser of two (Math.min takes no bigints). */
export function earlier(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export function later(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}
