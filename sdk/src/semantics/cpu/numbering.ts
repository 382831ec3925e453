/** The number of an instruction in the whole trace: how many were born before it. */
import type { FrameCursor } from '../../format/frame.js';
import { requireBigint } from '../../reader/arguments.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import type { CatalogCheckpoints } from '../common/catalog-checkpoint.js';
import { SegmentAccess, SlotWalk } from '../lifecycle/segments.js';
import { type CoreEntities, type CpuCore, requireEntities } from './cores.js';

/** What is read through to count without a summary, in bytes of the file: a fraction of a second. */
const CHEAP_BYTES = 8 * 1024 * 1024;

/** Whether births may be counted at any cost, or only where that is quick. */
export type Numbering = 'always' | 'cheap' | 'never';

export interface NumberingOptions {
  readonly numbering?: Numbering | undefined;
  /** Births before a segment, by an index. */
  readonly birthsBefore?: ((segment: number) => Promise<number>) | undefined;
}

/** Births counted up to a place from which counting continues: before `timePs`, in segments from `segment` on. */
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
  { numbering = 'cheap', birthsBefore: known }: NumberingOptions,
): Promise<bigint | null> {
  if (numbering === 'never' || !(await startsFromNothing(access, entities))) return null;
  if (first === 0) return 0n;
  if (known) return BigInt(await known(first));
  const density = await densityOf(trace, core, entities);
  const milestone = await milestoneBefore(density, access, await access.start(first));
  const distance = (await access.entry(first)).offset - (await access.entry(milestone.segment)).offset;
  if (numbering === 'cheap' && distance > CHEAP_BYTES) return null;
  return milestone.births + BigInt(await countBirths(access, entities, milestone, first));
}

/** A trace whose first checkpoint holds instructions is the end of a longer one: nobody knows how many there were. */
async function startsFromNothing(access: SegmentAccess, entities: CoreEntities): Promise<boolean> {
  if (access.count === 0) return true;
  const state = await access.stateBefore(0);
  return state.occupied[entities.def.storageId] === 0;
}

/**
 * When instruction `seq` was born; null when the trace has fewer, or does not begin with the first.
 * @throws UscopeError READER_RANGE when `seq` is not a bigint, FORMAT_* for damage
 */
export async function birthOf(trace: Trace, core: CpuCore, seq: bigint): Promise<bigint | null> {
  requireBigint(seq, 'the number of an instruction');
  const entities = requireEntities(core);
  const access = await SegmentAccess.of(trace);
  if (!(await startsFromNothing(access, entities))) return null;
  const density = await densityOf(trace, core, entities);
  const milestone = await milestoneAt(density, access, bucketsWith(density, seq));
  let { births } = milestone;
  let found: bigint | null = null;
  const onBirth = (cursor: FrameCursor): boolean => {
    if (cursor.timePs < milestone.timePs) return true;
    if (births === seq) found = cursor.timePs;
    births++;
    return found === null;
  };
  let walk: SlotWalk | null = null;
  const checkpoints = access.checkpointsOf(entities);
  for await (const segment of access.from(milestone.segment, undefined)) {
    if (!walk) walk = await startWalk(access, entities, segment, checkpoints, onBirth);
    else if (checkpoints) walk.continueFrom(checkpoints.at(segment));
    walk.walk(segment);
    if (found !== null) break;
  }
  return found;
}

/** Births per bucket of time. */
interface BirthDensity {
  readonly bucketPs: bigint;
  readonly births: Uint32Array;
}

/** The summary counts births per bucket of cycles, over all catalogs of the trace: it can be used where there is one. */
async function densityOf(trace: Trace, core: CpuCore, entities: CoreEntities): Promise<BirthDensity | null> {
  const catalogs = trace.schema.storages.filter((storage) => storage.name === entities.def.name);
  // Only of our own writer is it known what exactly it counts.
  if (catalogs.length !== 1 || trace.session === null || core.periodPs === 0n) return null;
  const density = await trace.density();
  if (!density || density.births.length === 0 || density.intervalCycles === 0) return null;
  return { bucketPs: BigInt(density.intervalCycles) * core.periodPs, births: density.births };
}

/** Buckets from the first on that hold no more than this number of births. */
function bucketsWith(density: BirthDensity | null, births: bigint): number {
  if (!density) return 0;
  let sum = 0;
  const isBeyond = (count: number): boolean => {
    sum += count;
    return sum > births;
  };
  const index = density.births.findIndex(isBeyond);
  return index < 0 ? density.births.length : index;
}

/** The last border between buckets at or before a time; the beginning of the trace without a summary. */
function milestoneBefore(
  density: BirthDensity | null,
  access: SegmentAccess,
  timePs: bigint,
): Promise<Milestone> {
  if (!density) return milestoneAt(null, access, 0);
  const buckets = timePs / density.bucketPs;
  return milestoneAt(density, access, Math.min(Number(buckets), density.births.length));
}

/** The end of this number of buckets. Sums stay exact up to 2^53 births. */
async function milestoneAt(
  density: BirthDensity | null,
  access: SegmentAccess,
  buckets: number,
): Promise<Milestone> {
  if (!density) return { births: 0n, timePs: 0n, segment: 0 };
  let births = 0;
  for (let bucket = 0; bucket < buckets; bucket++) births += density.births[bucket]!;
  const timePs = BigInt(buckets) * density.bucketPs;
  return { births: BigInt(births), timePs, segment: await access.firstReaching(timePs) };
}

async function startWalk(
  access: SegmentAccess,
  entities: CoreEntities,
  segment: LoadedSegment,
  checkpoints: CatalogCheckpoints | null,
  onBirth: (cursor: FrameCursor) => boolean,
): Promise<SlotWalk> {
  const state = await access.catalogBefore(segment, entities, checkpoints);
  return new SlotWalk(entities, access.limits, state, onBirth);
}

async function countBirths(
  access: SegmentAccess,
  entities: CoreEntities,
  milestone: Milestone,
  first: number,
): Promise<number> {
  if (milestone.segment >= first) return 0;
  let births = 0;
  const onBirth = (cursor: FrameCursor): boolean => {
    if (cursor.timePs >= milestone.timePs) births++;
    return true;
  };
  let walk: SlotWalk | null = null;
  const checkpoints = access.checkpointsOf(entities);
  for await (const segment of access.from(milestone.segment, (await access.start(first)) + 1n)) {
    if (segment.index >= first) break;
    if (!walk) walk = await startWalk(access, entities, segment, checkpoints, onBirth);
    else if (checkpoints) walk.continueFrom(checkpoints.at(segment));
    walk.walk(segment);
  }
  return births;
}
