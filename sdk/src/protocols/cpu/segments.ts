/** Segments one by one, and which slots of the catalogue are taken where one begins: what looking back and counting are made of. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type StorageDef } from '../../format/types.js';
import type { LoadedSegment, SegmentEntry, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import type { StorageState } from '../../state/storage-state.js';
import { CatalogueCheckpoints, type CatalogueState } from '../catalogue-checkpoint.js';

/** A storage whose slots are taken by what it lists: instructions, transactions. */
export interface Catalogue {
  readonly def: StorageDef;
  /** Index of the field whose SET is a birth; -1: any SET on a free slot is. */
  readonly idField: number;
}

export class SegmentAccess {
  private constructor(
    private readonly trace: Trace,
    readonly count: number,
  ) {}

  static async of(trace: Trace): Promise<SegmentAccess> {
    // The number of segments of a finalized trace is confirmed when its table is first asked.
    if (trace.segmentCount > 0) await trace.segment(0);
    return new SegmentAccess(trace, trace.segmentCount);
  }

  entry(index: number): Promise<SegmentEntry> {
    return this.trace.segment(index);
  }

  /** When a segment starts, in ps. */
  async start(index: number): Promise<bigint> {
    return (await this.entry(index)).timeStartPs;
  }

  /** The first segment that may hold frames at or after a time: the last one that begins before it may still reach it. */
  firstReaching(timePs: bigint): Promise<number> {
    return this.trace.firstSegmentReaching(timePs);
  }

  /** The segments from `first` on that begin before `to`, each loaded while its predecessor is looked at. */
  from(first: number, to: bigint | undefined): AsyncGenerator<LoadedSegment> {
    return this.trace.loadedSegmentsFrom(first, to);
  }

  /** One segment, and nothing loaded ahead. */
  load(index: number): Promise<LoadedSegment> {
    return this.trace.loadSegment(index);
  }

  /** What checkpoints say of a catalogue; null where they say nothing beyond the frames. */
  checkpointsOf({ def }: Catalogue): CatalogueCheckpoints | null {
    return CatalogueCheckpoints.of(this.trace, def);
  }

  /** The state in front of a segment's first frame. */
  async stateBefore(segment: LoadedSegment): Promise<StorageState> {
    return (await this.trace.stateBefore(segment.index)).raw;
  }
}

/** Which slots of a catalogue are taken, through a walk over ops; calls back at births. */
export class SlotWalk {
  readonly taken = new Set<number>();
  /** Slots beyond the catalogue were seen: checkpoints say nothing of them. */
  sawOutside = false;

  constructor(
    private readonly entities: Catalogue,
    state: StorageState,
  ) {
    const { storageId, numSlots } = entities.def;
    for (let slot = 0; slot < numSlots; slot++) if (state.slotOccupied(storageId, slot)) this.taken.add(slot);
  }

  /** A later segment begins: its checkpoint knows best. */
  continueFrom(state: CatalogueState): void {
    const { numSlots } = this.entities.def;
    for (const slot of this.taken) if (slot < numSlots && !state.isTaken(slot)) this.taken.delete(slot);
    for (let slot = 0; slot < numSlots; slot++) if (state.isTaken(slot)) this.taken.add(slot);
  }

  /** Applies the ops of a segment's frames before `until`; false when that time was reached. */
  walk(
    segment: LoadedSegment,
    until: bigint | null,
    onBirth: (slot: number, cursor: FrameCursor) => void,
    onClear: (slot: number) => void = () => undefined,
  ): boolean {
    const { def, idField } = this.entities;
    const { storageId, numSlots } = def;
    const untilTime = until === null ? Number.POSITIVE_INFINITY : Number(until);
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME) {
          if (cursor.time >= untilTime && until !== null && cursor.timePs >= until) return false;
        } else if (cursor.kind === CursorItem.OP && cursor.storageId === storageId) {
          const { action, slot } = cursor;
          if (slot >= numSlots) this.sawOutside = true;
          if (action === Action.CLEAR) {
            if (this.taken.delete(slot)) onClear(slot);
          } else if (action === Action.SET && (cursor.field === idField || idField < 0)) {
            if (this.taken.has(slot)) continue;
            this.taken.add(slot);
            onBirth(slot, cursor);
          }
        }
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
    return true;
  }
}
