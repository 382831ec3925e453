/** The state after a segment, from its checkpoint and its deltas. */
import { CursorItem, FrameCursor } from '../../format/frame.js';
import { LoadSteps } from '../../state/checkpoint-load.js';
import { StepSequence, type Steps } from '../../state/steps.js';
import type { StorageState } from '../../state/storage-state.js';
import { WalkSteps } from './turns.js';

export interface ReplayedSegment {
  readonly checkpoint: Uint8Array;
  /** Decompressed deltas. */
  readonly raw: Uint8Array;
  readonly timeStartPs: bigint;
}

/** The ids of the deltas must be in range. */
export function replaySteps(state: StorageState, { checkpoint, raw, timeStartPs }: ReplayedSegment): Steps {
  const apply = (cursor: FrameCursor): void => {
    if (cursor.kind !== CursorItem.OP) return;
    state.apply(cursor.action, cursor.storageId, cursor.slot, cursor.field, cursor.lo, cursor.hi);
  };
  return new StepSequence([
    () => new LoadSteps(state, checkpoint),
    () => new WalkSteps(new FrameCursor(raw, timeStartPs, true), apply),
  ]);
}
