/** How full buffers were over a whole trace, from its index: what `occupancy` finds by reading all of it. */

import { IndexPart } from '../../format/index-container.js';
import { lastFramePs } from '../../semantics/cpu/query-range.js';
import {
  type OccupancyFound,
  type OccupancyOptions,
  type OccupancyReport,
  type OccupancyWork,
  occupancyReport,
  occupancyWork,
} from '../../semantics/storages/occupancy.js';
import { type Channel, ChannelKind } from '../channels.js';
import type { TraceIndex } from '../questions/trace-index.js';
import { HeldTimes } from './held-times.js';

/**
 * The same as `occupancy(trace, options)`, number for number.
 * @returns null where the index cannot answer: for a part of the trace, a buffer without clock, or after segments of which not everything is known
 * @throws UscopeError as `occupancy`
 */
export async function occupancyFromIndex(
  index: TraceIndex,
  options: OccupancyOptions,
): Promise<OccupancyReport[] | null> {
  const { trace } = index;
  const work = await occupancyWork(trace, options);
  const found = work.map((one) => ({ one, channel: channelOf(index, one) }));
  const groups = new Set<number>();
  for (const { one, channel } of found) {
    if (!channel || !(await isWholeTrace(index, one))) return null;
    groups.add(index.groupOf(channel).index);
  }
  const times = new Map<number, Float64Array>();
  for (const { def } of work) times.set(def.storageId, new Float64Array(def.numSlots + 1));
  const ends = new Map<number, bigint>();
  for (const group of groups) {
    const held = new HeldTimes(index.plan.groups[group]!, times);
    for (let segment = 0; segment < trace.segmentCount; segment++) {
      options.signal?.throwIfAborted();
      if (!held.add(await index.storedPart(segment, IndexPart.OCCUPANCY, group))) return null;
    }
    if (held.endPs === null) return null;
    ends.set(group, held.endPs);
  }
  const { raw } = await trace.stateAt(trace.totalTimePs);
  const reports: OccupancyReport[] = [];
  for (const { one, channel } of found) {
    const { def, range } = one;
    const histogram = times.get(def.storageId)!;
    const last = raw.occupancy(def.storageId);
    // What the last frame has left lasts until the end of its cycle.
    const rest = Number(range.to - ends.get(index.groupOf(channel!).index)!);
    histogram[last] = histogram[last]! + rest;
    const length = Number(range.to - range.from);
    if (histogram.reduce((sum, time) => sum + time, 0) !== length) return null;
    const points = one.grid ? await seriesOf(index, channel!, one, last, rest) : null;
    if (one.grid && points === null) return null;
    const mean = histogram.reduce((sum, time, count) => sum + count * time, 0) / length;
    reports.push(occupancyReport(trace, one, { mean, last, histogram, points }));
  }
  options.progress?.(1);
  return reports;
}

function channelOf(index: TraceIndex, { def, periodPs }: OccupancyWork): Channel | null {
  if (periodPs === 0n) return null;
  const isIt = ({ kind, subject }: Channel) => kind === ChannelKind.OCCUPANCY && subject === def.storageId;
  return index.channels.find(isIt) ?? null;
}

async function isWholeTrace(index: TraceIndex, { range, periodPs }: OccupancyWork): Promise<boolean> {
  const { trace } = index;
  const { timeStartPs } = await trace.segment(0);
  return range.from === timeStartPs && range.to > lastFramePs(trace) && range.to % periodPs === 0n;
}

/** Mean, least and greatest of each interval; null: the intervals are not a multiples of an index's buckets, or not everything is known. */
async function seriesOf(
  index: TraceIndex,
  channel: Channel,
  { grid, range, periodPs }: OccupancyWork,
  last: number,
  rest: number,
): Promise<OccupancyFound['points']> {
  const { firstTick, widthTicks, length } = grid!;
  const [fromCycle, intervalCycles] = [Number(firstTick), Number(widthTicks)];
  const sums = await index.sumsOver(channel, { fromCycle, intervalCycles, length });
  if (!sums?.isExact) return null;
  const [sum, least, greatest] = sums.columns as [Float64Array, Float64Array, Float64Array];
  if (rest > 0) {
    const end = length - 1;
    sum[end] = sum[end]! + last * rest;
    if (least[end] === 0 || last + 1 < least[end]!) least[end] = last + 1;
    if (last + 1 > greatest[end]!) greatest[end] = last + 1;
  }
  const [from, to] = [Number(range.from), Number(range.to)];
  const period = Number(periodPs);
  return Array.from(sum, (value, interval) => {
    const start = Math.max(from, (fromCycle + interval * intervalCycles) * period);
    const stop = Math.min(to, (fromCycle + (interval + 1) * intervalCycles) * period);
    return { mean: value / (stop - start), min: least[interval]! - 1, max: greatest[interval]! - 1 };
  });
}
