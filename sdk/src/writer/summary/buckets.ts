/** Buckets of the trace summary while it grows: one row per thing summed, all rows with the same interval. */
import { createMipmapLevel, type MipmapLevel } from '../../format/tsum.js';

/** Buckets of four merge into one. */
export const FAN_OUT = 4;
const FAN_OUT_BITS = 2;
const MAX_COUNT = 0xffff_ffff;

/** Births per bucket. Counts saturate at 2^32 - 1. */
export class DensityRow {
  private counts = new Uint32Array(16);

  add(bucket: number, births: number): void {
    if (bucket >= this.counts.length) this.counts = grown(this.counts, bucket + 1);
    this.counts[bucket] = Math.min(this.counts[bucket]! + births, MAX_COUNT);
  }

  /** Merges groups of `FAN_OUT` buckets in place. */
  coarsen(): void {
    const { counts } = this;
    for (let i = 0; i < counts.length; i++) {
      const target = i >>> FAN_OUT_BITS;
      const sum = (i & (FAN_OUT - 1)) === 0 ? counts[i]! : counts[target]! + counts[i]!;
      counts[target] = Math.min(sum, MAX_COUNT);
    }
    counts.fill(0, Math.ceil(counts.length / FAN_OUT));
  }

  level(length: number): Uint32Array {
    const level = new Uint32Array(length);
    level.set(this.counts.subarray(0, length));
    return level;
  }
}

/** Words of one bucket: low and high half of min, max and sum. Max 0 marks an empty bucket. */
const MIN = 0;
const MAX = 2;
const SUM = 4;
const WORDS = 6;

/** Least, greatest and total per-cycle delta per bucket, as u32 halves: no bigint until `level`. */
export class CounterRow {
  private words = new Uint32Array(16 * WORDS);

  /** Adds what some cycles of a bucket had, in u32 halves; none of them was zero. */
  add(
    bucket: number,
    minLo: number,
    minHi: number,
    maxLo: number,
    maxHi: number,
    sumLo: number,
    sumHi: number,
  ): void {
    const at = bucket * WORDS;
    if (at >= this.words.length) this.words = grown(this.words, at + WORDS);
    const w = this.words;
    const isEmpty = w[at + MAX] === 0 && w[at + MAX + 1] === 0;
    if (isEmpty || isLess(minLo, minHi, w[at + MIN]!, w[at + MIN + 1]!)) {
      w[at + MIN] = minLo;
      w[at + MIN + 1] = minHi;
    }
    if (isLess(w[at + MAX]!, w[at + MAX + 1]!, maxLo, maxHi)) {
      w[at + MAX] = maxLo;
      w[at + MAX + 1] = maxHi;
    }
    const sum = w[at + SUM]! + sumLo;
    w[at + SUM] = sum;
    w[at + SUM + 1] = w[at + SUM + 1]! + sumHi + (sum > MAX_COUNT ? 1 : 0);
  }

  /** Merges groups of `FAN_OUT` buckets in place. */
  coarsen(): void {
    const w = this.words;
    const length = w.length / WORDS;
    for (let i = 0; i < length; i++) {
      const from = i * WORDS;
      const target = (i >>> FAN_OUT_BITS) * WORDS;
      if (from === target) continue;
      // The first of each group becomes the target's content; it has been merged away itself already.
      if ((i & (FAN_OUT - 1)) === 0) w.copyWithin(target, from, from + WORDS);
      else if (w[from + MAX] !== 0 || w[from + MAX + 1] !== 0) this.addFrom(i >>> FAN_OUT_BITS, from);
    }
    w.fill(0, Math.ceil(length / FAN_OUT) * WORDS);
  }

  private addFrom(bucket: number, from: number): void {
    const w = this.words;
    this.add(bucket, w[from]!, w[from + 1]!, w[from + 2]!, w[from + 3]!, w[from + 4]!, w[from + 5]!);
  }

  level(length: number): MipmapLevel {
    const level = createMipmapLevel(length);
    const w = this.words;
    const used = Math.min(length, w.length / WORDS);
    const at = (index: number): bigint => (BigInt(w[index + 1]!) << 32n) | BigInt(w[index]!);
    for (let i = 0; i < used; i++) {
      const base = i * WORDS;
      if (w[base + MAX] === 0 && w[base + MAX + 1] === 0) continue;
      level.min[i] = at(base + MIN);
      level.max[i] = at(base + MAX);
      level.sum[i] = at(base + SUM);
    }
    return level;
  }
}

function isLess(aLo: number, aHi: number, bLo: number, bHi: number): boolean {
  return aHi < bHi || (aHi === bHi && aLo < bLo);
}

/** A longer copy; the length at least doubles. */
function grown(array: Uint32Array<ArrayBuffer>, needed: number): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(Math.max(array.length * 2, needed));
  copy.set(array);
  return copy;
}
