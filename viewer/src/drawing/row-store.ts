/** The blocks that the picture is drawn from, bounded in bytes, and where rows lie in time: exact where a block is here, else interpolated. */

import type { TraceInfo } from '../data/protocol.js';
import { blockBytes, lowerBound, type RowBlock } from '../model/blocks.js';
import type { Diagonal, Extent } from '../model/view.js';

const MAX_BYTES = 256 * 1024 * 1024;

interface Held {
  readonly block: RowBlock;
  readonly bytes: number;
}

export interface Place {
  readonly block: RowBlock;
  readonly index: number;
}

export class RowStore implements Diagonal {
  /** By segment; the block used last comes last. */
  private readonly held = new Map<number, Held>();
  private bytes = 0;
  /** Rows before each segment, as far as they are known: from the first on without gaps. */
  private readonly rowsBefore: number[] = [0];
  private readonly cycles: Float64Array;
  private total: number | null = null;

  constructor(readonly info: TraceInfo) {
    this.cycles = info.segmentCycles;
  }

  get segments(): number {
    return this.cycles.length - 1;
  }

  get extent(): Extent {
    return { firstCycle: this.cycles[0] ?? 0, lastCycle: this.cycles.at(-1) ?? 1, rows: this.rows };
  }

  /** How many there are; an estimate until all of the trace has been read. */
  get rows(): number {
    if (this.total !== null) return this.total;
    const known = this.rowsBefore.at(-1)!;
    const counted = this.info.anchors?.rows.at(-1);
    if (counted !== undefined) return Math.max(known, counted);
    const passed = this.cycles[this.rowsBefore.length - 1]! - this.cycles[0]!;
    if (passed <= 0) return 0;
    return Math.round((known / passed) * (this.cycles.at(-1)! - this.cycles[0]!));
  }

  get isComplete(): boolean {
    return this.total !== null;
  }

  /** Part of the trace that has been read, 0 to 1. */
  get progress(): number {
    return this.isComplete ? 1 : (this.rowsBefore.length - 1) / Math.max(1, this.segments);
  }

  /** What the pass over the trace counted: segments come in order. */
  passed(segment: number, firstRow: number, count: number): void {
    if (segment === this.rowsBefore.length - 1) this.rowsBefore.push(firstRow + count);
  }

  complete(rows: number): void {
    this.total = rows;
  }

  add(block: RowBlock): void {
    if (block.firstRow < 0) return;
    this.drop(block.segment);
    const bytes = blockBytes(block);
    this.held.set(block.segment, { block, bytes });
    this.bytes += bytes;
    for (const segment of this.held.keys()) {
      if (this.bytes <= MAX_BYTES) break;
      if (segment !== block.segment) this.drop(segment);
    }
  }

  /** The block of a segment, if it is here; it counts as used. */
  block(segment: number): RowBlock | null {
    const held = this.held.get(segment);
    if (!held) return null;
    this.held.delete(segment);
    this.held.set(segment, held);
    return held.block;
  }

  has(segment: number): boolean {
    return this.held.has(segment);
  }

  blocks(): RowBlock[] {
    return [...this.held.values()].map(({ block }) => block);
  }

  /** Where a row is kept; null: not here. */
  locate(row: number): Place | null {
    const block = this.block(this.segmentOfRow(row));
    const index = block ? row - block.firstRow : -1;
    if (block && index >= 0 && index < block.count) return { block, index };
    // Borders that are only estimated may be off by a segment.
    for (const { block: other } of this.held.values()) {
      const at = row - other.firstRow;
      if (at >= 0 && at < other.count) return { block: other, index: at };
    }
    return null;
  }

  /** The segments that rows `[from, to)` are born in. */
  segmentsOfRows(from: number, to: number): number[] {
    const first = this.segmentOfRow(Math.max(0, from));
    const last = this.segmentOfRow(Math.max(0, Math.min(to, this.rows) - 1));
    return range(first, last + 1);
  }

  /** The segments in which cycles `[from, to)` lie, and the one before, of which some may still be in flight. */
  segmentsOfCycles(from: number, to: number): number[] {
    return range(Math.max(0, this.segmentAt(from) - 1), this.segmentAt(to) + 1);
  }

  segmentAt(cycle: number): number {
    const index = lowerBound(this.cycles, Math.floor(cycle) + 1, this.segments) - 1;
    return Math.max(0, Math.min(index, this.segments - 1));
  }

  cycleOf(row: number): number {
    const whole = Math.floor(row);
    if (row <= 0) return this.birthOf(0) ?? this.extent.firstCycle;
    const birth = this.birthOf(whole);
    if (birth === null) return this.interpolate(row);
    if (whole === row) return birth;
    const next = this.birthOf(whole + 1) ?? birth;
    return birth + (next - birth) * (row - whole);
  }

  rowAt(cycle: number): number {
    const block = this.held.get(this.segmentAt(cycle))?.block;
    if (block && cycle >= block.baseCycle) {
      const index = lowerBound(block.birth, Math.ceil(cycle) - block.baseCycle, block.count);
      return block.firstRow + index;
    }
    const { cycles, rows } = this.anchors();
    const at = upperIndex(cycles, cycle);
    return line(cycles[at]!, rows[at]!, cycles[at + 1]!, rows[at + 1]!, cycle);
  }

  private birthOf(row: number): number | null {
    const place = this.held.size > 0 ? this.locateHeld(row) : null;
    if (!place) return null;
    return place.block.baseCycle + place.block.birth[place.index]!;
  }

  private locateHeld(row: number): Place | null {
    const block = this.held.get(this.segmentOfRow(row))?.block;
    const index = block ? row - block.firstRow : -1;
    return block && index >= 0 && index < block.count ? { block, index } : null;
  }

  /** In which a row is born; an estimate where that has not been read. */
  segmentOfRow(row: number): number {
    const known = this.rowsBefore.length - 1;
    if (row < this.rowsBefore[known]!) return lowerBound(this.rowsBefore, row + 1) - 1;
    if (this.total !== null) return Math.max(0, this.segments - 1);
    return Math.max(Math.min(known, this.segments - 1), this.segmentAt(this.interpolate(row)));
  }

  private interpolate(row: number): number {
    const { cycles, rows } = this.anchors();
    const at = upperIndex(rows, row);
    return line(rows[at]!, cycles[at]!, rows[at + 1]!, cycles[at + 1]!, row);
  }

  /** Points of the diagonal, at least two. */
  private anchors(): { cycles: ArrayLike<number>; rows: ArrayLike<number> } {
    if (this.info.anchors) return this.info.anchors;
    const { firstCycle, lastCycle, rows } = this.extent;
    const known = this.rowsBefore.length;
    return {
      cycles: [...this.cycles.subarray(0, known), Math.max(lastCycle, firstCycle + 1)],
      rows: [...this.rowsBefore, Math.max(rows, this.rowsBefore[known - 1]!)],
    };
  }

  private drop(segment: number): void {
    const held = this.held.get(segment);
    if (!held) return;
    this.bytes -= held.bytes;
    this.held.delete(segment);
  }
}

/** Index of the piece of a broken line that holds a value. */
function upperIndex(values: ArrayLike<number>, value: number): number {
  const index = lowerBound(values, value) - 1;
  return Math.max(0, Math.min(index, values.length - 2));
}

function line(x0: number, y0: number, x1: number, y1: number, x: number): number {
  return x1 > x0 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0) : y0;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
