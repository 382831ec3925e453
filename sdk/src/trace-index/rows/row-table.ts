/** Groups of rows that are whole: with what became of their instructions in later segments. One array of numbers for each group. */
import type { LateGroups, RowGroups, RowsPart } from './rows-part.js';

/** Places in the array of a group; stages follow: cycles of each, then the longest stay in each. */
export const Place = {
  ROWS: 0,
  /** The segment in which the first row was born. */
  SEGMENT: 1,
  FIRST_BIRTH: 2,
  LAST_BIRTH: 3,
  /** -1: none has ended. */
  LAST_END: 4,
  RETIRED: 5,
  FLUSHED: 6,
  ENDED: 7,
  STALLS: 8,
  /** Rows of which nothing is known, as their segment has no part ROWS, and those whose end nobody has followed so far. */
  UNKNOWN: 9,
  STAGES: 10,
} as const;

export type RowGroup = Float64Array;

/** Numbers of a group. @param stages as `stageColumns` */
export function groupWidth(stages: number): number {
  return Place.STAGES + 2 * stages;
}

/** Groups of a chunk, or of a range of rows: one number for each in every array. */
export interface RowsChunk extends RowGroups {
  /** Number of the first row in the trace. */
  readonly firstRow: number;
  /** Rows before the first one that retired; NaN: it is not known here. */
  readonly retiredBefore: number;
  readonly segment: Float64Array;
  /** Rows of which nothing but their number is known, as the index of their segment has no room for them, and those whose end nobody has followed so far. */
  readonly unknown: Float64Array;
}

/** The same without stages: a fraction of the work. */
export type RowCountsChunk = Omit<RowsChunk, 'stageTime' | 'longest'>;

/** The chunk of these groups. */
export function chunkOf(
  groups: readonly RowGroup[],
  stages: number,
  firstRow: number,
  retiredBefore: number,
): RowsChunk {
  const column = (place: number): Float64Array => {
    const values = new Float64Array(groups.length);
    for (let index = 0; index < values.length; index++) values[index] = groups[index]![place]!;
    return values;
  };
  const columns = (from: number) => Array.from({ length: stages }, (_, index) => column(from + index));
  return {
    length: groups.length,
    firstRow,
    retiredBefore,
    rows: column(Place.ROWS),
    segment: column(Place.SEGMENT),
    unknown: column(Place.UNKNOWN),
    firstBirth: column(Place.FIRST_BIRTH),
    lastBirth: column(Place.LAST_BIRTH),
    lastEnd: column(Place.LAST_END),
    retired: column(Place.RETIRED),
    flushed: column(Place.FLUSHED),
    ended: column(Place.ENDED),
    stalls: column(Place.STALLS),
    stageTime: columns(Place.STAGES),
    longest: columns(Place.STAGES + stages),
  };
}

/** Adds what `from` says of the same rows, or of the rows after them. */
export function mergeGroup(into: RowGroup, from: RowGroup, stages: number): void {
  if (into[Place.UNKNOWN] === into[Place.ROWS]) into[Place.FIRST_BIRTH] = from[Place.FIRST_BIRTH]!;
  into[Place.ROWS]! += from[Place.ROWS]!;
  into[Place.LAST_BIRTH] = Math.max(into[Place.LAST_BIRTH]!, from[Place.LAST_BIRTH]!);
  into[Place.LAST_END] = Math.max(into[Place.LAST_END]!, from[Place.LAST_END]!);
  for (let place: number = Place.RETIRED; place < Place.STAGES + stages; place++)
    into[place]! += from[place]!;
  for (let place = Place.STAGES + stages; place < into.length; place++) {
    if (from[place]! > into[place]!) into[place] = from[place]!;
  }
}

