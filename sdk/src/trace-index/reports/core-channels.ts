/** The channels by which the index counts what an analysis of a core reports. */
import type { CoreAnalysis } from '../../semantics/cpu/analysis/core-analysis.js';
import type { CycleWindow } from '../../semantics/cpu/analysis/window.js';
import { type Channel, ChannelKind, type ClockGroup } from '../channels.js';
import type { TraceIndex } from '../questions/trace-index.js';
import type { StatsShape } from '../stats/stats-part.js';
import { statsShape } from '../stats/stats-part.js';

/** By channel its columns over the intervals of a window. */
export type ChannelSums = ReadonlyMap<Channel, readonly Float64Array[]>;

export interface CoreChannels {
  /** Of the plan. */
  readonly core: number;
  readonly group: ClockGroup;
  readonly shape: StatsShape;
  readonly retired: Channel;
  readonly squashed: Channel | null;
  readonly flushes: Channel | null;
  readonly stalls: Channel | null;
  /** Of the catalog, then of the core's buffers. */
  readonly buffers: readonly Channel[];
  readonly counters: readonly Channel[];
}

/** null: something of the core is not counted, or not separately, or by another clock. */
export function coreChannels({ plan }: TraceIndex, { core }: CoreAnalysis): CoreChannels | null {
  const index = plan.cores.findIndex((one) => one.core.scopeId === core.scopeId);
  const planned = plan.cores[index];
  const group = plan.groups[planned?.group ?? -1];
  const { entities, events, stages } = core;
  // The last column is for all stages that have none.
  if (!group || !entities || !planned?.rows || planned.rows.stages <= stages.length) return null;
  const of = (kind: ChannelKind, subject: number) =>
    group.channels.find((channel) => channel.kind === kind && channel.subject === subject);
  const retired = of(ChannelKind.RETIRED, index);
  const [squashed, flushes, stalls] = [ChannelKind.SQUASHED, ChannelKind.FLUSHES, ChannelKind.STALLS].map(
    (kind) => of(kind, index) ?? null,
  );
  const buffers = [entities.def, ...core.buffers].map((def) => of(ChannelKind.OCCUPANCY, def.storageId));
  const counters = core.counters.map((def) => of(ChannelKind.DELTA, def.storageId));
  const areSplit = (['flush', 'stall'] as const).every((name) => {
    const channel = name === 'flush' ? flushes : stalls;
    return !events.get(name)?.fields.has('reason') || Boolean(channel?.labels);
  });
  if (!retired || !areSplit || [...buffers, ...counters].includes(undefined)) return null;
  return {
    core: index,
    group,
    shape: statsShape(plan, index),
    retired,
    squashed: squashed!,
    flushes: flushes!,
    stalls: stalls!,
    buffers: buffers as Channel[],
    counters: counters as Channel[],
  };
}

/** null: the intervals begin elsewhere than the buckets of the index, or not everything is known. */
export async function sumsOf(
  index: TraceIndex,
  channels: CoreChannels,
  { fromCycle, intervalCycles, intervals }: CycleWindow,
): Promise<ChannelSums | null> {
  const { retired, squashed, flushes, stalls, buffers, counters } = channels;
  const all = [retired, squashed, flushes, stalls, ...buffers, ...counters].filter((one) => one !== null);
  const given = { fromCycle: Number(fromCycle), intervalCycles, length: intervals };
  const found = await index.sumsOfAll(all, given);
  if (!found?.isExact) return null;
  return new Map(all.map((channel, position) => [channel, found.sums[position]!]));
}

/** The name of each reason's column; a single one where an event has no reasons. */
export function reasonNames({ labels }: Channel): readonly string[] {
  return labels?.names ?? [NO_REASON];
}

/** What an analysis calls events without a reason. */
const NO_REASON = '0';

/** Those of each reason, which may be the same as all. */
export function reasonColumns(
  { labels }: Channel,
  columns: readonly Float64Array[],
): readonly Float64Array[] {
  return labels ? columns.slice(1) : columns;
}

export function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
