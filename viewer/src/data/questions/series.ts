/** Sums, means and extremes over equal intervals, from the index of the trace: any channel, at every zoom, little is read. */
import type { ChannelKind } from 'uscope/trace-index';
import type { Question } from './question.js';

export interface SeriesArgs {
  /** Of one clock. `name` is the path of a storage or event, or the name of a core. */
  readonly channels: readonly { readonly kind: ChannelKind; readonly name: string }[];
  /** Cycles of the axis. */
  readonly from: number;
  readonly to: number;
  /** At most this number; intervals are whole buckets of the index (256 cycles of the channel's clock or more). */
  readonly intervals: number;
  /** Rather fewer and coarser intervals than a long read. */
  readonly quick?: boolean;
}

export interface SeriesAnswer {
  /** Beginning of the first interval and length of each, in cycles of the axis. */
  readonly from: number;
  readonly interval: number;
  readonly length: number;
  readonly isExact: boolean;
  /** As asked: columns by name (`all`, labels of an enum; of occupancy `mean`, `min`, `max`). */
  readonly channels: readonly {
    readonly columns: readonly { readonly name: string; readonly values: Float64Array }[];
  }[];
}

/** null: the trace has no index. */
export const series: Question<SeriesArgs, SeriesAnswer | null> = async (args, context) => {
  const index = await context.index();
  if (!index) return null;
  const { periodPs } = index.groupOf(index.channel(args.channels[0]!));
  const { from: first, to: last } = await index.extent(index.groupOf(index.channel(args.channels[0]!)).index);
  // Cycles of the axis in one cycle of the channel's clock.
  const ratio = periodPs / Number(context.periodPs);
  const from = Math.min(last - 1, Math.max(first, Math.floor(args.from / ratio)));
  const to = Math.max(from + 1, Math.min(last, Math.ceil(args.to / ratio)));
  const found = await index.series(args.channels, {
    from,
    to,
    intervals: args.intervals,
    ...(args.quick ? { quick: true } : {}),
  });
  return {
    from: found.fromCycle * ratio,
    interval: found.intervalCycles * ratio,
    length: found.length,
    isExact: found.isExact,
    channels: found.channels.map(({ columns }) => ({
      columns: columns.map(({ name, values }) => ({ name, values })),
    })),
  };
};
