/** The levels of a trace's index: level 0 in the containers of the segments, coarser ones from the directory or made in memory. */
import { BUCKET_CYCLES, ChannelKind } from '../channels.js';
import type { SegmentParts } from '../containers/segment-parts.js';
import { chunkAt, chunkBehind, type Level, type LevelPart } from '../levels/level.js';
import { PyramidBuilder } from '../levels/pyramid-builder.js';
import type { IndexPlan } from '../plan.js';
import type { TimePart } from '../time-part.js';

/** Segments whose parts are read at once. */
const READ_AHEAD = 16;
/** Memory for the levels of one trace that has no directory. */
const PYRAMID_BYTES = 64 * 1024 * 1024;

/** Where coarser levels come from. */
export interface CoarseLevels {
  /** By level number, from 1 on; some may be missing. Brought up to date with the segments known now. */
  levels(group: number): Promise<ReadonlyMap<number, Level>>;
  /** Instructions of a core born before a segment. */
  birthsBefore(core: number, segment: number): Promise<number>;
}

/** Made from the containers: each is read once. */
export class PyramidLevels implements CoarseLevels {
  private readonly builders: readonly PyramidBuilder[];
  private readonly known: (ReadonlyMap<number, Level> | null)[];
  /** By core: births before each segment followed, and before the next one. */
  private readonly births: readonly number[][];
  private segments = 0;
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly parts: SegmentParts) {
    const { groups, cores } = parts.plan;
    this.births = cores.map(() => [0]);
    const share = PYRAMID_BYTES / Math.max(1, groups.length);
    this.builders = groups.map((group) => new PyramidBuilder(group, share));
    this.known = groups.map(() => null);
  }

  async birthsBefore(core: number, segment: number): Promise<number> {
    await this.followed();
    return this.births[core]![segment]!;
  }

  async levels(group: number): Promise<ReadonlyMap<number, Level>> {
    await this.followed();
    const levels = this.known[group] ?? this.builders[group]!.snapshot();
    this.known[group] = levels;
    return levels;
  }

  /** One after the other: segments are added in order. */
  private followed(): Promise<void> {
    const next = this.working.then(() => this.follow());
    this.working = next.catch(() => undefined);
    return next;
  }

  /** Several are read at once: over HTTP a trace may grow faster than answers come one after the other. */
  private async follow(): Promise<void> {
    const { trace } = this.parts;
    const reading: Promise<readonly TimePart[]>[] = [];
    for (let next = this.segments; this.segments < trace.segmentCount; ) {
      for (; next < trace.segmentCount && next - this.segments < READ_AHEAD; next++)
        reading.push(this.read(next));
      const segment = this.segments;
      const parts = await reading.shift()!;
      parts.forEach((part, group) => {
        this.builders[group]!.add(part);
        this.known[group] = null;
      });
      this.births.forEach((births, core) => {
        const { group } = this.parts.plan.cores[core]!;
        births.push(births[segment]! + birthsIn(this.parts.plan, core, parts[group]));
      });
      this.segments++;
    }
  }

  /** Of a segment, by group. */
  private read(segment: number): Promise<readonly TimePart[]> {
    const parts = Promise.all(this.builders.map((_, group) => this.parts.time(segment, group, 1)));
    // It may never be looked at.
    parts.catch(() => undefined);
    return parts;
  }
}

/** Instructions of a core that were born in a part of its clock's group. */
export function birthsIn(
  { groups, cores }: IndexPlan,
  core: number,
  part: Pick<TimePart, 'columns'> | undefined,
): number {
  const { group, core: described } = cores[core]!;
  const channel = groups[group]?.channels.find(
    ({ kind, subject }) => kind === ChannelKind.BORN && subject === described.entities?.def.storageId,
  );
  let sum = 0;
  if (channel && part) for (const count of part.columns[channel.column]!) sum += count;
  return sum;
}

/** All levels of one group. */
export class LevelSet {
  constructor(
    private readonly parts: SegmentParts,
    readonly group: number,
    private readonly coarse: CoarseLevels,
  ) {}

  /** Numbers of the levels there are, rising; 0 is always there. */
  async available(): Promise<readonly number[]> {
    return [0, ...[...(await this.coarse.levels(this.group)).keys()].sort((a, b) => a - b)];
  }

  /** The parts that may have rows in the buckets `[from, to)` of a level, in order of time. */
  async *partsOf(level: number, from: number, to: number): AsyncGenerator<LevelPart> {
    if (level === 0) {
      yield* segmentParts(this.parts, this.group, from, to);
      return;
    }
    const found = (await this.coarse.levels(this.group)).get(level);
    if (!found) return;
    yield* found.load(chunkAt(found, from), chunkBehind(found, to));
  }
}

/**
 * The parts of the segments that may have rows in the buckets `[from, to)` of 256 cycles.
 * @param level of buckets of up to 256 · 4^level cycles
 */
export async function* segmentParts(
  parts: SegmentParts,
  group: number,
  from: number,
  to: number,
  level = 0,
): AsyncGenerator<LevelPart> {
  const { trace, plan } = parts;
  const bucketPs = BigInt(plan.groups[group]!.periodPs) * BigInt(BUCKET_CYCLES);
  const first = await trace.firstSegmentReaching(BigInt(Math.max(0, from)) * bucketPs);
  const reading: Promise<TimePart>[] = [];
  let isRead = false;
  for (let segment = first, next = first; segment < trace.segmentCount; segment++) {
    while (!isRead && next < trace.segmentCount && next - segment < READ_AHEAD) {
      const part = parts.time(next, group, level);
      // It may never be looked at.
      part.catch(() => undefined);
      reading.push(part);
      const { timeStartPs } = await trace.segment(next++);
      isRead = Number(timeStartPs / bucketPs) >= to;
    }
    const part = await (reading.shift() ?? parts.time(segment, group, level));
    // A part begins where the one before ended: it may reach back before its segment.
    if ((part.firstBucket * part.bucketCycles) / BUCKET_CYCLES >= to) break;
    yield part;
  }
}
