/** What takes runs of ordinary frames: FrameRun in TypeScript, FrameKernel compiled. */
import { CursorItem, FrameCursor } from '../format/frame.js';
import type { StorageState } from '../state/storage-state.js';
import type { CutPolicy } from './cut-policy.js';
import type { SegmentBuffer } from './segment-buffer.js';

/** Words before the end of a message in which no frame is tried that may be cut, at first: 128 records. */
const FIRST_MARGIN_WORDS = 512;

export abstract class FrameTaker {
  /** Time of the last frame, ps as u32 halves; in and out. */
  lastLo = 0;
  lastHi = 0;
  /** Ordinal of the next frame; in and out. */
  ordinal = 0;
  /** Items taken by the last call. */
  items = 0;
  /** How often a frame had to be taken back. */
  rollbacks = 0;
  /** Where STRING records inside frames go. */
  onString: (words: Uint32Array, record: number) => void = () => {};
  /** A frame that begins in the last so many words of a message is tried only if it is known to end there. */
  margin = FIRST_MARGIN_WORDS;
  /** Where records are best put before they are given to `take`, each for one message: it then need not copy them. */
  readonly windows: readonly Uint8Array[] = [];

  /**
   * Takes ordinary frames from `words[first]` on; returns the first word it did not take. The segment must have a frame already, so
   * that deltas count from the last frame.
   */
  abstract take(
    words: Uint32Array,
    first: number,
    endOfWords: number,
    buffer: SegmentBuffer,
    policy: CutPolicy,
  ): number;

  /** Takes back what a frame did to the state that is not in the buffer. The next messages keep more distance from their end. */
  protected rollBack(state: StorageState, buffer: SegmentBuffer): void {
    this.rollbacks++;
    this.margin = Math.max(this.margin, FIRST_MARGIN_WORDS) * 4;
    state.loadCheckpoint(buffer.checkpoint);
    const cursor = new FrameCursor(buffer.bytes.subarray(0, buffer.length), buffer.timeStartPs, true);
    while (cursor.next()) {
      if (cursor.kind !== CursorItem.OP) continue;
      state.apply(cursor.action, cursor.storageId, cursor.slot, cursor.field, cursor.lo, cursor.hi);
    }
  }
}
