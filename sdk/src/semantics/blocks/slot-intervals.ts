/** When the slots of a sparse storage were taken, as columns: the lanes of a buffer, of transactions, of anything that a schema lists by slots. */

import { Turns } from '../../base/turns.js';
import { CursorItem, type FrameCursor, type ItemLimits, type ItemVisitor } from '../../format/frame.js';
import { Action, type StorageDef } from '../../format/types.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import { CatalogCheckpoints, type CatalogState, catalogIn } from '../common/catalog-checkpoint.js';
import type { Values } from './block.js';
import { inOneBuffer, valuesOf } from './columns.js';

const TWO_32 = 2 ** 32;
/** Slots that an op can name. */
const MAX_SLOTS = 0x1_0000;

/** In `begin`: taken before the range. In `end`: still taken at its end. */
export const OPEN_END = -1;

export interface SlotIntervals {
  readonly storageId: number;
  /** The segment in which they ended; of those that are still taken the last one of the range. */
  readonly segment: number;
  readonly count: number;
  readonly slot: Values;
  /** Time from which `begin` and `end` count, in ps. */
  readonly basePs: bigint;
  /** ps after `basePs`, exact below 2^53; `OPEN_END`. */
  readonly begin: Float64Array;
  readonly end: Float64Array;
}

export interface SlotIntervalOptions {
  /** Ends the work soon after it is aborted: the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The intervals in which slots of a storage were taken, in order of their ends: a block for each segment in which some ended, then one of those still taken. A slot
 * is taken by the first op that sets a field of it, and freed by CLEAR, or where a checkpoint says that it is free.
 * @param range in ps; start inclusive, end exclusive; by default the whole trace
 * @throws UscopeError FORMAT_* for damage
 */
export async function* slotIntervals(
  trace: Trace,
  storage: StorageDef,
  range: { readonly from?: bigint | undefined; readonly to?: bigint | undefined } = {},
  { signal }: SlotIntervalOptions = {},
): AsyncGenerator<SlotIntervals> {
  const { from = 0n, to } = range;
  if (trace.segmentCount === 0 || (to !== undefined && to <= from)) return;
  const turns = new Turns(signal);
  const checkpoints = CatalogCheckpoints.of(trace, storage);
  const first = await trace.firstSegmentReaching(from);
  const walk = new IntervalWalk(storage, trace.itemLimits, from, to);
  walk.begin(catalogIn((await trace.stateBefore(first)).raw, storage.storageId));
  let index = first;
  for await (const segment of trace.segmentsInPlace(first, to)) {
    await turns.next();
    if (segment.index > first && checkpoints) {
      walk.continueFrom(checkpoints.at(segment), segment.header.timeStartPs);
    }
    index = segment.index;
    walk.follow(segment);
    if (walk.ended > 0) yield walk.take(index);
    if (walk.isDone) break;
  }
  walk.endAll();
  if (walk.ended > 0) yield walk.take(index);
}

class IntervalWalk {
  /** The end of the range has been reached. */
  isDone = false;
  /** For each slot when it was taken: ps after the range began, `OPEN_END` for earlier; NaN: it is free. */
  private readonly taken = new Float64Array(MAX_SLOTS).fill(Number.NaN);
  private slots: number[] = [];
  private begins: number[] = [];
  private ends: number[] = [];
  /** Of the present frame, ps after the range began. */
  private now = OPEN_END;
  private readonly visitor: ItemVisitor;
  private readonly to: number;
  private readonly fromLo: number;
  private readonly fromHi: number;

  constructor(
    private readonly storage: StorageDef,
    private readonly limits: ItemLimits,
    private readonly from: bigint,
    to: bigint | undefined,
  ) {
    this.to = to === undefined ? Number.POSITIVE_INFINITY : Number(to - from);
    this.fromLo = Number(from & 0xffff_ffffn);
    this.fromHi = Number(from >> 32n);
    this.visitor = { frame: (cursor) => this.frame(cursor), op: (cursor) => this.op(cursor) };
  }

  get ended(): number {
    return this.slots.length;
  }

  /** The slots that are taken where the walk begins. */
  begin(state: CatalogState): void {
    for (let slot = 0; slot < this.storage.numSlots; slot++) {
      if (state.isTaken(slot)) this.taken[slot] = OPEN_END;
    }
  }

  /** A later segment begins: its checkpoint knows best. */
  continueFrom(state: CatalogState, timePs: bigint): void {
    this.now = Math.max(OPEN_END, Number(timePs - this.from));
    for (let slot = 0; slot < this.storage.numSlots; slot++) {
      if (state.isTaken(slot)) this.occupy(slot);
      else this.free(slot);
    }
  }

  /** @throws UscopeError FORMAT_* with the place in the file */
  follow(segment: LoadedSegment): void {
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.OP) this.op(cursor);
        else if (cursor.kind === CursorItem.FRAME && !this.frame(cursor)) return;
        if (!cursor.run(this.limits, this.visitor, TWO_32)) return;
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
  }

  /** What is still taken has no end. */
  endAll(): void {
    for (let slot = 0; slot < MAX_SLOTS; slot++) {
      if (!Number.isNaN(this.taken[slot])) this.push(slot, OPEN_END);
    }
  }

  take(segment: number): SlotIntervals {
    const { slots, begins, ends, from, storage } = this;
    this.slots = [];
    this.begins = [];
    this.ends = [];
    return inOneBuffer({
      storageId: storage.storageId,
      segment,
      count: slots.length,
      basePs: from,
      slot: valuesOf(slots),
      begin: Float64Array.from(begins),
      end: Float64Array.from(ends),
    });
  }

  private frame({ timeLo, timeHi }: FrameCursor): boolean {
    const now = (timeHi - this.fromHi) * TWO_32 + (timeLo - this.fromLo);
    this.now = Math.max(OPEN_END, now);
    this.isDone = now >= this.to;
    return !this.isDone;
  }

  private op({ storageId, action, slot }: FrameCursor): void {
    if (storageId !== this.storage.storageId || action === Action.PROP_SET) return;
    if (action === Action.CLEAR) this.free(slot);
    else this.occupy(slot);
  }

  private occupy(slot: number): void {
    if (Number.isNaN(this.taken[slot])) this.taken[slot] = this.now;
  }

  private free(slot: number): void {
    if (Number.isNaN(this.taken[slot])) return;
    // Over before the range.
    if (this.now !== OPEN_END) this.push(slot, this.now);
    this.taken[slot] = Number.NaN;
  }

  private push(slot: number, end: number): void {
    this.slots.push(slot);
    this.begins.push(this.taken[slot]);
    this.ends.push(end);
  }
}
