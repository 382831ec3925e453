/** Numbers of channels over equal intervals of a range, from the coarsest level that still gives them exactly. */
import { maxOf } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { type Channel, ChannelKind, type ClockGroup } from '../channels.js';
import { combineExtremes } from '../levels/coarsener.js';
import type { LevelPart } from '../levels/level.js';
import { bucketCyclesOf } from '../levels/level-chunk.js';
import type { LevelSet } from './level-set.js';

/** Most intervals of one answer. */
export const MAX_INTERVALS = 65_536;

export interface SeriesRange {
  /** In cycles of the channel's clock; start inclusive, end exclusive. By default the whole trace. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Most intervals, 1 to 65,536; default 1,024. There are at least half as many where the range is long enough. */
  readonly intervals?: number | undefined;
  /** Reads least, for a first picture: only levels of 1,024 cycles and more, where there are such; intervals may be four times as long as needed. */
  readonly quick?: boolean | undefined;
}

/** Of one column: what its numbers are is in `name`. */
export interface SeriesColumn {
  /** Label of the enum value that is counted; "all" where a channel counts all of them; "mean", "min", "max" of an occupancy. */
  readonly name: string;
  /** By interval. Means and extremes are NaN where no time passed. */
  readonly values: Float64Array;
}

export interface ChannelSeries {
  readonly channel: Channel;
  readonly columns: readonly SeriesColumn[];
}

export interface Series {
  /** Start of the first interval, a multiple of 256 cycles at or before the range. */
  readonly fromCycle: number;
  /** Length of each interval, a multiple of 256 cycles. */
  readonly intervalCycles: number;
  readonly length: number;
  /** False: at the start of some segment it is not known what went before. */
  readonly isExact: boolean;
  readonly channels: readonly ChannelSeries[];
}

/** In cycles. */
export interface Extent {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** First and last instant that count for means. */
  readonly fromPs: number;
  readonly toPs: number;
}

interface Grid {
  readonly level: number;
  readonly bucketCycles: number;
  readonly firstBucket: number;
  readonly buckets: number;
  /** Buckets of an interval. */
  readonly width: number;
  readonly length: number;
}

/** @throws UscopeError READER_RANGE */
export function gridOf(extent: Extent, range: SeriesRange, levels: readonly number[]): Grid {
  const { intervals = 1024 } = range;
  if (!(Number.isInteger(intervals) && intervals >= 1 && intervals <= MAX_INTERVALS)) {
    throw new UscopeError('READER_RANGE', `a series has 1 to ${MAX_INTERVALS} intervals, not ${intervals}`);
  }
  const from = Math.max(cycleArgument(range.from ?? extent.from), extent.from);
  const to = Math.min(cycleArgument(range.to ?? extent.to), extent.to);
  if (to <= from) {
    const detail = `the trace has the cycles ${extent.from} to ${extent.to}; nothing of it lies in ${range.from ?? extent.from} to ${range.to ?? extent.to}`;
    throw new UscopeError('READER_RANGE', detail);
  }
  const wanted = (to - from) / intervals;
  const level = range.quick
    ? (levels.find((one) => one > 0 && bucketCyclesOf(one) >= wanted) ?? levels.at(-1) ?? 0)
    : maxOf(
        levels.filter((one) => bucketCyclesOf(one) <= wanted),
        0,
      );
  const bucketCycles = bucketCyclesOf(level);
  const firstBucket = Math.floor(from / bucketCycles);
  const needed = Math.ceil(to / bucketCycles) - firstBucket;
  const width = Math.ceil(needed / intervals);
  const length = Math.ceil(needed / width);
  // The last interval is whole, as the others are.
  return { level, bucketCycles, firstBucket, buckets: length * width, width, length };
}

/** @throws UscopeError READER_RANGE when it is not a whole number of cycles */
export function cycleArgument(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  if (typeof value === 'bigint') return Number(value);
  throw new UscopeError('READER_RANGE', `a cycle is a whole number, not ${String(value)}`);
}

export async function readSeries(
  set: LevelSet,
  group: ClockGroup,
  channels: readonly Channel[],
  grid: Grid,
  extent: Extent,
): Promise<Series> {
  const { sums, isExact } = await readSums(set, group, channels, grid);
  const { bucketCycles, firstBucket, width, length } = grid;
  return {
    fromCycle: firstBucket * bucketCycles,
    intervalCycles: width * bucketCycles,
    length,
    isExact,
    channels: channels.map((channel, index) => ({
      channel,
      columns:
        channel.kind === ChannelKind.OCCUPANCY
          ? occupancyOf(sums[index]!, group, grid, extent)
          : sums[index]!.map((values, column) => ({ name: columnName(channel, column), values })),
    })),
  };
}

