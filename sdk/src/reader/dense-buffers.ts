/**
 * Occupancy of buffers that are stored dense (SF_BUFFER without SF_SPARSE): their checkpoints have no mask. A slot with data is occupied,
 * since CLEAR zeroes it; a slot of zeros is either free or holds zeros, which the last SET or CLEAR before the checkpoint shows.
 */
import { CursorItem } from '../format/frame.js';
import { Action } from '../format/types.js';
import type { StateLayout } from '../state/layout.js';
import type { StorageState } from '../state/storage-state.js';
import { type LoadedSegment, placeInSegment, type SegmentLoader } from './segment-loader.js';
import type { Warnings } from './warnings.js';

/** Segments looked back through for a slot of zeros that nothing touched; then it counts as free. */
const MAX_LOOKBACK = 64;
const MAX_CACHED = 1024;

const Touch = { NONE: 0, SET: 1, CLEARED: 2 } as const;

export class DenseBuffers {
  /** Slots known to be occupied at the start of a segment, one byte per slot of all dense buffers. */
  private readonly known = new Map<number, Uint8Array>();
  /** Storage id -> index of its first slot in the flat arrays; -1 for storages of another kind. */
  private readonly base: Int32Array;
  private readonly ids: readonly number[];
  private readonly totalSlots: number;

  private constructor(
    private readonly layout: StateLayout,
    ids: readonly number[],
    private readonly loader: SegmentLoader,
    private readonly warnings: Warnings,
  ) {
    this.ids = ids;
    this.base = new Int32Array(layout.numStorages).fill(-1);
    let slots = 0;
    for (const id of ids) {
      this.base[id] = slots;
      slots += layout.numSlots[id];
    }
    this.totalSlots = slots;
  }

  /** null when the schema has no such storage. */
  static of(layout: StateLayout, loader: SegmentLoader, warnings: Warnings): DenseBuffers | null {
    const ids = layout.schema.storages
      .map((storage) => storage.storageId)
      .filter((id) => layout.buffer[id] === 1 && layout.sparse[id] === 0);
    return ids.length > 0 ? new DenseBuffers(layout, ids, loader, warnings) : null;
  }

  /** Completes the occupancy of a state just loaded for the start of segment `index`. */
  async restore(state: StorageState, index: number): Promise<void> {
    const occupied = this.known.get(index) ?? (await this.resolve(state, index));
    for (const id of this.ids) {
      for (let slot = 0; slot < this.layout.numSlots[id]; slot++) {
        if (occupied[this.base[id] + slot] === 0 || state.slotOccupied(id, slot)) continue;
        state.mask[this.layout.maskBase[id] + (slot >>> 3)] |= 1 << (slot & 7);
        state.occupied[id]++;
      }
    }
  }

  private async resolve(state: StorageState, index: number): Promise<Uint8Array> {
    const occupied = new Uint8Array(this.totalSlots);
    const open = this.slotsOfZeros(state, occupied);
    const stop = Math.max(0, index - MAX_LOOKBACK);
    for (let before = index - 1; before >= stop && open.size > 0; before--) {
      const touches = this.touches(await this.loader.load(before));
      const earlier = this.known.get(before);
      for (const slot of open) {
        if (touches[slot] === Touch.NONE && !earlier) continue;
        occupied[slot] = touches[slot] === Touch.NONE ? earlier![slot] : touches[slot] === Touch.SET ? 1 : 0;
        open.delete(slot);
      }
    }
    if (open.size > 0 && stop > 0) this.warnLookback();
    if (this.known.size >= MAX_CACHED) this.known.delete(this.known.keys().next().value!);
    this.known.set(index, occupied);
    return occupied;
  }

  private slotsOfZeros(state: StorageState, occupied: Uint8Array): Set<number> {
    const open = new Set<number>();
    for (const id of this.ids) {
      for (let slot = 0; slot < this.layout.numSlots[id]; slot++) {
        if (state.slotOccupied(id, slot)) occupied[this.base[id] + slot] = 1;
        else open.add(this.base[id] + slot);
      }
    }
    return open;
  }

  /** What last happened to each slot in a segment. Ids beyond the schema are not this function's to report. */
  private touches(segment: LoadedSegment): Uint8Array {
    const touched = new Uint8Array(this.totalSlots);
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind !== CursorItem.OP || cursor.action === Action.PROP_SET) continue;
        const base = cursor.storageId < this.base.length ? this.base[cursor.storageId] : -1;
        if (base < 0 || cursor.slot >= this.layout.numSlots[cursor.storageId]) continue;
        touched[base + cursor.slot] = cursor.action === Action.CLEAR ? Touch.CLEARED : Touch.SET;
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
    return touched;
  }

  private warnLookback(): void {
    this.warnings.add(
      'dense-buffer-lookback',
      `slots of buffers stored without a mask that hold zeros and were not touched for ${MAX_LOOKBACK} segments count as free`,
    );
  }
}
