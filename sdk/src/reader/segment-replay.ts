/** The frames of a segment applied to a state: the ordinary ones by compiled code, where there is some, the others one by one. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import type { Schema } from '../format/types.js';
import type { StateLayout } from '../state/layout.js';
import type { StorageState } from '../state/storage-state.js';
import { ReplayPlan } from './kernel/replay.js';
import type { SegmentKernel } from './kernel/segment-kernel.js';
import type { SchemaChecks } from './scan.js';
import { type LoadedSegment, placeInSegment } from './segment-loader.js';

const TWO_32 = 2 ** 32;
const MAX_U64 = (1n << 64n) - 1n;

export class SegmentReplay {
  private readonly plan: ReplayPlan;

  constructor(
    layout: StateLayout,
    schema: Schema,
    private readonly checks: SchemaChecks,
  ) {
    this.plan = new ReplayPlan(layout, schema);
  }

  /** Bytes of a kernel that a state needs; null where the plain loop does the work. */
  get space(): number | null {
    return this.plan.space > 0 ? this.plan.space : null;
  }

  /**
   * Applies the frames up to and with `untilPs` (null: all).
   * @param kernel with `space`
   * @throws UscopeError FORMAT_* with the place in the file; the state is then undefined
   */
  run(
    state: StorageState,
    segment: LoadedSegment,
    untilPs: bigint | null,
    kernel: SegmentKernel | null,
  ): void {
    const until = untilPs ?? MAX_U64;
    const cursor = segment.cursor();
    const compiled = kernel && cursor.interleaved ? this.plan.enter(kernel, state, segment.deltas) : null;
    const goOn = compiled ? () => compiled.advance(cursor, until) : this.plain(cursor, state, until);
    try {
      goOn();
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME && cursor.timePs > until) break;
        if (cursor.kind === CursorItem.OP && this.checks.op(cursor)) applyOp(state, cursor);
        goOn();
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    } finally {
      compiled?.leave();
    }
  }

  private plain(cursor: FrameCursor, state: StorageState, until: bigint): () => void {
    const { limits } = this.checks;
    const visitor = { op: (item: FrameCursor) => applyOp(state, item) };
    const [untilLo, untilHi] = [Number(until & 0xffff_ffffn), Number(until >> 32n)];
    return () => void cursor.run(limits, visitor, cursor.timeHi === untilHi ? untilLo + 1 : TWO_32);
  }
}

function applyOp(state: StorageState, { action, storageId, slot, field, lo, hi }: FrameCursor): void {
  state.apply(action, storageId, slot, field, lo, hi);
}
