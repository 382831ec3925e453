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
} from '../cpu/query-range.js';
import { chosenStorages } from './chosen-storages.js';
import { OccupancyTrack } from './occupancy-track.js';

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
  const walk = new OccupancyWalk(work, await stateBefore(trace, from));
  await scanOccupancy(trace, work, walk, { from, to }, options);
  options.progress?.(1);
  return walk.finish().map((track, index) => {
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

async function scanOccupancy(
  trace: Trace,
  work: readonly OccupancyWork[],
  walk: OccupancyWalk,
  { from, to }: PsRange,
  { progress, signal }: OccupancyOptions,
): Promise<void> {
  const checkpoints = work.map(({ def }) => CatalogCheckpoints.of(trace, def));
  await trace.scan(
    { from, to },
    {
      segment: (segment) => {
        signal?.throwIfAborted();
        const { timeStartPs } = segment.header;
        if (to > from) progress?.(Math.max(0, Number(timeStartPs - from) / Number(to - from)));
        if (timeStartPs < from) return;
        walk.continueFrom(
          checkpoints.map((one) => one?.at(segment) ?? null),
          timeStartPs,
        );
      },
      op: (cursor) => walk.op(cursor),
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

  constructor(
    work: readonly OccupancyWork[],
    private readonly state: StorageState,
  ) {
    this.numSlots = state.layout.numSlots;
    this.trackOf = new Int32Array(state.layout.numStorages).fill(-1);
    this.tracks = work.map(({ def, range, grid, periodPs }, index) => {
      this.trackOf[def.storageId] = index;
      return new OccupancyTrack(range, def.numSlots, state.occupancy(def.storageId), grid, tickOf(periodPs));
    });
  }

  op({ storageId, action, slot, field, lo, hi, timeLo, timeHi }: FrameCursor): void {
    const index = this.trackOf[storageId];
    if (index < 0 || action === Action.PROP_SET || slot >= this.numSlots[storageId]) return;
    const { state } = this;
    const before = state.occupied[storageId];
    state.apply(action, storageId, slot, field, lo, hi);
    const after = state.occupied[storageId];
    if (after !== before) this.tracks[index].change(after, timeLo, timeHi);
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
