/** What the parts of an analysis share: each stretch of segments is counted for itself, and the parts are joined in order. */
import { NotMergeable } from '../../common/stretches.js';
import type { LabelIndex } from './labels.js';

/** @throws NotMergeable where values have been lumped together: the next stretch would have told others apart */
export function namesOf(labels: LabelIndex): readonly string[] {
  if (labels.isFull) throw new NotMergeable('an enum has more values than are counted separately');
  return labels.names;
}

export function addTo(sums: Float64Array, added: Float64Array): void {
  for (let index = 0; index < added.length; index++) sums[index] += added[index];
}

/** Of reasons that are equally frequent, so that their order does not depend on which occurred first. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
