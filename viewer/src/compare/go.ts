/** From one difference to the next. */

import { grouped } from '../model/ticks.js';
import type { Frames } from './frames.js';
import { differences, notice, pairs, place, placeRow, threshold } from './store.js';

interface Target {
  /** Instructions retired in A. */
  readonly retired: number;
  readonly rowA: number;
  readonly rowB: number;
  readonly what: string;
}

const timesText = (count: number, what: string): string =>
  `${grouped(count)} ${count === 1 ? what : `${what}s`}`;

/** The next place, in a direction, at which the runs retire other instructions. */
function ofProgram(from: number, direction: 1 | -1): Target | null {
  const list = differences.value;
  const found =
    direction > 0
      ? list.find(({ retiredA }) => retiredA > from)
      : list.findLast(({ retiredA }) => retiredA < from);
  if (!found) return null;
  const { retiredA, rowA, rowB, a, b } = found;
  return { retired: retiredA, rowA, rowB, what: `${timesText(a, 'instruction')} of A, ${grouped(b)} of B` };
}

/** The next place at which B loses or gains time. */
function ofTime(from: number, direction: 1 | -1): Target | null {
  if (threshold.value === 0) return null;
  // A place is the instruction itself: the one found before is not found again.
  const at = pairs.find('retiredA', from);
  const found = pairs.nextChange(
    direction < 0 && at >= 0 && pairs.value('retiredA', at) < from ? at + 1 : at,
    direction,
    threshold.value,
  );
  if (found === null) return null;
  const change = pairs.drift(found) - pairs.drift(found - 1);
  return {
    retired: pairs.value('retiredA', found),
    rowA: pairs.value('rowA', found),
    rowB: pairs.value('rowB', found),
    what: `B ${change > 0 ? 'loses' : 'gains'} ${timesText(Math.abs(change), 'cycle')}`,
  };
}

/** @param from instructions retired in A; null: the beginning */
function findDifference(from: number | null, direction: 1 | -1): Target | null {
  const start = from ?? -1;
  const found = [ofProgram(start, direction), ofTime(start, direction)].filter((one) => one !== null);
  found.sort((x, y) => (x.retired - y.retired) * direction);
  return found[0] ?? null;
}

/** The difference gone to last, which is the place as long as the pictures are there. */
let current: Target | null = null;

export function goToDifference(frames: Frames, direction: 1 | -1 | 'first'): void {
  const isThere = current !== null && (current.rowA < 0 || current.rowA === placeRow.value);
  const from = direction === 'first' ? null : isThere ? current!.retired : place.value;
  const found = findDifference(from, direction === 'first' ? 1 : direction);
  if (!found) {
    notice.value = `no difference ${direction === -1 ? 'before' : 'after'} this place`;
    return;
  }
  current = found;
  const { retired, rowA, rowB, what } = found;
  place.value = retired;
  placeRow.value = rowA;
  if (rowA >= 0) frames.show('a', rowA);
  else if (rowB >= 0) frames.show('b', rowB);
  notice.value = `after ${grouped(retired)} instructions: ${what}`;
}

export function goToRetired(frames: Frames, retired: number): void {
  const row = pairs.map('retiredA', retired, 'rowA');
  if (row !== null) frames.show('a', Math.max(0, Math.round(row)));
}
