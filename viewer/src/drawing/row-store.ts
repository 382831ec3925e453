/** The blocks that the picture is drawn from, bounded in bytes, and where rows lie in time: exact where a block is here, else interpolated. */

import type { TraceInfo } from '../data/protocol.js';
import { blockBytes, lowerBound, type RowBlock, RowFlag, UNKNOWN } from '../model/blocks.js';
import type { Diagonal, Extent } from '../model/view.js';

/** Of blocks that may be looked at again. Readers, canvases and the browser take the rest of the 500 MB that the page is meant to need at most. */
const MAX_BYTES = 40 * 1024 * 1024;
/** With the blocks of the picture of now, where these alone take more. */
const MOST_BYTES = 96 * 1024 * 1024;

interface Held {
  readonly block: RowBlock;
  readonly bytes: number;
  /** Number of the picture that it was drawn in last. */
  drawnIn: number;
}

interface Points {
  readonly cycles: ArrayLike<number>;
  readonly rows: ArrayLike<number>;
}

export interface Place {
  readonly block: RowBlock;
  readonly index: number;
}

export class RowStore implements Diagonal {
  /** By segment; the block used last comes last. */
  private readonly held = new Map<number, Held>();
  private bytes = 0;
  /** Of a trace that has grown: what ends in them may be known now. */
  private readonly stale = new Set<number>();
  private cycles: Float64Array;
  /** Where rows lie as far as it is known without blocks; at least two points. */
  private points: Points;
  private total: number | null = null;
  /** Segments counted one after the other, where there is no index. */
  private countedRows: number[] = [0];
  private part = 0;
  /** The block looked at last: most rows asked for are in it. */
  private last: RowBlock | null = null;
  private picture = 0;
  /** Gathers segments, while it is not null, that would have made an answer exact and are not here. */
  private guessed: Set<number> | null = null;

  constructor(private readonly info: TraceInfo) {
    this.cycles = info.segmentCycles;
    const { firstCycle, lastCycle } = this.span;
    this.points = info.diagonal ?? {
      cycles: [firstCycle, Math.max(lastCycle, firstCycle + 1)],
      rows: [0, 0],
    };
  }

  get segments(): number {
    return this.cycles.length - 1;
  }

  get extent(): Extent {
    return { ...this.span, rows: this.rows };
  }

  /** What is to be seen with this trace, cycles. */
  within: { readonly from: number; readonly to: number } | null = null;

  /** What a picture of all of it shows. */
  get whole(): Extent {
    const { firstCycle, lastCycle, rows } = this.extent;
    const { from = firstCycle, to = lastCycle } = this.within ?? {};
    return { firstCycle: Math.min(firstCycle, from), lastCycle: Math.max(lastCycle, to), rows };
  }

  private get span(): { firstCycle: number; lastCycle: number } {
    return { firstCycle: this.cycles[0] ?? 0, lastCycle: this.cycles.at(-1) ?? 1 };
  }

  /** How many there are; an estimate until the index is here. */
  get rows(): number {
    return this.total ?? this.points.rows[this.points.rows.length - 1]!;
  }

  get isComplete(): boolean {
    return this.total !== null;
  }

  /** Part of the trace that is counted, 0 to 1. */
  get progress(): number {
    return this.isComplete ? 1 : this.part;
  }

  set progress(part: number) {
    this.part = part;
  }

  /** Greatest number of instructions in flight at any time; 0: not known. */
  mostInFlight = 0;

  /** First cycle of a segment, and the first after it. */
  cyclesOf(segment: number): [number, number] {
    return [this.cycles[segment]!, this.cycles[segment + 1]!];
  }

  /** First cycle of an instruction, and the first after its last. */
  lifeOf({ baseCycle, birth, end }: RowBlock, index: number): [number, number] {
    const over = end[index] === UNKNOWN ? this.span.lastCycle : baseCycle + end[index]!;
    return [baseCycle + birth[index]!, over];
  }

  /** The trace has more segments. Blocks with instructions that had not ended are wanted again, and drawn until then. */
  grow({ segmentCycles }: TraceInfo): void {
    this.cycles = segmentCycles;
    for (const [segment, { block }] of this.held) {
      if (hasOpenEnd(block)) this.stale.add(segment);
    }
  }

  /** What the index says. */
  index(rows: number, diagonal: Points): void {
    this.total = rows;
    this.points = diagonal;
  }

  /** Without an index: rows up to the end of a segment, in the order of segments. */
  counted(segment: number, rows: number): void {
    this.countedRows[segment + 1] = rows;
    const known = this.countedRows.length;
    this.part = (known - 1) / Math.max(1, this.segments);
    const { firstCycle, lastCycle } = this.span;
    if (known > this.segments) this.total = rows;
    const passed = this.cycles[known - 1]! - firstCycle;
    const all = passed > 0 ? Math.round((rows / passed) * (lastCycle - firstCycle)) : rows;
    this.points = {
      cycles: [...this.cycles.subarray(0, known), Math.max(lastCycle, firstCycle + 1)],
      rows: [...this.countedRows, Math.max(rows, known > this.segments ? rows : all)],
    };
  }

  add(block: RowBlock): void {
    if (block.firstRow < 0) return;
    this.drop(block.segment);
    // Before anything is counted, what is here says how dense rows are.
    if (!this.isComplete && !this.info.diagonal && this.rows < block.firstRow + block.count) {
      this.guess(block);
    }
    const bytes = blockBytes(block);
    this.stale.delete(block.segment);
    this.held.set(block.segment, { block, bytes, drawnIn: this.picture });
    this.bytes += bytes;
    for (const [segment, held] of this.held) {
      if (this.bytes <= MAX_BYTES) break;
      if (segment !== block.segment && !(this.bytes <= MOST_BYTES && this.isInPicture(held)))
        this.drop(segment);
    }
  }

