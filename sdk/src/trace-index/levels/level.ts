/** A level of the index: all rows of one clock group with buckets of one length, in chunks that are brought in when they are needed. */
import type { TimePart } from '../time-part.js';

/** Where a chunk of rows lies in time. */
export interface ChunkPlace {
  /** Its first bucket, and the first after it, counted in buckets of its level from cycle 0. */
  readonly firstBucket: number;
  readonly endBucket: number;
}

/** Chunks do not overlap. */
export interface Level {
  readonly bucketCycles: number;
  /** Number of chunks. */
  readonly length: number;
  place(chunk: number): ChunkPlace;
  /** The chunks from `first` to `end` (exclusive), in order; neighbours are read together. */
  load(first: number, end: number): AsyncIterable<LevelPart>;
}

/** What a level is made of. */
export type LevelPart = Pick<
  TimePart,
  'firstBucket' | 'bucketCycles' | 'rows' | 'spans' | 'columns' | 'unitPs' | 'isExact'
>;

/** The first chunk that ends after a bucket; `length` where none does. */
export function chunkAt(level: Pick<Level, 'length' | 'place'>, bucket: number): number {
  return lowerBound(level.length, (chunk) => level.place(chunk).endBucket > bucket);
}

/** The first chunk that begins at or after a bucket; `length` where none does. */
export function chunkBehind(level: Pick<Level, 'length' | 'place'>, bucket: number): number {
  return lowerBound(level.length, (chunk) => level.place(chunk).firstBucket >= bucket);
}

function lowerBound(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