/** Adds what a part says of one of its groups to the same rows, or to those before it. */
export function addCounts(into: RowGroup, part: RowGroups | LateGroups, index: number, stages: number): void {
  into[Place.LAST_END] = Math.max(into[Place.LAST_END]!, part.lastEnd[index]!);
  into[Place.RETIRED]! += part.retired[index]!;
  into[Place.FLUSHED]! += part.flushed[index]!;
  into[Place.ENDED]! += part.ended[index]!;
  into[Place.STALLS]! += part.stalls[index]!;
  for (let stage = 0; stage < stages; stage++) {
    into[Place.STAGES + stage]! += part.stageTime[stage]![index]!;
    const longest = part.longest[stage]![index]!;
    if (longest > into[Place.STAGES + stages + stage]!) into[Place.STAGES + stages + stage] = longest;
  }
}

/** A group without rows. */
export function emptyGroup(segment: number, firstBirth: number, stages: number): RowGroup {
  const group = new Float64Array(groupWidth(stages));
  group[Place.SEGMENT] = segment;
  group[Place.FIRST_BIRTH] = firstBirth;
  group[Place.LAST_END] = -1;
  return group;
}

function groupOf(part: RowGroups, index: number, segment: number, stages: number): RowGroup {
  const group = emptyGroup(segment, part.firstBirth[index]!, stages);
  group[Place.ROWS] = part.rows[index]!;
  group[Place.LAST_BIRTH] = part.lastBirth[index]!;
  addCounts(group, part, index, stages);
  return group;
}

/** Nobody looks any further how the instructions of a group end. The birth of at least one is known. */
export function markUnfollowed(group: RowGroup): void {
  const rows = group[Place.ROWS]!;
  group[Place.UNKNOWN] = Math.min(rows - group[Place.ENDED]!, rows - 1);
}

/** Puts the parts of segments together, in their order. */
export class RowMerger {
  private readonly open: RowGroup[] = [];
  /** Number of the first row that is open, and of the next row. */
  private firstOpen: number;
  private next: number;

  /** @param firstRow births before the first segment @param onGroup takes each group when nothing more is waited for */
  constructor(
    private readonly stages: number,
    private readonly onGroup: (group: RowGroup) => void,
    firstRow = 0,
  ) {
    this.firstOpen = firstRow;
    this.next = firstRow;
  }

  /** @returns whether groups wait for later segments */
  add(part: RowsPart, segment: number): boolean {
    this.addLate(part.late);
    this.addOwn(part.groups, segment);
    let done = 0;
    while (done < this.open.length && isOver(this.open[done]!)) done++;
    for (const group of this.open.splice(0, done)) {
      this.firstOpen += group[Place.ROWS]!;
      this.onGroup(group);
    }
    return this.open.length > 0;
  }

  /** Takes what later segments say of groups that are open, and no groups of theirs. */
  addLate(late: LateGroups): void {
    let index = 0;
    let first = this.firstOpen;
    for (let at = 0; at < late.length; at++) {
      const row = this.next - late.distance[at]!;
      // A later segment's groups may be finer.
      while (index < this.open.length && first + this.open[index]![Place.ROWS]! <= row) {
        first += this.open[index++]![Place.ROWS]!;
      }
      // Of a group that is no longer open.
      if (first > row || index === this.open.length) continue;
      addCounts(this.open[index]!, late, at, this.stages);
    }
  }

  /** Groups of the next segment. */
  addOwn(groups: RowGroups, segment: number): void {
    for (let index = 0; index < groups.length; index++) {
      this.open.push(groupOf(groups, index, segment, this.stages));
      this.next += groups.rows[index]!;
    }
  }

  /** Rows of a later segment, of which only `addLate` follows. */
  skip(births: number): void {
    this.next += births;
  }

  get isOver(): boolean {
    return this.open.every(isOver);
  }

  /** Groups as far as they are known. */
  get unfinished(): readonly RowGroup[] {
    return this.open;
  }

  finish(): void {
    for (const group of this.open.splice(0)) {
      this.firstOpen += group[Place.ROWS]!;
      this.onGroup(group);
    }
  }
}

/** All of its instructions have ended. */
export function isOver(group: RowGroup): boolean {
  return group[Place.ENDED]! >= group[Place.ROWS]!;
}
