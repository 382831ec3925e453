/** The index of some segments that follow each other, made without knowing what is in flight where they begin: from two segments before. */
import { decodeIndexContainer, IndexPart } from '../../format/index-container.js';
import type { Trace } from '../../reader/index.js';
import { type Carry, FIRST, IndexPass } from '../../trace-index/pass/index-pass.js';
import type { IndexPlan } from '../../trace-index/plan.js';

/** Segments before a stretch from which the carry at its start is found. Where it is wrong, the stretch is repaired: see `SidecarMaker`. */
const LOOKBACK = 2;

export interface Stretch {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

export interface IndexedStretch extends Stretch {
  /** The carry with which its first segment was made. */
  readonly carry: Uint8Array | null;
  /** By segment; null: it has no index. */
  readonly containers: readonly (Uint8Array | null)[];
}

export class StretchIndexer {
  private readonly pass: IndexPass;

  constructor(
    private readonly trace: Trace,
    plan: IndexPlan,
  ) {
    this.pass = new IndexPass(trace, plan);
  }

  async index({ first, end }: Stretch): Promise<IndexedStretch> {
    const start = Math.max(0, first - LOOKBACK);
    let carry: Carry = start === 0 ? FIRST : null;
    let known = carry;
    const containers: (Uint8Array | null)[] = [];
    for (let segment = start; segment < end; segment++) {
      if (segment === first) known = carry;
      const container = await this.one(segment, carry);
      carry = container && carryOf(container);
      if (segment >= first) containers.push(container);
    }
    return { first, end, carry: known, containers };
  }

  /** null: the segment has no index. */
  async one(segment: number, carry: Carry): Promise<Uint8Array | null> {
    const made = await this.pass.run(await this.trace.loadSegment(segment), carry);
    return made?.container ?? null;
  }
}

/** What a container leaves to the next segment. @throws UscopeError FORMAT_* when it is damaged */
export function carryOf(container: Uint8Array): Carry {
  const parts = decodeIndexContainer(container)?.parts ?? [];
  return parts.find(({ kind }) => kind === IndexPart.CARRY)?.bytes ?? null;
}
