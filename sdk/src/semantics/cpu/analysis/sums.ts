export function addTo(sums: Float64Array, added: Float64Array): void {
  for (let index = 0; index < added.length; index++) sums[index] += added[index];
}

/** Orders reasons that are equally frequent, so that their order does not depend on which occurred first. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
