/** A level of the index: all rows of one clock group with buckets of one length, in chunks that are brought in when they are needed. */
import type { TimePart } from '../time-part.js';

/** Where a chunk of rows lies in time. */
export interface ChunkPlace {
  /** Its first bucket, and the first behind it, counted in buckets of its level from cycle 0. */
  readonly firstBucket: number;
  readonly endBucket: number;
}

/** Parts may overlap in one bucket where their neighbours do: their numbers then add up. */
export interface Level {
  readonly bucketCycles: number;
  /** Number of chunks. */
  readonly length: number;
  place(chunk: number): ChunkPlace;
  /** @throws UscopeError FORMAT_* where it is damaged */
  load(chunk: number): Promise<LevelPart>;
}

/** What a level is made of. */
export type LevelPart = Pick<
  TimePart,
  'firstBucket' | 'bucketCycles' | 'rows' | 'spans' | 'columns' | 'unitPs' | 'isExact'
>;

/** The first chunk that ends behind a bucket. */
export function chunkAt(level: Pick<Level, 'length' | 'place'>, bucket: number): number {
  let low = 0;
  let high = level.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (level.place(middle).endBucket > bucket) high = middle;
    else low = middle + 1;
  }
  return low;
}
