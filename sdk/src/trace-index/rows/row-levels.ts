/**
 * Levels of rows: a group of level n has the instructions of finer groups, at least 64 · 4^n of them. Level 0 is what the containers say, segment by
 * segment; the others are in the directory, or made in memory.
 */
import { FAN_OUT, MAX_LEVEL } from '../levels/level-chunk.js';
import { CHUNK_GROUPS, encodeRowsChunk } from './row-chunk.js';
import { mergeGroup, Place, type RowGroup, RowMerger, type RowsChunk } from './row-table.js';
import { GROUP_ROWS, type RowsPart } from './rows-part.js';

export interface RowLevel {
  /** Instructions of a group: at least that many, but for the last one and those at the end of a segment. */
  readonly rowsPerGroup: number;
  /** Chunks. */
  readonly length: number;
  /** Rows of a chunk, by their numbers in the trace; the end is exclusive. */
  place(chunk: number): { readonly firstRow: number; readonly endRow: number };
  /** The chunks from `first` to `end` (exclusive), in order. @throws UscopeError FORMAT_*, READER_* */
  load(first: number, end: number): AsyncIterable<RowsChunk>;
}

export function rowsPerGroup(level: number): number {
  return GROUP_ROWS * FAN_OUT ** level;
}

/** A chunk that is made. */
export interface MadeChunk {
  readonly level: number;
  readonly firstRow: number;
  readonly endRow: number;
  readonly bytes: Uint8Array;
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
  private readonly merger: RowMerger;

  constructor(
    private readonly stages: number,
    private readonly onChunk: (chunk: MadeChunk) => void,
  ) {
    this.merger = new RowMerger(stages, (group) => this.take(1, group));
  }

  /** @param part null: it has none @param births in the segment, where it has none */
  add(part: RowsPart | null, segment: number, births = 0): void {
    if (part) this.merger.add(part, segment);
    else this.merger.addUnknown(births, segment);
  }

  /** Everything is there. The last levels have one group. */
  finish(): void {
    this.merger.finish();
    for (let level = 1; level <= this.levels.length; level++) {
      const { open, groups, chunks } = this.levels[level - 1]!;
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
    for (const group of groups.splice(0)) {
      growing.firstRow += group[Place.ROWS]!;
      growing.retired += group[Place.RETIRED]!;
    }
    growing.chunks++;
    this.onChunk({ level, firstRow, endRow: growing.firstRow, bytes });
  }
}
