/** The number of an instruction in the whole trace: how many were born before it. */
import type { Trace } from '../../reader/index.js';
import type { CoreEntities, CpuCore } from './cores.js';
import { type SegmentAccess, SlotWalk } from './segments.js';

/** What is read through to count without a summary, in bytes of the file: a fraction of a second. */
const CHEAP_BYTES = 8 * 1024 * 1024;

/** Whether births may be counted at any cost, or only where that is quick. */
export type Numbering = 'always' | 'cheap' | 'never';

/** Births counted up to a place from which counting goes on: before `timePs`, in segments from `segment` on. */
interface Milestone {
  readonly births: bigint;
  readonly timePs: bigint;
  readonly segment: number;
}

/**
 * Instructions born before segment `first`: from the summary as far as it reaches, the rest by reading.
 * @returns null where it was not counted
 */
export async function birthsBefore(
  trace: Trace,
  core: CpuCore,
  entities: CoreEntities,
  access: SegmentAccess,
  first: number,
  numbering: Numbering,
): Promise<bigint | null> {
  if (first === 0) return startsFromNothing(access, entities);
  if (numbering === 'never') return null;
  const start = access.entries[first].timeStartPs;
  const milestone = await summaryMilestone(trace, core, entities, access, start);
  const distance = access.entries[first].offset - (access.entries[milestone.segment]?.offset ?? 0);
  if (numbering === 'cheap' && distance > CHEAP_BYTES) return null;
  return milestone.births + BigInt(await countBirths(access, entities, milestone, first));
}

/** A trace whose first checkpoint holds instructions is the end of a longer one: nobody knows how many there were. */
async function startsFromNothing(access: SegmentAccess, entities: CoreEntities): Promise<bigint | null> {
  if (access.entries.length === 0) return 0n;
  const state = await access.stateBefore(await access.load(0));
  return new SlotWalk(entities, state).taken.size === 0 ? 0n : null;
}

/** The summary counts births per bucket of cycles, over all catalogues of the trace: it can be used where there is one. */
async function summaryMilestone(
  trace: Trace,
  core: CpuCore,
  entities: CoreEntities,
  access: SegmentAccess,
  timePs: bigint,
): Promise<Milestone> {
  const nothing = { births: 0n, timePs: 0n, segment: 0 };
  const catalogues = trace.schema.storages.filter((storage) => storage.name === entities.def.name);
  // Only of our own writer is it known what exactly it counts.
  if (catalogues.length !== 1 || trace.session === null || core.periodPs === 0n) return nothing;
  const summary = await trace.summary();
  const [density] = summary?.density ?? [];
  if (!summary || !density || density.length === 0) return nothing;
  const interval = BigInt(summary.baseIntervalCycles) * core.periodPs;
  if (interval === 0n) return nothing;
  const buckets = Math.min(Number(timePs / interval), density.length);
  let births = 0n;
  for (let index = 0; index < buckets; index++) births += BigInt(density[index]);
  const reached = BigInt(buckets) * interval;
  return { births, timePs: reached, segment: access.firstReaching(reached) };
}

async function countBirths(
  access: SegmentAccess,
  entities: CoreEntities,
  milestone: Milestone,
  first: number,
): Promise<number> {
  if (milestone.segment >= first) return 0;
  let births = 0;
  let walk: SlotWalk | null = null;
  for await (const segment of access.from(milestone.segment, access.entries[first].timeStartPs + 1n)) {
    if (segment.index >= first) break;
    walk ??= new SlotWalk(entities, await access.stateBefore(segment));
    walk.walk(segment, null, (_slot, cursor) => {
      if (cursor.timePs >= milestone.timePs) births++;
    });
  }
  return births;
}
