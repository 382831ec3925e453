/** Sums up to a place, the place of a sum, and the nearest bucket that is not zero: through the levels, so that the length of the trace hardly matters. */
import { FAN_OUT } from '../levels/level-chunk.js';
import type { LevelSet } from './level-set.js';

/** A column of a group. Its numbers are sums, and not negative. */
export interface ColumnFinder {
  /** Sum over all buckets of 256 cycles before `bucket`. */
  sumBefore(bucket: number): Promise<number>;
  /** The bucket of 256 cycles in which the sum from the start on exceeds `count`, and the sum before it; null: it never does. */
  bucketBeyond(count: number): Promise<{ readonly bucket: number; readonly before: number } | null>;
  /** The first bucket of 256 cycles at or after `bucket` that is not zero, or (backward) the last one before it; null: there is none. */
  next(bucket: number): Promise<number | null>;
  previous(bucket: number): Promise<number | null>;
}

/** @param columns how many from `column` on are added up */
export function columnFinder(set: LevelSet, column: number, columns = 1): ColumnFinder {
  return new Finder(set, column, columns);
}

class Finder implements ColumnFinder {
  constructor(
    private readonly set: LevelSet,
    private readonly column: number,
    private readonly columns: number,
  ) {}

  async sumBefore(bucket: number): Promise<number> {
    const levels = await this.set.available();
    let at = 0;
    let sum = 0;
    for (const level of [...levels].reverse()) {
      const ratio = FAN_OUT ** level;
      const end = Math.floor(bucket / ratio);
      for await (const row of this.rows(level, at / ratio, end)) sum += row.value;
      at = end * ratio;
    }
    return sum;
  }

  async bucketBeyond(count: number): Promise<{ bucket: number; before: number } | null> {
    const levels = [...(await this.set.available())].reverse();
    let before = 0;
    let [from, to] = [0, Number.POSITIVE_INFINITY];
    for (const [index, level] of levels.entries()) {
      let found = -1;
      // Neighbouring parts share a bucket: their rows in it count together.
      let bucket = -1;
      let inBucket = 0;
      for await (const row of this.rows(level, from, to)) {
        if (row.bucket !== bucket) {
          before += inBucket;
          [bucket, inBucket] = [row.bucket, 0];
        }
        inBucket += row.value;
        if (before + inBucket <= count) continue;
        found = bucket;
        break;
      }
      if (found < 0) return null;
      if (level === 0) return { bucket: found, before };
      const ratio = FAN_OUT ** (level - levels[index + 1]!);
      [from, to] = [found * ratio, (found + 1) * ratio];
    }
    return null;
  }

  async next(bucket: number): Promise<number | null> {
    const levels = await this.set.available();
    let at = Math.max(0, bucket);
    for (let index = 0; index < levels.length; ) {
      const found = await this.firstIn(levels[index]!, at, this.groupEnd(levels, index, at));
      if (found !== null) return this.descend(levels, index, found, false);
      const end = this.groupEnd(levels, index, at);
      if (end === Number.POSITIVE_INFINITY) return null;
      at = end / FAN_OUT ** (levels[index + 1]! - levels[index]!);
      index++;
    }
    return null;
  }

  async previous(bucket: number): Promise<number | null> {
    const levels = await this.set.available();
    let end = bucket;
    for (let index = 0; index < levels.length; index++) {
      if (end <= 0) return null;
      const above = levels[index + 1];
      const ratio = above === undefined ? 0 : FAN_OUT ** (above - levels[index]!);
      const start = ratio === 0 ? 0 : Math.floor(end / ratio) * ratio;
      const found = await this.lastIn(levels[index]!, start, end);
      if (found !== null) return this.descend(levels, index, found, true);
      end = ratio === 0 ? 0 : start / ratio;
    }
    return null;
  }

  /** Where the buckets of this level end that one of the next level covers. */
  private groupEnd(levels: readonly number[], index: number, at: number): number {
    const above = levels[index + 1];
    if (above === undefined) return Number.POSITIVE_INFINITY;
    const ratio = FAN_OUT ** (above - levels[index]!);
    return Math.ceil(at / ratio) * ratio;
  }

  private async descend(
    levels: readonly number[],
    index: number,
    bucket: number,
    backward: boolean,
  ): Promise<number | null> {
    let at = bucket;
    for (let level = index; level > 0; level--) {
      const ratio = FAN_OUT ** (levels[level]! - levels[level - 1]!);
      const [from, to] = [at * ratio, (at + 1) * ratio];
      const found = backward
        ? await this.lastIn(levels[level - 1]!, from, to)
        : await this.firstIn(levels[level - 1]!, from, to);
      if (found === null) return null;
      at = found;
    }
    return at;
  }

  private async firstIn(level: number, from: number, to: number): Promise<number | null> {
    if (from >= to) return null;
    for await (const { bucket, value } of this.rows(level, from, to)) if (value !== 0) return bucket;
    return null;
  }

  private async lastIn(level: number, from: number, to: number): Promise<number | null> {
    let last: number | null = null;
    if (from >= to) return null;
    for await (const { bucket, value } of this.rows(level, from, to)) if (value !== 0) last = bucket;
    return last;
  }

  /** Rows of the column whose bucket lies in `[from, to)`. */
  private async *rows(
    level: number,
    from: number,
    to: number,
  ): AsyncGenerator<{ bucket: number; value: number }> {
    if (from >= to) return;
    for await (const part of this.set.partsOf(level, from, to)) {
      const columns = part.columns.slice(this.column, this.column + this.columns);
      let bucket = part.firstBucket;
      for (let row = 0; row < part.rows && bucket < to; row++) {
        let value = 0;
        for (const values of columns) value += values[row]!;
        if (bucket >= from && value !== 0) yield { bucket, value };
        bucket += part.spans[row]!;
      }
    }
  }
}
