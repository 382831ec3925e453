/** Makes the index of segments of an open trace: compiled where that works, else the plain way, with the same bytes. */
import { isUscopeError } from '../../base/errors.js';
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

  /** null: the frames do not follow the schema, or the index would be too large. */
  async run(segment: LoadedSegment, carry: Carry): Promise<MadeContainer | null> {
    const { trace, plan } = this;
    const checkpoint = await checkpointBefore(trace, segment);
    // Plain frames (v0.1) have no compiled loop.
    if (this.kernel === undefined) this.kernel = trace.isInterleaved ? createIndexKernel() : null;
    const made = this.kernel
      ? this.compiled(this.kernel, segment, checkpoint, carry)
      : plain(plan, segment, checkpoint, carry);
    if (made) sealIndexContainer(made.container, segment.offset, trace.crc32);
    return made;
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
  try {
    const { header, deltas } = segment;
    const result = referencePass(plan, { header, checkpoint, deltas, cursor: () => segment.cursor() }, carry);
    const container = encodeIndexContainer({ segmentOffset: 0n, planCrc: plan.crc, parts: result.parts });
    return { container, carry: result.carry };
  } catch (error) {
    if (isUscopeError(error)) return null;
    throw error;
  }
}

/** The state before a segment, also in files that store it elsewhere. */
async function checkpointBefore(trace: Trace, segment: LoadedSegment): Promise<Uint8Array> {
  if (!(await trace.checkpointsAreAfter())) return segment.checkpoint;
  return (await trace.stateBefore(segment.index)).raw.encodeCheckpoint();
}
