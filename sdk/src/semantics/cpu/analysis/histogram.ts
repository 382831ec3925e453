/**
 * A histogram of whole numbers in bounded memory: small values have a class each, larger ones share classes whose width grows with them,
 * so that the relative error of a percentile is bounded.
 */
import type { Distribution, DistributionClass, PercentileError } from './report.js';

/** Values below this have a class each. */
export const LINEAR = 2048;
/** Above, every power of two is divided into this many classes. */
const PER_OCTAVE = LINEAR / 2;
const MAX_VALUE = 2 ** 52;
/** Of all values. */
export const HISTOGRAM_CLASSES = classOf(MAX_VALUE) + 1;
/** Classes a distribution lists; more only where values spread over more than 2^30. */
export const MAX_CLASSES = 64;
/** The widest classes: two per power of two. */
const COARSEST = 4;

/** Above the exact values a percentile is the greatest value of its class: too large by less than the class is wide. */
export const PERCENTILE_ERROR: PercentileError = { exactUpTo: LINEAR - 1, relativeError: 1 / PER_OCTAVE };

/** The values of a segment, as an index has counted them. */
export interface HistogramCounts {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  /** By class. */
  readonly counts: Float64Array;
}

export class Histogram {
  count = 0;
  min = Number.POSITIVE_INFINITY;
  max = 0;
  private sum = 0;
  private counts = new Float64Array(64);

  /** @param value whole, not negative; beyond 2^52 it counts as that */
  add(value: number, times = 1): void {
    const bounded = Math.min(value, MAX_VALUE);
    const index = bounded < LINEAR ? bounded : classOf(bounded);
    if (index >= this.counts.length) this.grow(index);
    this.counts[index] += times;
    this.count += times;
    this.sum += bounded * times;
    if (bounded < this.min) this.min = bounded;
    if (bounded > this.max) this.max = bounded;
  }

  addCounted({ count, min, max, sum, counts }: HistogramCounts): void {
    if (counts.length > this.counts.length) this.grow(counts.length - 1);
    for (let index = 0; index < counts.length; index++) this.counts[index] += counts[index];
    this.count += count;
    this.sum += sum;
    this.min = Math.min(this.min, min);
    this.max = Math.max(this.max, max);
  }

  get mean(): number | null {
    return this.count > 0 ? this.sum / this.count : null;
  }

  /**
   * The least value that at least `share` of the values do not exceed (nearest rank), as exact as `PERCENTILE_ERROR` says. Null when there are none.
   */
  percentile(share: number): number | null {
    if (this.count === 0) return null;
    const rank = Math.max(1, Math.ceil(share * this.count));
    let seen = 0;
    for (let index = 0; index < this.counts.length; index++) {
      seen += this.counts[index];
      if (seen >= rank) return Math.min(lastOf(index), this.max);
    }
    return this.max;
  }

  distribution(): Distribution {
    const isEmpty = this.count === 0;
    return {
      count: this.count,
      mean: this.mean,
      min: isEmpty ? null : this.min,
      median: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      max: isEmpty ? null : this.max,
      classes: this.classes(),
    };
  }

  /** The same kind of classes, ever wider, until `MAX_CLASSES` are enough: small values keep the finest ones. */
  private classes(): DistributionClass[] {
    for (let linear = LINEAR; ; linear /= 2) {
      const classes = this.classesOf(linear);
      if (classes.length <= MAX_CLASSES || linear === COARSEST) return classes;
    }
  }

  private classesOf(linear: number): DistributionClass[] {
    const classes: { from: number; to: number; count: number }[] = [];
    for (let index = 0; index < this.counts.length; index++) {
      const count = this.counts[index];
      if (count === 0) continue;
      const first = firstOfClass(index);
      const width = Math.max(1, 2 ** (Math.floor(Math.log2(first)) + 1) / linear);
      const from = Math.floor(first / width) * width;
      const last = classes.at(-1);
      if (last && from <= last.to) last.count += count;
      else classes.push({ from, to: from + width - 1, count });
    }
    return classes;
  }

  private grow(index: number): void {
    const counts = new Float64Array(Math.max(this.counts.length * 2, index + 1));
    counts.set(this.counts);
    this.counts = counts;
  }
}

/** Values of an octave [2^n, 2^(n+1)) have PER_OCTAVE classes of 2^n / PER_OCTAVE values. @param value of LINEAR or more */
export function classOf(value: number): number {
  let octave = 0;
  let scaled = value;
  while (scaled >= LINEAR) {
    scaled /= 2;
    octave++;
  }
  return LINEAR + (octave - 1) * PER_OCTAVE + (Math.floor(scaled) - PER_OCTAVE);
}

/** The least value of a class. */
export function firstOfClass(index: number): number {
  if (index < LINEAR) return index;
  const octave = Math.floor((index - LINEAR) / PER_OCTAVE) + 1;
  return (((index - LINEAR) % PER_OCTAVE) + PER_OCTAVE) * 2 ** octave;
}

function lastOf(index: number): number {
  return index < LINEAR ? index : firstOfClass(index + 1) - 1;
}
