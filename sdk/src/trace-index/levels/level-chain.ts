/** All levels of a clock group at the same time: each takes its rows from the finer one, as they are finished. */
import type { ClockGroup } from '../channels.js';
import { Coarsener, type LevelRow, type RowSource } from './coarsener.js';
import { bucketCyclesOf, MAX_LEVEL } from './level-chunk.js';

export class LevelChain {
  private readonly coarseners: readonly Coarsener[];

  /** @param onRow takes each row of each level when it is finished */
  constructor(group: ClockGroup, onRow: (level: number, row: LevelRow) => void) {
    const coarseners: Coarsener[] = [];
    for (let level = 1; level <= MAX_LEVEL; level++) {
      const take = (row: LevelRow): void => {
        onRow(level, row);
        coarseners[level]?.add(sourceOf(group, bucketCyclesOf(level), [row]));
      };
      coarseners.push(new Coarsener(group, bucketCyclesOf(level), take));
    }
    this.coarseners = coarseners;
  }

  /** Rows of at most `bucketCyclesOf(1)`, in order of time. */
  add(part: RowSource): void {
    this.coarseners[0]!.add(part);
  }

  finish(): void {
    for (const coarsener of this.coarseners) coarsener.finish();
  }

  /** The row of a level that more may come to; null: none. */
  unfinished(level: number): LevelRow | null {
    return this.coarseners[level - 1]!.unfinished;
  }
}

/** Rows that follow each other as a part whose sums are in slots · ps. */
export function sourceOf(group: ClockGroup, bucketCycles: number, rows: readonly LevelRow[]): RowSource {
  const columns = Array.from({ length: group.columns }, (_, column) =>
    Float64Array.from(rows, ({ values }) => values[column]!),
  );
  const spans = Float64Array.from(rows, ({ span }) => span);
  const firstBucket = rows[0]?.bucket ?? 0;
  const lacks = rows.some((row) => row.lacks);
  return { firstBucket, bucketCycles, rows: rows.length, spans, columns, unitPs: 1, lacks };
}
