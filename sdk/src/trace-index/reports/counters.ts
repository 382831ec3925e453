/** What counters did over a range, from the trace's index: what `counters` finds by reading the range. */

import { stateBefore } from '../../reader/queries/state-before.js';
import type { CounterOptions, CounterReport, CounterWork } from '../../semantics/storages/counter-work.js';
import { counterWork } from '../../semantics/storages/counters.js';
import { type Channel, ChannelKind } from '../channels.js';
import type { TraceIndex } from '../questions/trace-index.js';

/**
 * The same as `counters(trace, options)`, number for number. The values at both ends, and at those of the first and last interval, are those of the states
 * there; the index has the intervals between them.
 * @returns null where the index cannot answer: no series is asked for, or extremes per cycle are, the intervals are short, a counter has no clock, or not
 *   everything is known
 * @throws UscopeError as `counters`
 */
export async function countersFromIndex(
  index: TraceIndex,
  options: CounterOptions,
): Promise<CounterReport[] | null> {
  const { trace } = index;
  if (options.points === undefined || options.perCycle) return null;
  const work = await counterWork(trace, options);
  for (const one of work) {
    options.signal?.throwIfAborted();
    const deltas = await deltasOf(index, one);
    if (!deltas) return null;
    one.takeSeries(deltas, 'index');
  }
  options.progress?.(1);
  return work.map((one) => one.report(trace, options));
}

/** The change in each interval; null: the index does not know all of them. */
async function deltasOf(index: TraceIndex, work: CounterWork): Promise<bigint[] | null> {
  const { grid, tickPs, range } = work;
  const channel = channelOf(index, work);
  if (!channel || !grid || grid.length < 1) return null;
  if (grid.length === 1) return [difference(work.endValue, work.startValue)];
  const { firstTick, widthTicks, length } = grid;
  // The first interval may begin before the range, and the last one end after it.
  const [from, to] = [firstTick + widthTicks, firstTick + BigInt(length - 1) * widthTicks];
  const inner = await innerDeltas(index, channel, Number(from), Number(widthTicks), length - 2);
  if (!inner) return null;
  const { trace } = index;
  const valueAt = async (tick: bigint): Promise<bigint> =>
    (await stateBefore(trace, tick * tickPs)).value(work.def.storageId, 0, 0);
  const [atFrom, atTo] = [await valueAt(from), await valueAt(to)];
  const sum = inner.reduce((all, delta) => all + delta, 0n);
  if (difference(atTo, atFrom) !== BigInt.asIntN(64, sum) || to * tickPs >= range.to) return null;
  return [difference(atFrom, work.startValue), ...inner, difference(work.endValue, atTo)];
}

function channelOf(index: TraceIndex, { def, periodPs }: CounterWork): Channel | undefined {
  if (periodPs === 0n) return undefined;
  return index.channels.find(({ kind, subject }) => kind === ChannelKind.DELTA && subject === def.storageId);
}

async function innerDeltas(
  index: TraceIndex,
  channel: Channel,
  fromCycle: number,
  intervalCycles: number,
  length: number,
): Promise<bigint[] | null> {
  if (length === 0) return [];
  const found = await index.sumsOver(channel, { fromCycle, intervalCycles, length });
  const deltas = found?.columns[0];
  // Larger ones are rounded.
  if (!found?.isExact || !deltas?.every(Number.isSafeInteger)) return null;
  return Array.from(deltas, BigInt);
}

function difference(after: bigint, before: bigint): bigint {
  return BigInt.asIntN(64, after - before);
}