/** By channel and column; of an occupancy the sum in slots · ps, least + 1, greatest + 1. */
export async function readSums(
  set: LevelSet,
  group: ClockGroup,
  channels: readonly Channel[],
  grid: Grid,
): Promise<{ readonly sums: readonly (readonly Float64Array[])[]; readonly isExact: boolean }> {
  const sums = channels.map((channel) =>
    Array.from({ length: channel.columns }, () => new Float64Array(grid.length)),
  );
  const end = grid.firstBucket + grid.buckets;
  let isExact = true;
  for await (const part of set.partsOf(grid.level, grid.firstBucket, end)) {
    isExact &&= part.isExact;
    channels.forEach((channel, index) => {
      fold(part, group, channel, grid, sums[index]!);
    });
  }
  return { sums, isExact };
}

/** Intervals given by the caller. */
export interface GivenIntervals {
  readonly fromCycle: number;
  readonly intervalCycles: number;
  readonly length: number;
}

/** null: they do not begin and end where buckets do. @param levels those there are */
export function gridOver(
  { fromCycle, intervalCycles, length }: GivenIntervals,
  levels: readonly number[],
): Grid | null {
  const fits = (level: number) =>
    fromCycle % bucketCyclesOf(level) === 0 && intervalCycles % bucketCyclesOf(level) === 0;
  const level = levels.findLast(fits);
  if (level === undefined || length > MAX_INTERVALS) return null;
  const bucketCycles = bucketCyclesOf(level);
  const width = intervalCycles / bucketCycles;
  return {
    level,
    bucketCycles,
    firstBucket: fromCycle / bucketCycles,
    buckets: length * width,
    width,
    length,
  };
}

/** Adds the rows of a part that lie in the grid. */
function fold(
  part: LevelPart,
  group: ClockGroup,
  { kind, column, columns }: Channel,
  grid: Grid,
  sums: readonly Float64Array[],
): void {
  const { firstBucket, width, buckets } = grid;
  const isOccupancy = kind === ChannelKind.OCCUPANCY;
  const values = Array.from({ length: columns }, (_, index) => part.columns[column + index]!);
  const bucketPs = part.bucketCycles * group.periodPs;
  let start = part.firstBucket - firstBucket;
  for (let row = 0; row < part.rows; row++) {
    const end = start + part.spans[row]!;
    if (start >= buckets) break;
    if (end > 0) {
      if (isOccupancy) foldOccupancy(part, values, row, start, end, bucketPs, { width, buckets }, sums);
      else {
        const interval = Math.floor(Math.max(0, start) / width);
        for (let index = 0; index < columns; index++) {
          sums[index]![interval] = sums[index]![interval]! + values[index]![row]!;
        }
      }
    }
    start = end;
  }
}

const scratch = new Float64Array(3);

function foldOccupancy(
  part: LevelPart,
  values: readonly Float64Array[],
  row: number,
  start: number,
  end: number,
  bucketPs: number,
  { width, buckets }: Pick<Grid, 'width' | 'buckets'>,
  sums: readonly Float64Array[],
): void {
  const [sum, least, greatest] = [values[0]![row]! * part.unitPs, values[1]![row]!, values[2]![row]!];
  for (let at = Math.max(0, start); at < Math.min(end, buckets); ) {
    const interval = Math.floor(at / width);
    const stop = Math.min(end, buckets, (interval + 1) * width);
    const isConstant = end - start > 1 && least === greatest && least > 0;
    const share = isConstant ? (least - 1) * (stop - at) * bucketPs : (sum * (stop - at)) / (end - start);
    scratch[0] = sums[0]![interval]! + share;
    scratch[1] = sums[1]![interval]!;
    scratch[2] = sums[2]![interval]!;
    combineExtremes(scratch, 0, least, greatest);
    for (let index = 0; index < 3; index++) sums[index]![interval] = scratch[index]!;
    at = stop;
  }
}

function occupancyOf(
  [sum, least, greatest]: readonly Float64Array[],
  { periodPs }: ClockGroup,
  { firstBucket, bucketCycles, width, length }: Grid,
  extent: Extent,
): SeriesColumn[] {
  const mean = new Float64Array(length);
  for (let interval = 0; interval < length; interval++) {
    const start = (firstBucket + interval * width) * bucketCycles * periodPs;
    const end = start + width * bucketCycles * periodPs;
    const time = Math.min(end, extent.toPs) - Math.max(start, extent.fromPs);
    mean[interval] = time > 0 ? sum![interval]! / time : Number.NaN;
  }
  const unshift = (values: Float64Array) => values.map((value) => (value > 0 ? value - 1 : Number.NaN));
  return [
    { name: 'mean', values: mean },
    { name: 'min', values: unshift(least!) },
    { name: 'max', values: unshift(greatest!) },
  ];
}

function columnName({ kind, labels }: Channel, column: number): string {
  const hasTotal = kind === ChannelKind.FLUSHES || kind === ChannelKind.STALLS;
  if (hasTotal && column === 0) return 'all';
  return labels?.names[hasTotal ? column - 1 : column] ?? 'all';
}
