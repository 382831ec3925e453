/**
 * Retired numbers: the rows that retired, counted in order of birth. Prefix sums of the levels of rows lead to a group of 64; only where some of a group
 * retired and others did not, the instructions of its segment are looked at.
 */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd } from '../../semantics/blocks/block.js';
import { rowEnds } from '../../semantics/blocks/row-ends.js';
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import type { RowLevel } from '../rows/row-levels.js';
import type { RowsChunk } from '../rows/row-table.js';
import { chunksOf } from './row-groups.js';

/** How rows of segments ended, kept for the next question. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** How the rows born in a segment ended: a `BlockEnd` each. */
interface SegmentEnds {
  readonly ends: Uint8Array;
  /** Of the first rows it was looked for in later segments too. */
  readonly rows: number;
}

/** A group on the way down: its rows, and how many before it retired. */
interface Group {
  readonly firstRow: number;
  readonly endRow: number;
  readonly before: number;
  readonly retired: number;
  readonly ended: number;
  readonly segment: number;
}

/** Up to where it is known which rows retired: rows before `row`, and how many of them did. */
interface Known {
  readonly row: number;
  readonly retired: number;
}

/** Whether a group is the one that is looked for. */
type IsIt = (group: Group) => boolean;

export class RetiredRows {
  private readonly ends = new BoundedCache<number, SegmentEnds>(CACHE_BYTES, ({ ends }) => ends.length + 128);
  private known: Promise<Known> | null = null;

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly levels: readonly RowLevel[],
    private readonly birthsBefore: (segment: number) => Promise<number>,
  ) {}

  /** null: of some row before it is not known whether it retired. */
  async before(row: number): Promise<number | null> {
    whole(row, 'a row');
    const known = await this.knownRows();
    if (row > known.row) return null;
    if (row === known.row) return known.retired;
    const group = await this.find(({ endRow }) => row < endRow);
    if (!group) return this.total();
    const { firstRow, endRow, before, retired } = group;
    if (retired === endRow - firstRow) return before + row - firstRow;
    if (retired === 0) return before;
    return before + retiredIn((await this.endsOf(group)).subarray(0, row - firstRow));
  }

  async rowOf(number: number): Promise<number | null> {
    whole(number, 'a retired number');
    if (number >= (await this.knownRows()).retired) return null;
    const group = await this.find(({ before, retired }) => number < before + retired);
    if (!group) return null;
    const { firstRow, endRow, before, retired } = group;
    if (retired === endRow - firstRow) return firstRow + number - before;
    let left = number - before;
    const at = (await this.endsOf(group)).findIndex((end) => end === BlockEnd.RETIRED && left-- === 0);
    return at < 0 ? null : firstRow + at;
  }

  /** From the coarsest level to the finest: the first group that is it. */
  private async find(isIt: IsIt): Promise<Group | null> {
    let within = { from: 0, to: Number.POSITIVE_INFINITY };
    let before = 0;
    let found: Group | null = null;
    for (const level of [...this.levels].reverse()) {
      found = null;
      for await (const chunk of chunksOf(level, within)) {
        found = firstOf(chunk, within.from, before, isIt);
        if (found) break;
        before = chunk.retired.reduce((sum, retired, group) => {
          return firstRowOf(chunk, group) < within.from ? sum : sum + retired;
        }, before);
      }
      if (!found) return null;
      within = { from: found.firstRow, to: found.endRow };
      ({ before } = found);
    }
    return found;
  }

  private async total(): Promise<number> {
    let sum = 0;
    const top = this.levels[this.levels.length - 1]!;
    for await (const { retired } of top.load(0, top.length)) for (const count of retired) sum += count;
    return sum;
  }

  private knownRows(): Promise<Known> {
    this.known ??= this.findKnown();
    return this.known;
  }

  /** Where a segment lacks its part, an instruction that was in flight may have ended in it: its group has not ended as a whole. */
  private async findKnown(): Promise<Known> {
    const end = { row: Number.POSITIVE_INFINITY, retired: Number.POSITIVE_INFINITY };
    if (await this.hasNoUnknown()) return end;
    const first = await this.find(({ firstRow, endRow, ended }) => ended < endRow - firstRow);
    return first ? { row: first.firstRow, retired: first.before } : { row: 0, retired: 0 };
  }

  private async hasNoUnknown(): Promise<boolean> {
    const top = this.levels[this.levels.length - 1]!;
    for await (const { unknown } of top.load(0, top.length)) {
      if (unknown.some((count) => count > 0)) return false;
    }
    return true;
  }

  /** How the rows of a group ended. */
  private async endsOf({ segment, firstRow, endRow }: Group): Promise<Uint8Array> {
    const first = await this.birthsBefore(segment);
    const [from, to] = [firstRow - first, endRow - first];
    const known = this.ends.get(segment);
    const isKnown =
      known && (to <= known.rows || !known.ends.subarray(from, to).includes(BlockEnd.IN_FLIGHT));
    if (isKnown) return known.ends.subarray(from, to);
    const ends = await rowEnds(this.trace, this.core, segment, to);
    this.ends.set(segment, { ends, rows: to });
    return ends.subarray(from, to);
  }
}

function retiredIn(ends: Uint8Array): number {
  let count = 0;
  for (const end of ends) if (end === BlockEnd.RETIRED) count++;
  return count;
}

function firstRowOf({ firstRow, rows }: RowsChunk, group: number): number {
  let row = firstRow;
  for (let at = 0; at < group; at++) row += rows[at]!;
  return row;
}

/** @param from groups before that row are passed over */
function firstOf(chunk: RowsChunk, from: number, before: number, isIt: IsIt): Group | null {
  let firstRow = chunk.firstRow;
  for (let at = 0; at < chunk.length; at++) {
    const endRow = firstRow + chunk.rows[at]!;
    if (firstRow >= from) {
      const retired = chunk.retired[at]!;
      const [ended, segment] = [chunk.ended[at]!, chunk.segment[at]!];
      const group = { firstRow, endRow, before, retired, ended, segment };
      if (isIt(group)) return group;
      before += retired;
    }
    firstRow = endRow;
  }
  return null;
}

function whole(value: number, what: string): void {
  if (Number.isInteger(value) && value >= 0) return;
  throw new UscopeError('READER_RANGE', `${what} is a whole number from 0 on, not ${String(value)}`);
}
