/** Makes the index of segments of an open trace. */
import { sealIndexContainer } from '../../format/index-container.js';
import { interleavedFrames } from '../../format/interleave.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { createIndexKernel, type IndexKernel } from '../kernel/index-kernel.js';
import type { IndexPlan } from '../plan.js';

/** What came before a segment: a carry, `FIRST` for a trace's first segment, or null where it is not known. */
export type Carry = Uint8Array | null;
export const FIRST: Carry = new Uint8Array(0);

export interface MadeContainer {
  /** Complete, with checksum. */
  readonly container: Uint8Array;
  readonly carry: Uint8Array;
}

export class IndexPass {
  /** Not made before it is needed: most traces have an index. */
  private kernel: IndexKernel | null = null;
  private readonly strangeSlots: boolean;

  constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
  ) {
    const { session } = trace;
    this.strangeSlots = session === null || session.status === SessionStatus.RECOVERED;
  }

  /** null: the frames do not follow the schema, the index would be too large, or what makes it has failed. */
  async run(segment: LoadedSegment, carry: Carry): Promise<MadeContainer | null> {
    const { trace } = this;
    const checkpoint = await checkpointBefore(trace, segment);
    this.kernel ??= createIndexKernel();
    const made = this.make(this.kernel, segment, checkpoint, carry);
    if (made) sealIndexContainer(made.container, segment.offset, trace.crc32);
    return made;
  }

  /** A fault of what makes the index costs one segment's, not all. */
  private make(
    kernel: IndexKernel,
    segment: LoadedSegment,
    checkpoint: Uint8Array,
    carry: Carry,
  ): MadeContainer | null {
    const { plan, strangeSlots, trace } = this;
    const { timeStartPs } = segment.header;
    const eventsLast = !trace.isInterleaved;
    try {
      const frames = interleavedFrames(segment);
      return kernel.run(plan, { timeStartPs, checkpoint, frames, carry, strangeSlots, eventsLast });
    } catch {
      this.kernel = null; // compiled code that has failed may have left its memory in any state
      return null;
    }
  }
}

/** The state before a segment, also in files that store it elsewhere. */
async function checkpointBefore(trace: Trace, segment: LoadedSegment): Promise<Uint8Array> {
  if (!(await trace.checkpointsAreAfter())) return segment.checkpoint;
  return (await trace.stateBefore(segment.index)).raw.encodeCheckpoint();
}
