/** A window of time from the index: sums, means and extremes of whole buckets; little is read, however long it is. */
import { stateBefore } from 'uscope/reader';
import { ChannelKind, type TraceIndex } from 'uscope/trace-index';
import type { Columns, WindowAnswer, WindowArgs } from '../model/window.js';
import type { QuestionContext } from './questions/question.js';

type Kind = (typeof ChannelKind)[keyof typeof ChannelKind];

interface Found extends Columns {
  readonly kind: Kind;
  readonly id: number;
  readonly values: readonly Float64Array[];
}

export async function indexedWindow(
  args: WindowArgs,
  context: QuestionContext,
  index: TraceIndex,
  signal: AbortSignal,
): Promise<WindowAnswer> {
  const { trace, periodPs } = context;
  const { found, isExact } = await readAll(args, index, Number(periodPs), signal);
  const of = (kind: Kind, ids: readonly number[]): Found[] =>
    ids.flatMap((id) => found.find((one) => one.kind === kind && one.id === id) ?? []);
  const events = of(ChannelKind.EVENTS, args.events);
  const buffers = of(ChannelKind.OCCUPANCY, args.buffers);
  const starts = new Map<number, ReturnType<typeof stateBefore>>();
  const counters = [];
  for (const { values, kind: _, ...rest } of of(ChannelKind.DELTA, args.counters)) {
    // Counters of one clock begin together.
    const before = starts.get(rest.from) ?? stateBefore(trace, BigInt(Math.round(rest.from)) * periodPs);
    starts.set(rest.from, before);
    const start = Number((await before).value(rest.id, 0, 0));
    counters.push({ ...rest, start, totals: runningTotals(values[0]!, start) });
  }
  signal.throwIfAborted();
  return {
    args,
    source: 'index',
    isExact,
    counters,
    buffers: buffers.map(({ values: [mean, min, max], kind: _, ...rest }) => ({
      ...rest,
      mean: mean!,
      min: min!,
      max: max!,
    })),
    events: events.map(({ values, kind: _, ...rest }) => ({ ...rest, counts: sumOf(values) })),
    marks: null,
    values: [],
  };
}

/** Channels that the index has: one reading for each clock. @param axisPs length of a cycle of the axis */
async function readAll(
  args: WindowArgs,
  index: TraceIndex,
  axisPs: number,
  signal: AbortSignal,
): Promise<{ found: Found[]; isExact: boolean }> {
  const ids = new Map<Kind, readonly number[]>([
    [ChannelKind.EVENTS, args.events],
    [ChannelKind.OCCUPANCY, args.buffers],
    [ChannelKind.DELTA, args.counters],
  ]);
  const found: Found[] = [];
  let isExact = true;
  for (const group of index.plan.groups) {
    const channels = group.channels.filter(({ kind, subject }) => ids.get(kind)?.includes(subject));
    if (channels.length === 0) continue;
    signal.throwIfAborted();
    // Cycles of the axis in one of the channels' clock.
    const ratio = group.periodPs / axisPs;
    const extent = await index.extent(group.index);
    const from = Math.max(extent.from, Math.floor(args.from / ratio));
    const to = Math.min(extent.to, Math.ceil(args.to / ratio));
    if (to <= from) continue;
    const intervals = Math.max(1, Math.min(65_536, Math.floor((to - from) / (args.step / ratio))));
    const series = await index.series(channels, { from, to, intervals, quick: args.isQuick === true });
    isExact &&= series.isExact;
    series.channels.forEach(({ columns }, at) => {
      const { kind, subject } = channels[at]!;
      found.push({
        kind,
        id: subject,
        from: series.fromCycle * ratio,
        step: series.intervalCycles * ratio,
        length: series.length,
        values: columns.map(({ values }) => values),
      });
    });
  }
  return { found, isExact };
}

function runningTotals(deltas: Float64Array, start: number): Float64Array {
  let total = start;
  return deltas.map((delta) => {
    total += delta;
    return total;
  });
}

function sumOf(columns: readonly Float64Array[]): Float64Array {
  const [first, ...rest] = columns;
  if (rest.length === 0) return first!;
  return first!.map((value, index) => rest.reduce((sum, column) => sum + column[index]!, value));
}
