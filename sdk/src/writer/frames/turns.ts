/** Long work on the thread that others share: in steps of a few milliseconds, between which they have their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CursorItem, FrameCursor } from '../../format/frame.js';
import { LoadSteps } from '../../state/checkpoint-load.js';
import { StepSequence, type Steps } from '../../state/steps.js';
import type { StorageState } from '../../state/storage-state.js';

/** Cells of a state that are loaded or saved in one step: 1 to 4 ms. */
export const STEP_CELLS = 256 * 1024;
/** What it takes to go over an item, in cells. */
const CELLS_PER_ITEM = 8;

/** @throws what the steps throw */
export async function inTurns(steps: Steps): Promise<void> {
  for (;;) {
    steps.step(STEP_CELLS);
    if (steps.isDone) return;
    await nextTurn();
  }
}

/** A walk over the frames and items of a segment. */
export class WalkSteps implements Steps {
  isDone = false;

  constructor(
    private readonly cursor: FrameCursor,
    private readonly visit: (cursor: FrameCursor) => void,
    private readonly atEnd: () => void = () => {},
  ) {}

  step(cells: number): void {
    const { cursor, visit } = this;
    for (let rest = cells; rest > 0 && !this.isDone; rest -= CELLS_PER_ITEM) {
      if (cursor.next()) visit(cursor);
      else {
        this.isDone = true;
        this.atEnd();
      }
    }
  }
}

export interface ReplayedSegment {
  readonly checkpoint: Uint8Array;
  /** Decompressed deltas. */
  readonly raw: Uint8Array;
  readonly timeStartPs: bigint;
}

/** The state after a segment, from its checkpoint and its deltas. The ids of the deltas must be in range. */
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
