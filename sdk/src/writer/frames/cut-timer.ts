/** Wall clock limit of a segment: frames never wait much longer than a delay for their commit, whether more frames come or not. */
import type { SegmentCutter } from './segment-cutter.js';

export class CutTimer {
  /** Records came since the last look. */
  private pushed = false;
  private readonly timer: NodeJS.Timeout | null;

  /**
   * @param delayMs 0: there is no limit
   * @param isOver no more cuts are wanted
   * @param onFailure a cut failed that nobody called for
   */
  constructor(
    private readonly cutter: SegmentCutter,
    private readonly delayMs: number,
    private readonly isOver: () => boolean,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.timer = delayMs > 0 ? setInterval(() => this.tick(), delayMs / 4).unref() : null;
  }

  /** Records have come: the next frame will make the cut. */
  notePush(): void {
    this.pushed = true;
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private tick(): void {
    const idle = !this.pushed;
    this.pushed = false;
    const { cutter } = this;
    if (cutter.open.numFrames === 0 || this.isOver()) return;
    if (performance.now() - cutter.cutAt < this.delayMs) return;
    if (!idle) cutter.policy.overdue = true;
    else this.cut();
  }

  /** Nobody above could catch what is thrown here. */
  private cut(): void {
    try {
      this.cutter.cutBehindLast();
    } catch (error) {
      this.onFailure(error as Error);
    }
  }
}