  /** Does `work`, which asks where rows lie. @returns the segments that are not here, and without which answers were estimates */
  guessedIn(work: () => void): ReadonlySet<number> {
    const guessed = new Set<number>();
    this.guessed = guessed;
    try {
      work();
    } finally {
      this.guessed = null;
    }
    return guessed;
  }

  /** The block of a segment, if it is here; it counts as used. */
  block(segment: number): RowBlock | null {
    const held = this.held.get(segment);
    if (!held) return null;
    this.held.delete(segment);
    this.held.set(segment, held);
    held.drawnIn = this.picture;
    return held.block;
  }

  /** As `block`. Where it is not here, what is made of it is estimated. */
  private needed(segment: number): RowBlock | null {
    const block = this.block(segment);
    if (!block && segment >= 0) this.guessed?.add(segment);
    return block;
  }

  /** A picture is drawn: what it uses is kept before what others used. */
  beginPicture(): void {
    this.picture++;
  }

  /** The block of the last row asked for is not looked up again. */
  private isInPicture({ block, drawnIn }: Held): boolean {
    return block === this.last || drawnIn >= this.picture - 1;
  }

  /** Whether it is here, up to date or not. */
  isHere(segment: number): boolean {
    return this.held.has(segment);
  }

  /** Whether it is here, and up to date. */
  has(segment: number): boolean {
    return this.held.has(segment) && !this.stale.has(segment);
  }

  blocks(): RowBlock[] {
    return [...this.held.values()].map(({ block }) => block);
  }

  /** Where a row is kept; null: not here. */
  locate(row: number): Place | null {
    const block = this.blockOfRow(row);
    return block ? { block, index: row - block.firstRow } : null;
  }

  isSquashed(row: number): boolean {
    const block = this.blockOfRow(row);
    return block !== null && (block.flags[row - block.firstRow]! & RowFlag.SQUASHED) !== 0;
  }

  private blockOfRow(row: number): RowBlock | null {
    const { last } = this;
    if (last && row >= last.firstRow && row < last.firstRow + last.count) return last;
    const block = this.needed(this.segmentOfRow(row));
    if (!block || row < block.firstRow || row >= block.firstRow + block.count) return null;
    this.last = block;
    return block;
  }

  /** The instruction that has an id in a cycle, among the blocks that are here. */
  rowOfId(id: number, cycle: number): number | null {
    const segment = this.segmentAt(cycle);
    for (const block of [this.needed(segment), this.needed(segment - 1)]) {
      // The youngest one: ids are given away again.
      for (let row = block ? block.count - 1 : -1; block && row >= 0; row--) {
        if (block.id[row] !== id || block.baseCycle + block.birth[row]! > cycle) continue;
        if (block.end[row] === UNKNOWN || block.baseCycle + block.end[row]! >= cycle)
          return block.firstRow + row;
      }
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
    const segment = this.segmentAt(cycle);
    const block = this.held.get(segment)?.block;
    if (!block) this.guessed?.add(segment);
    if (block && cycle >= block.baseCycle) {
      const index = lowerBound(block.birth, Math.ceil(cycle) - block.baseCycle, block.count);
      return block.firstRow + index;
    }
    const { cycles, rows } = this.points;
    const at = upperIndex(cycles, cycle);
    return line(cycles[at]!, rows[at]!, cycles[at + 1]!, rows[at + 1]!, cycle);
  }

  private birthOf(row: number): number | null {
    const block = this.blockOfRow(row);
    return block ? block.baseCycle + block.birth[row - block.firstRow]! : null;
  }

  /** In which a row is born: where its block is here, else the one to ask for next, from which the way is known. */
  segmentOfRow(row: number): number {
    const last = this.segments - 1;
    let segment = this.segmentAt(this.interpolate(row));
    let direction = 0;
    while (segment >= 0 && segment <= last) {
      const block = this.held.get(segment)?.block;
      if (!block) return segment;
      const next = row < block.firstRow ? -1 : row >= block.firstRow + block.count ? 1 : 0;
      // Rows between two neighbours are nowhere: the estimate ends.
      if (next === 0 || next === -direction) return segment;
      direction = next;
      segment += next;
    }
    return Math.max(0, Math.min(segment, last));
  }

  private interpolate(row: number): number {
    const { cycles, rows } = this.points;
    const at = upperIndex(rows, row);
    return line(rows[at]!, cycles[at]!, rows[at + 1]!, cycles[at + 1]!, row);
  }

  private guess({ baseCycle, birth, firstRow, count }: RowBlock): void {
    const { firstCycle, lastCycle } = this.span;
    const known = baseCycle + (birth[count - 1] ?? 0);
    const rows = firstRow + count;
    const all =
      known > firstCycle ? Math.round((rows / (known - firstCycle)) * (lastCycle - firstCycle)) : rows;
    this.points = {
      cycles: [firstCycle, known, Math.max(lastCycle, known + 1)],
      rows: [0, rows, Math.max(all, rows)],
    };
  }

  private drop(segment: number): void {
    const held = this.held.get(segment);
    if (!held) return;
    this.bytes -= held.bytes;
    this.held.delete(segment);
    this.stale.delete(segment);
    if (this.last === held.block) this.last = null;
  }
}

function hasOpenEnd({ end, count }: RowBlock): boolean {
  const last = end.indexOf(UNKNOWN);
  return last >= 0 && last < count;
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
