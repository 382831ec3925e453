/** How many numbers the part STATS of a core has, which follows from the plan. */
import { type Channel, ChannelKind } from '../channels.js';
import type { IndexPlan } from '../plan.js';
import type { StatsShape } from './stats-part.js';

export function statsShape(plan: Pick<IndexPlan, 'groups' | 'cores'>, core: number): StatsShape {
  return {
    stages: plan.cores[core]!.rows?.stages ?? 0,
    squashed: reasons(coreChannel(plan, core, ChannelKind.FLUSHES)),
    stalls: reasons(coreChannel(plan, core, ChannelKind.STALLS)),
  };
}

export function coreChannel(
  { groups }: Pick<IndexPlan, 'groups'>,
  core: number,
  wanted: ChannelKind,
): Channel | undefined {
  const all = groups.flatMap(({ channels }) => channels);
  return all.find(({ kind, subject }) => kind === wanted && subject === core);
}

/** One for each label, or a single one. */
function reasons(channel: Channel | undefined): number {
  return channel ? (channel.labels?.names.length ?? 1) : 0;
}
