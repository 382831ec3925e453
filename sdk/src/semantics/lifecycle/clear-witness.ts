/**
 * Which slots of a storage are cleared in a segment, found out by compiled code: each slot gets one field more, which no op names and every
 * CLEAR zeroes. What of a segment is not ordinary, and everything where there is no compiled code, is looked at op by op.
 */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, FieldType, type Schema, type StorageDef } from '../../format/types.js';
import type { LoadedSegment } from '../../reader/index.js';
import { ReplayPlan } from '../../reader/kernel/replay.js';
import type { SegmentKernel } from '../../reader/kernel/segment-kernel.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import { type StateLayout, stateLayout } from '../../state/layout.js';
import { StorageState } from '../../state/storage-state.js';

const MAX_U64 = (1n << 64n) - 1n;
const WITNESS = { name: 'witness', type: FieldType.U8, enumId: 0, role: 0, pairId: 0 };

export class ClearWitness {
  /** An op on a slot beyond the storage's was seen. */
  sawOutside = false;
  private readonly layout: StateLayout;
  private readonly plan: ReplayPlan;
  /** Where compiled code leaves what it found; null without. */
  private readonly state: StorageState | null;
  /** Seen to be cleared op by op. */
  private readonly cleared = new Set<number>();

  constructor(
    schema: Schema,
    private readonly def: StorageDef,
  ) {
    const storages = schema.storages.map((storage) =>
      storage.storageId === def.storageId ? { ...storage, fields: [...storage.fields, WITNESS] } : storage,
    );
    this.layout = stateLayout({ ...schema, storages }, Number.POSITIVE_INFINITY);
    this.plan = new ReplayPlan(this.layout, schema);
    this.state = this.plan.space > 0 ? new StorageState(this.layout) : null;
  }

  /** Bytes it needs of a kernel. */
  get space(): number {
    return this.plan.space;
  }

  /**
   * Those of `slots` that no frame before `until` (null: no frame at all) clears.
   * @param kernel with `space` for this; null: without compiled code
   * @throws UscopeError FORMAT_* with the place in the file
   */
  untouched(
    segment: LoadedSegment,
    slots: readonly number[],
    until: bigint | null,
    kernel: SegmentKernel | null,
  ): number[] {
    if (until === 0n) return [...slots];
    this.cleared.clear();
    for (const slot of slots) if (this.state) this.state.cells[this.cellOf(slot)] = 1;
    try {
      this.walk(segment, until, kernel);
    } catch (error) {
      throw placeInSegment(error, segment);
    }
    return slots.filter((slot) => !this.cleared.has(slot) && this.state?.cells[this.cellOf(slot)] !== 0);
  }

  private walk(segment: LoadedSegment, until: bigint | null, kernel: SegmentKernel | null): void {
    const { plan, state } = this;
    const cursor = segment.cursor();
    const last = until === null ? MAX_U64 : until - 1n;
    const isFast = kernel !== null && state !== null && cursor.interleaved;
    const compiled = isFast ? plan.enter(kernel, state, segment.deltas) : null;
    try {
      compiled?.advance(cursor, last);
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME && cursor.timePs > last) return;
        if (cursor.kind === CursorItem.OP) this.op(cursor);
        compiled?.advance(cursor, last);
      }
    } finally {
      compiled?.leave();
    }
  }

  private op({ storageId, action, slot }: FrameCursor): void {
    if (storageId !== this.def.storageId || action === Action.PROP_SET) return;
    if (slot >= this.def.numSlots) this.sawOutside = true;
    else if (action === Action.CLEAR) this.cleared.add(slot);
  }

  /** The low word of the witness. */
  private cellOf(slot: number): number {
    const { cellBase, numFields } = this.layout;
    const { storageId } = this.def;
    return (cellBase[storageId]! + (slot + 1) * numFields[storageId]! - 1) * 2;
  }
}
