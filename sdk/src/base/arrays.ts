/**
 * Operations on whole arrays. The first do what `push(...items)` and `Math.max(...values)` do, for any number of items: arguments of a call are on
 * the stack, which a list as long as an input overflows. `scripts/check-imports.mjs` refuses spreading there.
 */

/** Appends all items of the lists. */
export function appendAll<T>(target: T[], ...lists: readonly Iterable<T>[]): void {
  for (const items of lists) for (const item of items) target.push(item);
}

/** The largest value; `least` where there are none. */
export function maxOf(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let max = least;
  for (const value of values) if (value > max || Number.isNaN(value)) max = value;
  return max;
}

/** The smallest value; `most` where there are none. */
export function minOf(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let min = most;
  for (const value of values) if (value < min || Number.isNaN(value)) min = value;
  return min;
}

/** Adds each of `added` to the sum at the same index. */
export function addTo(sums: Float64Array, added: Float64Array): void {
  for (let index = 0; index < added.length; index++) sums[index] += added[index];
}
