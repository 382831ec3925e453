/** When the frames of a replay are: the first, and the one that it is in. */
import type { FrameCursor } from '../../format/frame.js';

export class FrameTimes {
  /** Of the frame that was begun last, in ps. */
  timeLo = 0;
  timeHi = 0;
  private hasFrames = false;
  private start = 0n;

  begin(cursor: FrameCursor): void {
    if (!this.hasFrames) {
      this.hasFrames = true;
      this.start = cursor.timePs;
    }
    this.timeLo = cursor.timeLo;
    this.timeHi = cursor.timeHi;
  }

  /** null: there was none. */
  get firstPs(): bigint | null {
    return this.hasFrames ? this.start : null;
  }

  get lastPs(): bigint | null {
    return this.hasFrames ? (BigInt(this.timeHi) << 32n) | BigInt(this.timeLo) : null;
  }
}
