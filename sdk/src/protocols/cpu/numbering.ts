/** The number of an instruction in the whole trace: how many were born before it. */
import type { Trace } from '../../reader/index.js';
import { type CoreEntities, type CpuCore, requireEntities } from './cores.js';
import { SegmentAccess, SlotWalk } from './segments.js';

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
  if (numbering === 'never' || !(await startsFromNothing(access, entities))) return null;
  if (first === 0) return 0n;
  const start = await access.start(first);
  const density = await densityOf(trace, core, entities);
  const milestone = await milestoneWhere(density, access, (timePs) => timePs <= start);
  const distance = (await access.entry(first)).offset - (await access.entry(milestone.segment)).offset;
  if (numbering === 'cheap' && distance > CHEAP_BYTES) return null;
  return milestone.births + BigInt(await countBirths(access, entities, milestone, first));
}

/** A trace whose first checkpoint holds instructions is the end of a longer one: nobody knows how many there were. */
async function startsFromNothing(access: SegmentAccess, entities: CoreEntities): Promise<boolean> {
  if (access.count === 0) return true;
  const state = await access.stateBefore(await access.load(0));
  return state.occupied[entities.def.storageId] === 0;
}

/**
 * When instruction `seq` was born; null when the trace has fewer, or does not begin with the first.
 * @throws UscopeError FORMAT_* for damage
 */
export async function birthOf(trace: Trace, core: CpuCore, seq: bigint): Promise<bigint | null> {
  const entities = requireEntities(core);
  const access = await SegmentAccess.of(trace);
  if (!(await startsFromNothing(access, entities))) return null;
  const milestone = await milestoneWhere(
    await densityOf(trace, core, entities),
    access,
    (_time, births) => births <= seq,
  );
  let { births } = milestone;
  let found: bigint | null = null;
  let walk: SlotWalk | null = null;
  const checkpoints = access.checkpointsOf(entities);
  for await (const segment of access.from(milestone.segment, undefined)) {
    if (!walk) walk = new SlotWalk(entities, await access.stateBefore(segment));
    else if (checkpoints) walk.continueFrom(checkpoints.at(segment));
    walk.walk(segment, null, (_slot, cursor) => {
      if (found !== null || cursor.timePs < milestone.timePs) return;
      if (births === seq) found = cursor.timePs;
      births++;
    });
    if (found !== null) break;
  }
  return found;
}

/** Births per bucket of time. */
interface Density {
  readonly bucketPs: bigint;
  readonly births: Uint32Array;
}

/** The summary counts births per bucket of cycles, over all catalogues of the trace: it can be used where there is one. */
async function densityOf(trace: Trace, core: CpuCore, entities: CoreEntities): Promise<Density | null> {
  const catalogues = trace.schema.storages.filter((storage) => storage.name === entities.def.name);
  // Only of our own writer is it known what exactly it counts.
  if (catalogues.length !== 1 || trace.session === null || core.periodPs === 0n) return null;
  const summary = await trace.summary();
  const births = summary?.density[0];
  if (!summary || !births || births.length === 0 || summary.baseIntervalCycles === 0) return null;
  return { bucketPs: BigInt(summary.baseIntervalCycles) * core.periodPs, births };
}

/** The last border between buckets for which the condition holds; the beginning of the trace without a summary. */
async function milestoneWhere(
  density: Density | null,
  access: SegmentAccess,
  holds: (timePs: bigint, births: bigint) => boolean,
): Promise<Milestone> {
  let best: Milestone = { births: 0n, timePs: 0n, segment: 0 };
  if (!density) return best;
  let births = 0n;
  let timePs = 0n;
  for (const count of density.births) {
    births += BigInt(count);
    timePs += density.bucketPs;
    if (!holds(timePs, births)) break;
    best = { births, timePs, segment: 0 };
  }
  return { ...best, segment: await access.firstReaching(best.timePs) };
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
  const checkpoints = access.checkpointsOf(entities);
  for await (const segment of access.from(milestone.segment, (await access.start(first)) + 1n)) {
    if (segment.index >= first) break;
    if (!walk) walk = new SlotWalk(entities, await access.stateBefore(segment));
    else if (checkpoints) walk.continueFrom(checkpoints.at(segment));
    walk.walk(segment, null, (_slot, cursor) => {
      if (cursor.timePs >= milestone.timePs) births++;
    });
  }
  return births;
}
