/** Wall clock limit of a segment: frames never wait much longer than a delay for their commit, whether more frames come or not. */
import type { SegmentCutter } from './segment-cutter.js';

/** While somebody looks on: how long frames wait, and how long a wish for that lasts. */
const HASTENED_MS = 250;
const HASTE_LASTS_MS = 2000;

export class CutTimer {
  /** Records came since the last look. */
  private pushed = false;
  private timer: NodeJS.Timeout | null = null;
  /** Until then frames wait `HASTENED_MS` only. */
  private hastyUntil = Number.NEGATIVE_INFINITY;

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
    if (delayMs > 0) this.start(delayMs);
  }

  /** For the next two seconds frames wait 250 ms at most: somebody looks on. */
  hasten(): void {
    if (this.delayMs <= HASTENED_MS) return;
    if (!this.isHasty) this.start(HASTENED_MS);
    this.hastyUntil = performance.now() + HASTE_LASTS_MS;
  }

  private get isHasty(): boolean {
    return performance.now() < this.hastyUntil;
  }

  private start(delayMs: number): void {
    this.stop();
    this.timer = setInterval(() => this.tick(), delayMs / 4).unref();
  }

  /** Records have come: the next frame will make the cut. */
  notePush(): void {
    this.pushed = true;
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private tick(): void {
    const idle = !this.pushed;
    this.pushed = false;
    const { cutter } = this;
    const delayMs = this.isHasty ? HASTENED_MS : this.delayMs;
    if (!this.isHasty && this.hastyUntil > 0) {
      this.hastyUntil = Number.NEGATIVE_INFINITY;
      this.start(delayMs);
    }
    if (cutter.open.numFrames === 0 || this.isOver()) return;
    if (performance.now() - cutter.cutAt < delayMs) return;
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
