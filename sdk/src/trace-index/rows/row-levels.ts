/**
 * Levels of rows: a group of level n has the instructions of finer groups, at least 64 · 4^n of them. Level 0 is what the containers say, segment by
 * segment; the others are in the directory, or made in memory.
 */
import { FAN_OUT, MAX_LEVEL } from '../levels/level-chunk.js';
import { CHUNK_GROUPS, encodeRowsChunk } from './row-chunk.js';
import {
  addCounts,
  emptyGroup,
  markUnfollowed,
  mergeGroup,
  Place,
  type RowCountsChunk,
  type RowGroup,
  type RowsChunk,
} from './row-table.js';
import { GROUP_ROWS, type RowsPart } from './rows-part.js';

export interface RowLevel {
  /** Instructions of a group: at least that many, but for the last one and those at the end of a segment. */
  readonly rowsPerGroup: number;
  /** Chunks. */
  readonly length: number;
  /** The number in the trace of a chunk's first row; of chunk `length`: of the row after the last. Where a level has it at hand, at once. */
  firstRow(chunk: number): number | Promise<number>;
  /** The chunks from `first` to `end` (exclusive), in order. @throws UscopeError FORMAT_*, READER_* */
  load(first: number, end: number): AsyncIterable<RowsChunk>;
  /** The same without stages. */
  loadCounts(first: number, end: number): AsyncIterable<RowCountsChunk>;
}

export function rowsPerGroup(level: number): number {
  return GROUP_ROWS * FAN_OUT ** level;
}

/** A chunk that is made. */
export interface MadeChunk {
  readonly level: number;
  readonly firstRow: number;
  readonly endRow: number;
  readonly groups: number;
  readonly bytes: Uint8Array;
}

/** Groups that wait for their last instruction to end, at most: how the oldest ends is then not followed any further. */
const MAX_OPEN = 256;

/** The groups of level 1, made from the parts directly: nobody here needs those of level 0. */
class FirstLevel {
  private readonly open: { readonly firstRow: number; readonly group: RowGroup }[] = [];
  private next = 0;

  constructor(
    private readonly stages: number,
    private readonly onGroup: (group: RowGroup) => void,
  ) {}

  add({ late, groups }: RowsPart, segment: number): void {
    let at = 0;
    for (let index = 0; index < late.length; index++) {
      const row = this.next - late.distance[index]!;
      while (at + 1 < this.open.length && this.open[at + 1]!.firstRow <= row) at++;
      const found = this.open[at];
      // Of a group that is no longer open.
      if (found && found.firstRow <= row) addCounts(found.group, late, index, this.stages);
    }
    for (let index = 0; index < groups.length; index++) {
      const into = this.growing(segment, groups.firstBirth[index]!);
      into[Place.ROWS]! += groups.rows[index]!;
      into[Place.LAST_BIRTH] = groups.lastBirth[index]!;
      addCounts(into, groups, index, this.stages);
      this.next += groups.rows[index]!;
    }
    let done = 0;
    while (done < this.open.length && this.isDone(done)) done++;
    for (const { group } of this.open.splice(0, done)) this.onGroup(group);
  }

  /** A segment without part: what became of the groups that are open is not known either. */
  addUnknown(births: number, segment: number): void {
    this.finish();
    if (births === 0) return;
    const group = emptyGroup(segment, 0, this.stages);
    group[Place.ROWS] = group[Place.UNKNOWN] = births;
    this.next += births;
    this.onGroup(group);
  }

  finish(): void {
    for (const { group } of this.open.splice(0)) this.onGroup(group);
  }

  private growing(segment: number, firstBirth: number): RowGroup {
    const last = this.open.at(-1);
    if (last && last.group[Place.ROWS]! < rowsPerGroup(1)) return last.group;
    const group = emptyGroup(segment, firstBirth, this.stages);
    this.open.push({ firstRow: this.next, group });
    return group;
  }

  private isDone(index: number): boolean {
    const { group } = this.open[index]!;
    if (group[Place.ROWS]! >= rowsPerGroup(1) && group[Place.ENDED]! >= group[Place.ROWS]!) return true;
    if (this.open.length - index <= MAX_OPEN) return false;
    markUnfollowed(group);
    return true;
  }
}

interface Growing {
  readonly groups: RowGroup[];
  open: RowGroup | null;
  firstRow: number;
  retired: number;
  chunks: number;
}

/** Makes the levels from 1 on of one core, from the parts of the segments in their order. */
export class RowLevelBuilder {
  private readonly levels: Growing[] = [];
  private readonly first: FirstLevel;

  constructor(
    private readonly stages: number,
    private readonly onChunk: (chunk: MadeChunk) => void,
  ) {
    this.first = new FirstLevel(stages, (group) => this.put(1, group));
  }

  /** @param part null: it has none @param births in the segment, where it has none */
  add(part: RowsPart | null, segment: number, births = 0): void {
    if (part) this.first.add(part, segment);
    else this.first.addUnknown(births, segment);
  }

  /** Everything is there. The last levels have one group. */
  finish(): void {
    this.first.finish();
    for (let level = 1; level <= this.levels.length; level++) {
      const { open, groups, chunks } = this.level(level);
      if (open) this.put(level, open);
      if (level === 1 || chunks > 0 || groups.length > 1) this.flush(level);
    }
  }

  private level(level: number): Growing {
    this.levels[level - 1] ??= { groups: [], open: null, firstRow: 0, retired: 0, chunks: 0 };
    return this.levels[level - 1]!;
  }

  private take(level: number, group: RowGroup): void {
    const growing = this.level(level);
    if (growing.open) mergeGroup(growing.open, group, this.stages);
    else growing.open = group.slice();
    if (growing.open[Place.ROWS]! < rowsPerGroup(level)) return;
    const whole = growing.open;
    growing.open = null;
    this.put(level, whole);
  }

  private put(level: number, group: RowGroup): void {
    const { groups } = this.level(level);
    groups.push(group);
    if (level < MAX_LEVEL) this.take(level + 1, group);
    if (groups.length === CHUNK_GROUPS) this.flush(level);
  }

  private flush(level: number): void {
    const growing = this.level(level);
    const { groups, firstRow, retired } = growing;
    if (groups.length === 0) return;
    const bytes = encodeRowsChunk(groups, firstRow, retired);
    const count = groups.length;
    for (const group of groups.splice(0)) {
      growing.firstRow += group[Place.ROWS]!;
      growing.retired += group[Place.RETIRED]!;
    }
    growing.chunks++;
    this.onChunk({ level, firstRow, endRow: growing.firstRow, groups: count, bytes });
  }
}
