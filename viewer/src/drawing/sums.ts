/** Sums over any range of cycles: those of the whole trace by buckets, or, where a pixel is finer than a bucket, of blocks cycle by cycle. */
import { aggregate } from '../data/aggregate-builder.js';
import type { TraceInfo } from '../data/protocol.js';
import { type AggregateShape, type Aggregates, columnsOf } from '../model/aggregates.js';
import type { RowBlock } from '../model/blocks.js';
import type { RowStore } from './row-store.js';

export interface Sums {
  /** Cycles in which sums may begin and end. */
  readonly stepCycles: number;
  /** Sum of a column over cycles `[from, to)`, both multiples of the step. */
  sum(column: number, from: number, to: number): number;
  /** Cycles up to here are summed up. */
  readonly knownUntil: number;
}

export const bucketSums = (aggregates: Aggregates): Sums => {
  const { bucketCycles } = aggregates.shape;
  return {
    stepCycles: bucketCycles,
    sum: (column, from, to) => aggregates.sum(column, from / bucketCycles, to / bucketCycles),
    knownUntil: aggregates.known * bucketCycles,
  };
};

/** Running totals of one block, a row for each cycle. */
interface BlockSums {
  readonly block: RowBlock;
  readonly first: number;
  readonly totals: Float64Array;
}

/** Longer ranges are shown by buckets. */
const MAX_BLOCKS = 40;
/** Of one frame, for blocks that come into sight. */
const BUDGET_MS = 10;

/** Sums cycle by cycle for the blocks looked at last. */
export class FineSums {
  private readonly kept = new Map<number, BlockSums>();
  private readonly columns: number;

  constructor(private readonly info: TraceInfo) {
    this.columns = columnsOf(info.aggregates);
  }

  /** Whether a range is short enough. */
  covers(segments: readonly number[]): boolean {
    return segments.length <= MAX_BLOCKS;
  }

  /** null: not all blocks are here, or they could not all be summed up in the time of a frame: ask again in the next one. */
  of(store: RowStore, segments: readonly number[]): Sums | null {
    const until = performance.now() + BUDGET_MS;
    const parts: BlockSums[] = [];
    for (const segment of segments) {
      const block = store.block(segment);
      if (!block || performance.now() > until) return null;
      parts.push(this.ofBlock(block));
    }
    const { columns } = this;
    return {
      stepCycles: 1,
      knownUntil: Number.POSITIVE_INFINITY,
      sum(column, a, b) {
        let sum = 0;
        for (const { first, totals } of parts) {
          const count = totals.length / columns - 1;
          const start = Math.max(0, Math.min(a - first, count));
          const end = Math.max(start, Math.min(b - first, count));
          sum += totals[end * columns + column]! - totals[start * columns + column]!;
        }
        return sum;
      },
    };
  }

  private ofBlock(block: RowBlock): BlockSums {
    const { segment } = block;
    const kept = this.kept.get(segment);
    this.kept.delete(segment);
    const sums = kept?.block === block ? kept : this.make(block);
    this.kept.set(segment, sums);
    for (const other of this.kept.keys()) {
      if (this.kept.size <= MAX_BLOCKS + 2) break;
      this.kept.delete(other);
    }
    return sums;
  }

  private make(block: RowBlock): BlockSums {
    const { info } = this;
    const lastCycle = info.segmentCycles.at(-1) ?? 0;
    const shape: AggregateShape = { ...info.aggregates, bucketCycles: 1, buckets: lastCycle + 1 };
    const reasonOf = (name: string): number => {
      const index = info.reasons.indexOf(name);
      return index < 0 ? info.reasons.length - 1 : index;
    };
    const { first, values } = aggregate(block, shape, reasonOf, lastCycle);
    const totals = new Float64Array(values.length + this.columns);
    for (let i = 0; i < values.length; i++) totals[i + this.columns] = totals[i]! + values[i]!;
    return { block, first, totals };
  }
}
