/** Makes the index of a trace that has none, in memory, segment by segment: for a page that shows the trace meanwhile. */
import { decodeIndexContainer, type IndexContainer } from '../../format/index-container.js';
import type { Trace } from '../../reader/index.js';
import type { ContainerSource, NoContainer } from '../containers/container-source.js';
import { SegmentParts } from '../containers/segment-parts.js';
import { type Carry, FIRST, IndexPass } from '../pass/index-pass.js';
import { endsTooLate, type IndexPlan, indexPlan } from '../plan.js';
import { PyramidLevels } from './level-set.js';
import { TraceIndex } from './trace-index.js';

/** Pages load it together with this module, when a trace lacks its index or a part of it. */
export { IndexPass };

/** Containers kept; what does not fit is counted again when a question needs it. */
const MAX_BYTES = 128 * 1024 * 1024;

/** The segments known when it was begun. */
export class IndexMaker {
  private readonly containers = new MadeContainers();
  private readonly pass: IndexPass;
  private carry: Carry = FIRST;
  private next = 0;

  private constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
    /** Of the trace. */
    readonly segments: number,
  ) {
    this.pass = new IndexPass(trace, plan);
  }

  /** null: the trace has nothing to index, which are segments and clocks of known period, or ends too late: see `openIndex`. */
  static of(trace: Trace): IndexMaker | null {
    const plan = indexPlan(trace.schema, trace.dut);
    if (plan.groups.length === 0 || trace.segmentCount === 0 || endsTooLate(trace)) return null;
    return new IndexMaker(trace, plan, trace.segmentCount);
  }

  /** Segments counted so far. */
  get done(): number {
    return this.next;
  }

  /** Counts the next segment. @throws UscopeError READER_*, FORMAT_* where the segment is damaged: the next call continues after it */
  async step(): Promise<void> {
    if (this.next >= this.segments) return;
    const segment = this.next++;
    const before = this.carry;
    // Where a segment cannot be read it is not known what is in flight after it.
    this.carry = null;
    const made = await this.pass.run(await this.trace.loadSegment(segment), before);
    if (!made) return;
    this.carry = made.carry;
    this.containers.keep(segment, made.container);
  }

  /** Once all segments are counted. */
  index(): TraceIndex {
    const parts = new SegmentParts(this.trace, this.plan, this.containers);
    return new TraceIndex(parts, new PyramidLevels(parts), 'memory');
  }
}

class MadeContainers implements ContainerSource {
  private readonly made = new Map<number, Uint8Array>();
  private bytes = 0;

  keep(segment: number, container: Uint8Array): void {
    if (this.bytes + container.length > MAX_BYTES) return;
    this.bytes += container.length;
    this.made.set(segment, container);
  }

  async read(segment: number): Promise<IndexContainer | NoContainer> {
    const bytes = this.made.get(segment);
    const container = bytes && decodeIndexContainer(bytes, 0, null);
    return container ?? { reason: 'absent', detail: `segment ${segment} is not in the index made in memory` };
  }
}
