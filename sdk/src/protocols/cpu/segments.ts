/** Segments one by one, and which slots of the catalogue are taken where one begins: what looking back and counting are made of. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { LoadedSegment, SegmentEntry, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import { StorageState } from '../../state/storage-state.js';
import type { CoreEntities } from './cores.js';

export class SegmentAccess {
  private readonly state: StorageState;

  private constructor(
    private readonly trace: Trace,
    readonly entries: readonly SegmentEntry[],
    private readonly storedAfter: boolean,
  ) {
    this.state = new StorageState(trace.schema);
  }

  static async of(trace: Trace): Promise<SegmentAccess> {
    const entries = await trace.segments();
    return new SegmentAccess(trace, entries, await storesCheckpointsAfter(trace, entries));
  }

  /** The first segment that may hold frames at or after a time: the last one that begins before it may still reach it. */
  firstReaching(timePs: bigint): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.entries[middle].timeStartPs >= timePs) high = middle;
      else low = middle + 1;
    }
    return Math.max(0, low - 1);
  }

  /** The segments from `first` on that begin before `to`, each loaded while its predecessor is looked at. */
  async *from(first: number, to: bigint | undefined): AsyncGenerator<LoadedSegment> {
    const start = this.entries[first]?.timeStartPs;
    if (start === undefined) return;
    // A range that begins behind the segment's start loads no predecessor, unless several segments begin at one instant.
    const isAlone = this.entries[first + 1]?.timeStartPs !== start;
    const from = isAlone ? start + 1n : start;
    for await (const segment of this.trace.loadedSegments({ from, to })) {
      if (segment.index >= first) yield segment;
    }
  }

  /** One segment, and nothing loaded ahead. */
  async load(index: number): Promise<LoadedSegment> {
    const { timeStartPs } = this.entries[index];
    for await (const segment of this.from(index, timeStartPs + 1n)) return segment;
    throw new RangeError(`there is no segment ${index}`);
  }

  /** The state in front of a segment's first frame; valid until the next call. */
  async stateBefore(segment: LoadedSegment): Promise<StorageState> {
    const { state } = this;
    const holder = !this.storedAfter
      ? segment
      : segment.index > 0
        ? await this.load(segment.index - 1)
        : undefined;
    if (holder) state.loadCheckpoint(holder.checkpoint, holder.checkpointOffset);
    else state.reset();
    return state;
  }
}

/** One existing writer stores a checkpoint behind its segment. The reader finds out when it is first asked for a state. */
async function storesCheckpointsAfter(trace: Trace, entries: readonly SegmentEntry[]): Promise<boolean> {
  const [first] = entries;
  if (trace.session !== null || !first) return false;
  await trace.stateAt(first.timeStartPs);
  return trace.warnings.some(({ kind }) => kind === 'checkpoints-after-segment');
}

/** Which slots of a catalogue are taken, through a walk over ops; calls back at births. */
export class SlotWalk {
  readonly taken = new Set<number>();
  /** Slots beyond the catalogue were seen: checkpoints say nothing of them. */
  sawOutside = false;

  constructor(
    private readonly entities: CoreEntities,
    state: StorageState,
  ) {
    const { storageId, numSlots } = entities.def;
    for (let slot = 0; slot < numSlots; slot++) if (state.slotOccupied(storageId, slot)) this.taken.add(slot);
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
