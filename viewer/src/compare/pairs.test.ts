import { describe, expect, it } from 'vitest';
import { emptyColumns, Pairs } from './pairs.js';

/** Pairs of consecutive instructions: rows as given, B one cycle later with each tenth. */
function pairsOf(count: number, maximum?: number): Pairs {
  const columns = emptyColumns(count);
  for (let at = 0; at < count; at++) {
    columns.retiredA[at] = at;
    columns.retiredB[at] = at;
    columns.rowA[at] = 2 * at;
    columns.rowB[at] = at + 5;
    columns.cycleA[at] = 100 + at;
    columns.cycleB[at] = 103 + at + Math.floor(at / 10);
  }
  const pairs = new Pairs(maximum);
  pairs.append(columns, count);
  return pairs;
}

describe('places of one run in the other', () => {
  it('are exact at pairs, in proportion between them, and as far away outside', () => {
    const pairs = pairsOf(100);
    expect(pairs.map('rowA', 40, 'rowB')).toBe(25);
    expect(pairs.map('rowA', 41, 'rowB')).toBe(25.5);
    expect(pairs.map('rowA', -3, 'rowB')).toBe(2);
    expect(pairs.map('rowA', 200, 'rowB')).toBe(106);
    expect(pairs.map('cycleB', 103, 'cycleA')).toBe(100);
    expect(new Pairs().map('rowA', 1, 'rowB')).toBeNull();
  });

  it('count what B lost since the first pair, and find where it lost it', () => {
    const pairs = pairsOf(100);
    expect(pairs.drift(0)).toBe(0);
    expect(pairs.drift(99)).toBe(9);
    expect(pairs.nextChange(-1, 1, 1)).toBe(10);
    expect(pairs.nextChange(0, 1, 1)).toBe(10);
    expect(pairs.nextChange(10, 1, 1)).toBe(20);
    expect(pairs.nextChange(20, -1, 1)).toBe(10);
    expect(pairs.nextChange(0, 1, 2)).toBeNull();
    expect(pairs.nextChange(10, -1, 1)).toBeNull();
  });

  it('keep every second one when there are too many', () => {
    const pairs = pairsOf(1000, 64);
    expect(pairs.count).toBeLessThanOrEqual(64);
    expect(pairs.stride).toBe(16);
    for (let row = 0; row < 1800; row += 7) expect(pairs.map('rowA', row, 'rowB')).toBe(row / 2 + 5);
    expect(pairs.drift(pairs.count - 1)).toBe(Math.floor(pairs.value('retiredA', pairs.count - 1) / 10));
  });
});
