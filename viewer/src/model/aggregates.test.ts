/** Sums over buckets equal the sums of what was added. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Aggregates, bucketCyclesFor, columnsOf } from './aggregates.js';

const shape = { bucketCycles: 16, buckets: 40, stages: 2, reasons: 1 };
const columns = columnsOf(shape);
const parts = fc.array(
  fc.record({
    first: fc.integer({ min: 0, max: 39 }),
    values: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 12 },
);

describe('Aggregates', () => {
  it('sums any range of what was added in the order of time', () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: -5, max: 45 }), fc.integer({ min: -5, max: 45 }), (list, a, b) => {
        const added = [...list].sort((one, other) => one.first - other.first);
        const sums = new Aggregates(shape);
        const plain = new Array<number>(40).fill(0);
        for (const { first, values } of added) {
          const part = new Float64Array(values.length * columns);
          values.forEach((value, index) => {
            part[index * columns + 3] = value;
            if (first + index < 40) plain[first + index]! += value;
          });
          sums.add({ first, values: part });
        }
        const expected = plain
          .slice(Math.max(0, a), Math.max(0, a, b))
          .reduce((sum, value) => sum + value, 0);
        expect(sums.sum(3, a, Math.max(a, b))).toBe(expected);
        expect(sums.sum(2, a, Math.max(a, b))).toBe(0);
      }),
    );
  });

  it('has buckets of a power of two, few enough to be kept', () => {
    expect(bucketCyclesFor(1000)).toBe(16);
    expect(bucketCyclesFor(332_262)).toBe(16);
    expect(bucketCyclesFor(100_000_000)).toBe(512);
  });
});
