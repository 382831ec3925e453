/** Counters as curves: on one scale, as rate or total. */
import { type CounterColumns, columnFrom, columnOf } from './window.js';

/** Growth per cycle of the axis over columns `[from, to)`. */
export function rateOver({ start, totals, step }: CounterColumns, from: number, to: number): number {
  return (totals[to - 1]! - (from === 0 ? start : totals[from - 1]!)) / ((to - from) * step);
}

/**
 * A value for each pixel: the mean rate over its cycles, or the value at their end. NaN where nothing is known. Each column belongs to the pixel of its
 * start; a pixel without any shows the one it lies in.
 * @param pixels of the plot; `scale` of them are a cycle
 */
export function curveOf(
  counter: CounterColumns,
  view: { readonly x: number; readonly scale: number },
  pixels: number,
  asTotal: boolean,
): Float64Array {
  const curve = new Float64Array(pixels);
  let next = columnFrom(counter, view.x);
  for (let pixel = 0; pixel < pixels; pixel++) {
    let from = next;
    let to = columnFrom(counter, view.x + (pixel + 1) / view.scale);
    next = to;
    if (to <= from) {
      from = columnOf(counter, view.x + pixel / view.scale);
      to = from + 1;
    }
    if (from < 0) curve[pixel] = Number.NaN;
    else curve[pixel] = asTotal ? counter.totals[to - 1]! : rateOver(counter, from, to);
  }
  return curve;
}

/** From zero, so that curves can be compared; totals far from it have their own range. */
export function rangeOf(curves: readonly Float64Array[]): { low: number; high: number } {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const curve of curves) {
    for (const value of curve) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  if (least > most) return { low: 0, high: 1 };
  if (least === most)
    return least === 0 ? { low: 0, high: 1 } : { low: Math.min(0, least), high: Math.max(0, most) };
  const low = least >= 0 && least < most / 2 ? 0 : least;
  return { low, high: most };
}

/** Marks of the scale between two values, about `count` of them but two if there is room for two: 1, 2 or 5 times a power of ten apart. */
export function marksBetween(low: number, high: number, count: number): number[] {
  const wanted = (high - low) / Math.max(1, count);
  if (!(wanted > 0)) return [];
  const step = Math.min(roundAtLeast(wanted), roundAtMost(high - low));
  const first = Math.ceil(low / step);
  const marks = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(0, Math.min(100, marks)) }, (_, index) => (first + index) * step);
}

const powerOf = (value: number): number => 10 ** Math.floor(Math.log10(value));

const roundAtLeast = (value: number): number =>
  powerOf(value) * ([1, 2, 5].find((factor) => factor * powerOf(value) >= value) ?? 10);

const roundAtMost = (value: number): number =>
  powerOf(value) * ([5, 2].find((factor) => factor * powerOf(value) <= value) ?? 1);

const SUFFIXES = ['', 'k', 'M', 'G', 'T'];

/** `12.5k` */
export function shortNumber(value: number): string {
  let scaled = value;
  let power = 0;
  while (Math.abs(scaled) >= 1000 && power < SUFFIXES.length - 1) {
    scaled /= 1000;
    power++;
  }
  return `${Number(scaled.toPrecision(3))}${SUFFIXES[power]}`;
}
