/** Sums cycle by cycle, of the blocks looked at last: where a pixel is finer than the index. */
import type { TraceInfo } from '../../data/protocol.js';
import { lowerBound, type RowBlock } from '../../model/blocks.js';
import { reasonPlace } from '../../model/palette.js';
import { Column, columnsOf, type Sums } from '../../model/sums.js';
import type { RowStore } from '../row-store.js';
import { type BlockSums, sumsOf } from './block-sums.js';

const MAX_BLOCKS = 40;
/** Numbers of all totals in sight: 16 MB. */
const MAX_NUMBERS = 2 * 1024 * 1024;
/** Of one frame, for blocks that come into sight. */
const BUDGET_MS = 8;

export class FineSums {
  private readonly kept = new Map<number, BlockSums>();
  private readonly columns: number;

  constructor(private info: TraceInfo) {
    this.columns = columnsOf(info.sums);
  }

  /** Sums of the last segments end where the trace ended. */
  grow(info: TraceInfo): void {
    const last = this.info.segmentCycles.length - 3;
    this.info = info;
    for (const segment of this.kept.keys()) if (segment >= last) this.kept.delete(segment);
  }

  /** Whether a range is short enough. */
  covers(segments: readonly number[]): boolean {
    if (segments.length > MAX_BLOCKS) return false;
    let cycles = 0;
    for (const segment of segments) cycles += this.until(segment) - this.info.segmentCycles[segment]!;
    return cycles * this.columns <= MAX_NUMBERS;
  }

  /** null: not all blocks are here, or they could not all be summed up in the time of a frame: ask again in the next one. */
  of(store: RowStore, segments: readonly number[]): Sums | null {
    const deadline = performance.now() + BUDGET_MS;
    const parts: BlockSums[] = [];
    for (const segment of segments) {
      const block = store.block(segment);
      if (!block || performance.now() > deadline) return null;
      parts.push(this.ofBlock(block));
    }
    const flushes = Float64Array.from(new Set(parts.flatMap((part) => [...part.flushes]))).sort();
    const { segmentCycles } = this.info;
    const [first, last] = [segments[0] ?? 0, segments.at(-1) ?? 0];
    return {
      step: 1,
      // Of the first block only those still in flight in the next segment count.
      from: segmentCycles[first === 0 || segments.length === 1 ? first : first + 1]!,
      to: segmentCycles[last + 1]!,
      hasStages: true,
      sum: (column, from, to) =>
        column === Column.FLUSHES
          ? lowerBound(flushes, to) - lowerBound(flushes, from)
          : sumOf(parts, column, from, to),
    };
  }

  /** Nothing of a block is summed up beyond the segment after it. */
  private until(segment: number): number {
    const { segmentCycles } = this.info;
    return segmentCycles[Math.min(segment + 2, segmentCycles.length - 1)]!;
  }

  private ofBlock(block: RowBlock): BlockSums {
    const { segment } = block;
    const kept = this.kept.get(segment);
    this.kept.delete(segment);
    const sums = kept?.block === block ? kept : this.make(block);
    this.kept.set(segment, sums);
    let numbers = 0;
    for (const one of this.kept.values()) numbers += one.cycles * this.columns;
    for (const [other, one] of this.kept) {
      if (this.kept.size <= MAX_BLOCKS + 2 && numbers <= 2 * MAX_NUMBERS) break;
      if (other === segment) continue;
      numbers -= one.cycles * this.columns;
      this.kept.delete(other);
    }
    return sums;
  }

  private make(block: RowBlock): BlockSums {
    const { sums, reasons } = this.info;
    return sumsOf(block, sums, (name) => reasonPlace(reasons, name), this.until(block.segment));
  }
}

function sumOf(parts: readonly BlockSums[], column: number, from: number, to: number): number {
  let sum = 0;
  for (const { first, cycles, totals } of parts) {
    const total = totals[column];
    if (!total || to <= first || from >= first + cycles) continue;
    const a = Math.max(0, from - first);
    const b = Math.max(a, Math.min(to - first, cycles));
    sum += total[b]! - total[a]!;
  }
  return sum;
}
