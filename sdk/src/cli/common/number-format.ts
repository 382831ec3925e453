/** Figures of the performance report as people read them. */
import type { Figure, Remark } from '../../semantics/cpu/analysis/figures.js';

/** What is not known, or has no meaning here. */
export const NONE = '-';

/** `0.722`; three digits after the point are what two runs are compared by. */
export function ratio(value: number | null): string {
  return value === null ? NONE : value.toFixed(3);
}

/** Means and rates: two digits after the point, for large ones fewer, for small ones as many as say something. */
export function decimal(value: number | null): string {
  if (value === null) return NONE;
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1000) return value.toFixed(0);
  if (size >= 100) return value.toFixed(1);
  if (size >= 0.01) return value.toFixed(2);
  return value.toPrecision(2);
}

export function percent(share: number | null): string {
  if (share === null) return NONE;
  if (share > 0 && share < 0.0001) return '<0.01%';
  return `${(share * 100).toFixed(share < 0.01 && share > 0 ? 2 : 1)}%`;
}

export function whole(value: number | bigint | null): string {
  return value === null ? NONE : String(value);
}

/** With thin groups of three digits: `332,262`. */
export function grouped(value: number | bigint | null): string {
  return value === null ? NONE : value.toLocaleString('en-US');
}

/** A figure of a report. @param count how whole numbers are written */
export function figureText({ unit, value }: Pick<Figure, 'unit' | 'value'>, count = whole): string {
  if (value === null || typeof value === 'bigint' || unit === 'count') return count(value);
  if (unit === 'share') return percent(value);
  if (unit === 'ratio') return ratio(value);
  // Rates per cycle are small: four digits after the point.
  return unit === 'mean' || Number.isInteger(value) ? decimal(value) : value.toFixed(4);
}

/** Words with figures. @param count how whole numbers are written */
export function remarkText(remark: Remark = [], count = whole): string {
  return remark.map((part) => (typeof part === 'string' ? part : figureText(part, count))).join('');
}

/** At most `width` values, each the mean of neighbours. */
export function resample(values: readonly number[], width: number): number[] {
  if (values.length <= width) return [...values];
  return Array.from({ length: width }, (_, index) => {
    const from = Math.floor((index * values.length) / width);
    const to = Math.max(from + 1, Math.floor(((index + 1) * values.length) / width));
    const part = values.slice(from, to);
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
