/** The cycles at which the segments of a trace begin. Of one that grows only what is new is read: a run of days has a million of them. */
import type { Trace } from './library.js';

/** What is read of a trace. */
export type SegmentSource = Pick<Trace, 'segment' | 'segmentCount' | 'totalTimePs'>;

export class SegmentCycles {
  private starts = new Float64Array(64);
  private count = 0;

  constructor(
    private readonly trace: SegmentSource,
    private readonly periodPs: bigint,
  ) {}

  /** The segments of which the start is known. */
  get length(): number {
    return this.count;
  }

  /** Reads the starts of segments that have come since. @throws UscopeError READER_*, FORMAT_* where the segment table cannot be read */
  async follow(): Promise<void> {
    const { trace, periodPs } = this;
    // Of a finalized trace the number is that of the table, once it is read.
    for (; this.count < trace.segmentCount; this.count++) {
      const { timeStartPs } = await trace.segment(this.count);
      if (this.count === this.starts.length) this.grow();
      this.starts[this.count] = Number(timeStartPs / periodPs);
    }
  }

  /** The starts from a segment on, and at last where the trace ends: a copy, 8 bytes for each. */
  since(segment: number): Float64Array {
    const cycles = new Float64Array(this.count - segment + 1);
    cycles.set(this.starts.subarray(segment, this.count));
    cycles[cycles.length - 1] = Number((this.trace.totalTimePs + this.periodPs) / this.periodPs);
    return cycles;
  }

  private grow(): void {
    const { starts } = this;
    this.starts = new Float64Array(this.count * 2);
    this.starts.set(starts);
  }
}
