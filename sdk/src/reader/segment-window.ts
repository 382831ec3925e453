/** Segments one at a time, each decompressed over the one before: for code that goes through many and keeps none. */
import { giveBack, type SegmentKernel, takeKernel } from './kernel/segment-kernel.js';
import type { LoadedSegment, SegmentLoader } from './segment-loader.js';

export class SegmentWindow {
  /** Where they lie; null where there is no compiled code, or not so much memory. */
  readonly kernel: SegmentKernel | null;

  /** @param space bytes of the kernel for the caller */
  constructor(
    private readonly loader: SegmentLoader,
    space: number,
  ) {
    this.kernel = takeKernel(space);
  }

  /**
   * Valid until the next call and `close`. The file's own bytes are kept for a while: who looks back comes by again.
   * @throws UscopeError READER_RANGE when there is no such segment; FORMAT_* for damage
   */
  async load(index: number): Promise<LoadedSegment> {
    return this.loader.unpack(await this.loader.packedCached(index), this.kernel);
  }

  close(): void {
    giveBack(this.kernel);
  }
}
