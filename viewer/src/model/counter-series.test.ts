import { describe, expect, it } from 'vitest';
import { marksBetween } from './counter-series.js';

describe('marks of a scale', () => {
  it.each([
    [0, 1, 1.1, [0, 1]],
    [0, 3, 1.1, [0, 2]],
    [0, 4.9, 1, [0, 2, 4]],
    [0, 100, 4, [0, 50, 100]],
    [90, 100, 5, [90, 92, 94, 96, 98, 100]],
  ])('from %d to %d with room for %d are %j', (low, high, count, marks) => {
    expect(marksBetween(low, high, count)).toEqual(marks);
  });

  it('are none where there is no range', () => {
    expect(marksBetween(2, 2, 3)).toEqual([]);
  });
});
