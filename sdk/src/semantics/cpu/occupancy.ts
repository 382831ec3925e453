/**
 * How full buffers are over a range: what a buffer holds after the frames of an instant lasts until its next change, and everything is
 * weighted with the time it lasts. States in between the frames of one instant last no time and do not count.
 */

import type { FrameCursor } from '../../format/frame.js';
import { Action, SF_BUFFER, SF_SPARSE, type StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { stateBefore } from '../../reader/queries/state-before.js';
import type { StorageState } from '../../state/storage-state.js';
import { CatalogCheckpoints, type CatalogState } from '../common/catalog-checkpoint.js';
import { askStretches, NotMergeable, type StretchCall } from '../common/stretches.js';
import { chosenStorages } from './chosen-storages.js';
import { FrameTimes } from './frame-times.js';
import { OccupancyTrack, type TrackPart } from './occupancy-track.js';
import {
  askedRange,
  coveredRange,
  earlier,
  indexStep,
  intervalStart,
  later,
  type PsRange,
  type QueryRange,
  type SeriesGrid,
  seriesGrid,
  tickOf,
} from './query-range.js';

export interface OccupancyOptions extends QueryRange {
  /**
   * By path, own name or storage id; any sparse storage or buffer. By default all buffers of the trace (SF_BUFFER), or those of `core`, where one
   * is given.
   */
  readonly buffers?: readonly (string | number)[] | undefined;
  /** Also a series of at most this number of intervals, 1 to 65,536. */
  readonly points?: number | undefined;
}

export interface OccupancyPoint {
  /** In ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Mean over the interval's time. */
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

export interface OccupancyReport {
  readonly storageId: number;
  /** Scope path and name: `core0/rob`. */
  readonly name: string;
  /** The buffer's own name: `rob`. */
  readonly label: string;
  readonly slots: number;
  /** The part of the range that the trace covers, in ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Period of its clock in ps; 0n: unknown, there are no cycles. */
  readonly periodPs: bigint;
  /** Occupied slots, weighted with time. */
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** At the end of the range. */
  readonly last: number;
  /** Time in ps spent with 0, 1, … `slots` slots occupied; adds up to the range. Exact as long as it is shorter than 2^53 ps (2.5 h). */
  readonly histogram: readonly bigint[];
  /** null when not asked for. */
  readonly series: readonly OccupancyPoint[] | null;
}

/**
 * The occupancy of buffers over a range, by default of all of them over the whole trace, in the order of the schema (or of `buffers`). Reads the
 * whole range.
 * @throws UscopeError READER_NAME (no such storage, or one whose slots are always occupied), READER_RANGE (range empty or outside the
 *   trace), READER_NO_CYCLES, FORMAT_* for damage
 */
export async function occupancy(trace: Trace, options: OccupancyOptions = {}): Promise<OccupancyReport[]> {
  const work = await occupancyWork(trace, options);
  const [first] = work;
  if (!first) return [];
  const from = work.map(({ range }) => range.from).reduce(earlier, first.range.from);
  const to = work.map(({ range }) => range.to).reduce(later, first.range.to);
  const span = { from, to };
  const walk = new OccupancyWalk(work, await stateBefore(trace, from));
  const { signal, progress, stretches } = options;
  const ids = work.map(({ def }) => def.storageId);
  const joined = stretches && new Joined(new OccupancyWalk(work, await stateBefore(trace, from)));
  const isDone = await askStretches<OccupancyPart, readonly Uint32Array[]>(trace, stretches, {
    kind: OCCUPANCY,
    ...span,
    signal,
    progress,
    work: (stretch, carry): OccupancyStretch => ({
      ...stretch,
      ...span,
      carry,
      tracks: work.map(({ range, grid }, index) => ({ storageId: ids[index], range, grid })),
    }),
    add: (part) => joined?.add(part) ?? false,
    carry: () => joined?.carry ?? [],
  });
  if (!isDone || !joined)
    await scanOccupancy(trace, work, walk, { ...span, begin: null, end: null }, options);
  const tracks = isDone && joined ? joined.walk.finish() : walk.finish();
  options.progress?.(1);
  return tracks.map((track, index) => {
    const { mean, last, histogram } = track;
    const points = work[index].grid && track.points();
    return occupancyReport(trace, work[index], { mean, last, histogram, points });
  });
}

/** What is asked of each buffer. @throws UscopeError as `occupancy` */
export async function occupancyWork(trace: Trace, options: OccupancyOptions): Promise<OccupancyWork[]> {
  const asked = askedRange(options);
  const { points } = options;
  const work: OccupancyWork[] = [];
  for (const def of selectBuffers(trace, options)) {
    const periodPs = BigInt(trace.clockOf(def.scopeId)?.periodPs ?? 0);
    const range = await coveredRange(trace, asked, periodPs);
    const tick = tickOf(periodPs);
    const step = periodPs > 0n ? indexStep((range.to - range.from) / tick, points ?? 1) : 1n;
    const grid = points === undefined ? null : seriesGrid(range, tick, points, step);
    work.push({ def, periodPs, range, grid });
  }
  return work;
}

/** The kind of work that `occupancyStretch` does. */
export const OCCUPANCY = 'occupancy';

/** The work of one stretch: plain data. */
export interface OccupancyStretch extends PsRange {
  readonly begin: number;
  readonly end: number | null;
  /** Slots taken in front of it, by track. Null: its checkpoint tells. */
  readonly carry: readonly Uint32Array[] | null;
  readonly tracks: readonly {
    readonly storageId: number;
    readonly range: PsRange;
    readonly grid: SeriesGrid | null;
  }[];
}

/** What a stretch has found: plain data. */
export interface OccupancyPart {
  readonly tracks: readonly TrackPart[];
  readonly before: readonly Uint32Array[];
  readonly after: readonly Uint32Array[];
  /** Times of its first and last frame in ps; null: it has none. */
  readonly firstPs: bigint | null;
  readonly lastPs: bigint | null;
}

/** @throws UscopeError FORMAT_* for damage; NotMergeable */
export async function occupancyStretch(
  trace: Trace,
  { tracks, carry, begin, end, from, to }: OccupancyStretch,
  call: StretchCall,
): Promise<OccupancyPart> {
  const { timeStartPs } = await trace.segment(begin);
  const isFirst = timeStartPs <= from;
  const work = tracks.map(({ storageId, range, grid }) => {
    const def = trace.schema.storages[storageId];
    return { def, range, grid, periodPs: BigInt(trace.clockOf(def.scopeId)?.periodPs ?? 0) };
  });
  const state = isFirst ? await stateBefore(trace, from) : (await trace.stateBefore(begin)).raw;
  const walk = new OccupancyWalk(work, state);
  if (carry) walk.restore(carry);
  if (!isFirst) walk.beginAt(timeStartPs);
  const before = walk.taken();
  await scanOccupancy(trace, work, walk, { from, to, begin, end }, call);
  const { firstPs, lastPs } = walk.times;
  if (!isFirst && firstPs !== null && firstPs < timeStartPs)
    throw new NotMergeable('a frame lies before its segment');
  return { tracks: walk.parts(), before, after: walk.taken(), firstPs, lastPs };
}

/** The parts so far. */
class Joined {
  carry: readonly Uint32Array[] | null = null;
  private lastPs: bigint | null = null;

  constructor(readonly walk: OccupancyWalk) {}

  /** False: the stretch began with other slots taken than the one before has ended with. @throws NotMergeable */
  add({ tracks, before, after, firstPs, lastPs }: OccupancyPart): boolean {
    if (firstPs !== null && this.lastPs !== null && firstPs < this.lastPs)
      throw new NotMergeable('time runs backwards');
    const isSame = this.carry?.every((slots, index) => sameSlots(slots, before[index])) ?? true;
    if (!isSame) return false;
    this.carry = after;
    this.lastPs = lastPs ?? this.lastPs;
    this.walk.absorb(tracks);
    return true;
  }
}

function sameSlots(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((slot, index) => slot === b[index]);
}

/** @param begin first segment that counts; null: whatever lies in the range. `end`: exclusive */
async function scanOccupancy(
  trace: Trace,
  work: readonly Pick<OccupancyWork, 'def'>[],
  walk: OccupancyWalk,
  { from, to, begin, end }: PsRange & { readonly begin: number | null; readonly end: number | null },
  { progress, signal, pause }: StretchCall,
): Promise<void> {
  const checkpoints = work.map(({ def }) => CatalogCheckpoints.of(trace, def));
  const startPs = begin === null ? from : later(from, (await trace.segment(begin)).timeStartPs);
  const stopPs = end !== null && end < trace.segmentCount ? (await trace.segment(end)).timeStartPs : to;
  let hasBegun = false;
  await trace.scan(
    { from: startPs, to },
    {
      segment: async (segment) => {
        signal?.throwIfAborted();
        await pause?.();
        const { timeStartPs } = segment.header;
        if (end !== null && segment.index >= end) return false;
        hasBegun = begin === null || segment.index >= begin;
        if (stopPs > startPs)
          progress?.(Math.max(0, Number(timeStartPs - startPs) / Number(stopPs - startPs)));
        if (!hasBegun || timeStartPs < from) return true;
        walk.continueFrom(
          checkpoints.map((one) => one?.at(segment) ?? null),
          timeStartPs,
        );
        return true;
      },
      frame: (cursor) => {
        if (hasBegun) walk.frame(cursor);
      },
      op: (cursor) => {
        if (hasBegun) walk.op(cursor);
      },
    },
  );
}

export interface OccupancyWork {
  readonly def: StorageDef;
  readonly periodPs: bigint;
  readonly range: PsRange;
  readonly grid: SeriesGrid | null;
}

function selectBuffers(trace: Trace, { buffers: names, core }: OccupancyOptions): readonly StorageDef[] {
  const usual = core ? core.buffers : trace.schema.storages.filter((def) => (def.flags & SF_BUFFER) !== 0);
  const isFit = ({ flags }: StorageDef): boolean => (flags & (SF_BUFFER | SF_SPARSE)) !== 0;
  const why = 'is a dense storage and no buffer: its slots are always occupied';
  return chosenStorages(trace, names, usual, core !== undefined, isFit, why);
}

/** Applies the ops of the requested storages, and notifies each track when its storage's occupancy has changed. */
class OccupancyWalk {
  private readonly tracks: readonly OccupancyTrack[];
  /** Storage id -> index in `tracks`; -1: not asked for. */
  private readonly trackOf: Int32Array;
  private readonly numSlots: Uint32Array;
  /** Storage by track. */
  private readonly ids: readonly number[];
  readonly times = new FrameTimes();

  constructor(
    work: readonly OccupancyWork[],
    private readonly state: StorageState,
  ) {
    this.numSlots = state.layout.numSlots;
    this.ids = work.map(({ def }) => def.storageId);
    this.trackOf = new Int32Array(state.layout.numStorages).fill(-1);
    this.tracks = work.map(({ def, range, grid, periodPs }, index) => {
      this.trackOf[def.storageId] = index;
      return new OccupancyTrack(range, def.numSlots, state.occupancy(def.storageId), grid, tickOf(periodPs));
    });
  }

  frame(cursor: FrameCursor): void {
    this.times.begin(cursor);
  }

  beginAt(timePs: bigint): void {
    for (const track of this.tracks) track.beginAt(timePs);
  }

  /** The slots taken, by track. */
  taken(): Uint32Array[] {
    return this.ids.map((storageId) => {
      const slots = Array.from({ length: this.numSlots[storageId] }, (_, slot) => slot);
      return Uint32Array.from(slots.filter((slot) => this.state.slotOccupied(storageId, slot)));
    });
  }

  /** Begins with these slots taken. */
  restore(taken: readonly Uint32Array[]): void {
    const { state } = this;
    this.ids.forEach((storageId, index) => {
      for (let slot = 0; slot < this.numSlots[storageId]; slot++)
        state.apply(Action.CLEAR, storageId, slot, 0, 0, 0);
      for (const slot of taken[index]) state.apply(Action.SET, storageId, slot, 0, 0, 0);
      this.tracks[index].resume(state.occupancy(storageId));
    });
  }

  parts(): TrackPart[] {
    return this.tracks.map((track) => track.part());
  }

  absorb(parts: readonly TrackPart[]): void {
    parts.forEach((part, index) => {
      this.tracks[index].absorb(part);
    });
  }

  op({ storageId, action, slot, field, lo, hi }: FrameCursor): void {
    const index = this.trackOf[storageId];
    if (index < 0 || action === Action.PROP_SET || slot >= this.numSlots[storageId]) return;
    const { state } = this;
    const before = state.occupied[storageId];
    state.apply(action, storageId, slot, field, lo, hi);
    const after = state.occupied[storageId];
    if (after !== before) this.tracks[index].change(after, this.times.timeLo, this.times.timeHi);
  }

  /** A segment begins at or after the start of the range: storages may have been replaced by snapshots. */
  continueFrom(checkpoints: readonly (CatalogState | null)[], timePs: bigint): void {
    const { state } = this;
    this.trackOf.forEach((index, storageId) => {
      const checkpoint = index < 0 ? null : checkpoints[index];
      if (!checkpoint) return;
      const before = state.occupied[storageId];
      for (let slot = 0; slot < this.numSlots[storageId]; slot++) {
        const isTaken = checkpoint.isTaken(slot);
        if (isTaken === state.slotOccupied(storageId, slot)) continue;
        state.apply(isTaken ? Action.SET : Action.CLEAR, storageId, slot, 0, 0, 0);
      }
      const after = state.occupied[storageId];
      if (after === before) return;
      this.tracks[index].change(after, Number(timePs & 0xffff_ffffn), Number(timePs >> 32n));
    });
  }

  finish(): readonly OccupancyTrack[] {
    for (const track of this.tracks) track.finish();
    return this.tracks;
  }
}

/** What was found of a buffer. */
export interface OccupancyFound {
  readonly mean: number;
  readonly last: number;
  readonly histogram: Float64Array;
  readonly points: readonly { readonly mean: number; readonly min: number; readonly max: number }[] | null;
}

export function occupancyReport(
  trace: Trace,
  { def, range, periodPs, grid }: OccupancyWork,
  { mean, last, histogram, points }: OccupancyFound,
): OccupancyReport {
  const occupied = [...histogram.keys()].filter((count) => histogram[count] > 0);
  const tick = tickOf(periodPs);
  return {
    storageId: def.storageId,
    name: trace.names.storageNames[def.storageId],
    label: def.name,
    slots: def.numSlots,
    fromPs: range.from,
    toPs: range.to,
    periodPs,
    mean,
    min: occupied[0] ?? 0,
    max: occupied.at(-1) ?? 0,
    last,
    histogram: Array.from(histogram, (ps) => BigInt(ps)),
    series:
      grid && points
        ? points.map((point, index) => ({
            fromPs: intervalStart(grid, tick, index, range),
            toPs: intervalStart(grid, tick, index + 1, range),
            ...point,
          }))
        : null,
  };
}
