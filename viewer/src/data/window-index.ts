/** A window of time from the index: sums, means and extremes of whole buckets; little is read, however long it is. */
import { stateBefore } from 'uscope/reader';
import { ChannelKind, type TraceIndex } from 'uscope/trace-index';
import type { Columns, WindowAnswer, WindowArgs } from '../model/window.js';
import type { QuestionContext } from './questions/question.js';

type Kind = (typeof ChannelKind)[keyof typeof ChannelKind];

interface Found extends Columns {
  readonly id: number;
  readonly values: readonly Float64Array[];
}

export async function indexedWindow(
  args: WindowArgs,
  context: QuestionContext,
  index: TraceIndex,
  signal: AbortSignal,
): Promise<WindowAnswer> {
  const { info, trace, periodPs } = context;
  const read = new Reading(args, index, Number(periodPs), signal);
  const events = await read.all(ChannelKind.EVENTS, args.events, info.eventNames);
  const buffers = await read.all(ChannelKind.OCCUPANCY, args.buffers, info.storageNames);
  const deltas = await read.all(ChannelKind.DELTA, args.counters, info.storageNames);
  const starts = new Map<number, ReturnType<typeof stateBefore>>();
  const counters = [];
  for (const { values, ...rest } of deltas) {
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
    isExact: read.isExact,
    counters,
    buffers: buffers.map(({ values: [mean, min, max], ...rest }) => ({
      ...rest,
      mean: mean!,
      min: min!,
      max: max!,
    })),
    events: events.map(({ values, ...rest }) => ({ ...rest, counts: sumOf(values) })),
    marks: null,
    values: [],
  };
}

class Reading {
  isExact = true;

  constructor(
    private readonly args: WindowArgs,
    private readonly index: TraceIndex,
    /** Of the axis. */
    private readonly periodPs: number,
    private readonly signal: AbortSignal,
  ) {}

  /** Channels that the index has, clock by clock. */
  async all(kind: Kind, ids: readonly number[], names: readonly string[]): Promise<Found[]> {
    const found: Found[] = [];
    for (const group of this.index.plan.groups) {
      const channels = group.channels.filter((one) => one.kind === kind && ids.includes(one.subject));
      if (channels.length === 0) continue;
      this.signal.throwIfAborted();
      // Cycles of the axis in one of the channel's clock.
      const ratio = group.periodPs / this.periodPs;
      const extent = await this.index.extent(group.index);
      const from = Math.max(extent.from, Math.floor(this.args.from / ratio));
      const to = Math.min(extent.to, Math.ceil(this.args.to / ratio));
      if (to <= from) continue;
      const intervals = Math.max(1, Math.min(65_536, Math.floor((to - from) / (this.args.step / ratio))));
      const wanted = channels.map(({ subject }) => ({ kind, name: names[subject]! }));
      const series = await this.index.series(wanted, { from, to, intervals });
      this.isExact &&= series.isExact;
      series.channels.forEach(({ columns }, at) => {
        found.push({
          id: channels[at]!.subject,
          from: series.fromCycle * ratio,
          step: series.intervalCycles * ratio,
          length: series.length,
          values: columns.map(({ values }) => values),
        });
      });
    }
    return found;
  }
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
