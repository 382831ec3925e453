/** Segments one at a time, each decompressed over the one before: for code that goes through many and keeps none. */
import { giveBack, type SegmentKernel, takeKernel } from './kernel/segment-kernel.js';
import type { LoadedSegment, SegmentLoader } from './segment-loader.js';

export class SegmentWindow {
  /** Their address; null where there is no compiled code, or not so much memory. */
  readonly kernel: SegmentKernel | null;

  /**
   * @param space bytes of the kernel for the caller
   * @param keeps the file's own bytes are kept for a while: for who looks back, and comes by again
   */
  constructor(
    private readonly loader: SegmentLoader,
    space: number,
    private readonly keeps: boolean,
  ) {
    this.kernel = takeKernel(space);
  }

  /**
   * Valid until the next call and `close`.
   * @throws UscopeError READER_RANGE when there is no such segment; FORMAT_* for damage
   */
  async load(index: number): Promise<LoadedSegment> {
    const { loader, kernel, keeps } = this;
    const packed = await (kernel && !keeps ? loader.packedIn(index, kernel) : loader.packedCached(index));
    return loader.unpack(packed, kernel);
  }

  close(): void {
    giveBack(this.kernel);
  }
}
