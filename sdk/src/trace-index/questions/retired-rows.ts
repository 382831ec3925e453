/**
 * Retired numbers: the rows that retired, counted in order of birth. Sums of the levels of rows lead to a group of 64; only where some of a group
 * retired and others did not, its segment is looked at.
 */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd } from '../../semantics/blocks/block.js';
import { rowEnds } from '../../semantics/blocks/row-ends.js';
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import type { RowLevel } from '../rows/row-levels.js';
import { countsOf, type RowRange } from './row-groups.js';

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
    const group = await this.groupOf(row);
    if (!group) return this.total();
    const { firstRow, endRow, before, retired, ended } = group;
    if (retired === endRow - firstRow) return before + row - firstRow;
    if (retired === 0 && ended === endRow - firstRow) return before;
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

  /** The group of a row; null: there are fewer rows. */
  private async groupOf(row: number): Promise<Group | null> {
    const isIt: IsIt = ({ endRow }) => row < endRow;
    const [finest, next] = this.levels;
    // A chunk of a coarser level knows what retired before it.
    const levels = next ? [next, finest!] : [];
    return (await descend(levels, { from: row, to: row + 1 }, null, isIt)) ?? this.find(isIt);
  }

  /** From the coarsest level to the finest: the first group that is it. */
  private find(isIt: IsIt): Promise<Group | null> {
    return descend([...this.levels].reverse(), { from: 0, to: Number.POSITIVE_INFINITY }, 0, isIt);
  }

  private async total(): Promise<number> {
    let sum = 0;
    const top = this.levels[this.levels.length - 1]!;
    for await (const { retired } of top.loadCounts(0, top.length)) for (const count of retired) sum += count;
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
    const [finest, ...coarser] = this.levels;
    for (const level of coarser.reverse()) {
      const hasNone = await hasNoUnknown(level);
      if (hasNone !== 'damaged') return hasNone;
    }
    return (await hasNoUnknown(finest!)) === true;
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

/** Of a level that is damaged too little is known. */
async function hasNoUnknown(level: RowLevel): Promise<boolean | 'damaged'> {
  for await (const { unknown, retiredBefore } of level.loadCounts(0, level.length)) {
    if (!unknown.some((count) => count > 0)) continue;
    return Number.isNaN(retiredBefore) ? 'damaged' : false;
  }
  return true;
}

function retiredIn(ends: Uint8Array): number {
  let count = 0;
  for (const end of ends) if (end === BlockEnd.RETIRED) count++;
  return count;
}

/**
 * The first group of the last level that is it, within a group of each level before; null: none is, or too little is known.
 * @param levels each finer than the one before
 * @param before rows in front of the range that retired; null: not known
 */
async function descend(
  levels: readonly RowLevel[],
  range: RowRange,
  before: number | null,
  isIt: IsIt,
): Promise<Group | null> {
  let [within, sum] = [range, before];
  let found: Group | null = null;
  for (const level of levels) {
    const isLast = level === levels.at(-1);
    const group = await firstIn(level, within, sum, isIt, isLast);
    // Of a level that is damaged here: the next one is read where it would have been.
    if (group === 'damaged' && !isLast && sum !== null) continue;
    if (group === null || group === 'damaged') return null;
    within = { from: group.firstRow, to: group.endRow };
    sum = group.before;
    found = group;
  }
  return found;
}

async function firstIn(
  level: RowLevel,
  within: RowRange,
  before: number | null,
  isIt: IsIt,
  isFinest: boolean,
): Promise<Group | null | 'damaged'> {
  let sum = before ?? Number.NaN;
  for await (const chunk of countsOf(level, within)) {
    if (!isFinest) sum = chunk.retiredBefore;
    if (Number.isNaN(sum)) return 'damaged';
    let firstRow = chunk.firstRow;
    for (let at = 0; at < chunk.length; at++) {
      const endRow = firstRow + chunk.rows[at]!;
      const [retired, ended, segment] = [chunk.retired[at]!, chunk.ended[at]!, chunk.segment[at]!];
      if (endRow > within.from) {
        const group = { firstRow, endRow, before: sum, retired, ended, segment };
        if (isIt(group)) return group;
        // Of a segment that is looked at by itself, instructions may end later than was looked.
        if (isFinest && chunk.unknown[at]! > 0) return 'damaged';
      }
      // Of the finest level what lies in front of the range has been counted already.
      if (!isFinest || firstRow >= within.from) sum += retired;
      firstRow = endRow;
    }
  }
  return null;
}

function whole(value: number, what: string): void {
  if (Number.isInteger(value) && value >= 0) return;
  throw new UscopeError('READER_RANGE', `${what} is a whole number from 0 on, not ${String(value)}`);
}
