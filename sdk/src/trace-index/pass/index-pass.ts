/** Makes the index of segments of an open trace: compiled where that works, else the plain way, with the same bytes. */
import { encodeIndexContainer, sealIndexContainer } from '../../format/index-container.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { createIndexKernel, type IndexKernel } from '../kernel/index-kernel.js';
import type { IndexPlan } from '../plan.js';
import { type Carry, referencePass } from '../reference/reference-pass.js';

export interface MadeContainer {
  /** Complete, with checksum. */
  readonly container: Uint8Array;
  readonly carry: Uint8Array;
}

export class IndexPass {
  /** Not made before it is needed: most traces have an index. */
  private kernel: IndexKernel | null | undefined;
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
    // Plain frames (v0.1) have no compiled loop.
    if (this.kernel === undefined) this.kernel = trace.isInterleaved ? createIndexKernel() : null;
    const made = this.make(segment, checkpoint, carry);
    if (made) sealIndexContainer(made.container, segment.offset, trace.crc32);
    return made;
  }

  /** A fault of what makes the index costs one segment's, not all. */
  private make(segment: LoadedSegment, checkpoint: Uint8Array, carry: Carry): MadeContainer | null {
    try {
      if (this.kernel) return this.compiled(this.kernel, segment, checkpoint, carry);
      return plain(this.plan, segment, checkpoint, carry);
    } catch {
      this.kernel = null; // compiled code that has failed may have left its memory in any state
      return null;
    }
  }

  private compiled(
    kernel: IndexKernel,
    { header, deltas }: LoadedSegment,
    checkpoint: Uint8Array,
    carry: Carry,
  ): MadeContainer | null {
    const { timeStartPs } = header;
    const { plan, strangeSlots } = this;
    return kernel.run(plan, { timeStartPs, checkpoint, frames: deltas, carry, strangeSlots });
  }
}

function plain(
  plan: IndexPlan,
  segment: LoadedSegment,
  checkpoint: Uint8Array,
  carry: Carry,
): MadeContainer | null {
  const { header, deltas } = segment;
  const result = referencePass(plan, { header, checkpoint, deltas, cursor: () => segment.cursor() }, carry);
  const container = encodeIndexContainer({ segmentOffset: 0n, planCrc: plan.crc, parts: result.parts });
  return { container, carry: result.carry };
}

/** The state before a segment, also in files that store it elsewhere. */
async function checkpointBefore(trace: Trace, segment: LoadedSegment): Promise<Uint8Array> {
  if (!(await trace.checkpointsAreAfter())) return segment.checkpoint;
  return (await trace.stateBefore(segment.index)).raw.encodeCheckpoint();
}
