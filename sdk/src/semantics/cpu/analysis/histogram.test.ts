import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histogram, PERCENTILE_ERROR } from './histogram.js';

const filled = (values: readonly number[]): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.add(value);
  return histogram;
};

/** The value at the nearest rank, by sorting. */
const byRank = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1]!;

describe('a histogram', () => {
  it('has nothing to say of no values', () => {
    expect(new Histogram().distribution()).toEqual({
      count: 0,
      mean: null,
      min: null,
      median: null,
      p90: null,
      p99: null,
      max: null,
      classes: [],
    });
  });

  it('is exact for small values', () => {
    const values = fc.array(fc.integer({ min: 0, max: PERCENTILE_ERROR.exactUpTo }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (all, share) => {
        const histogram = filled(all);
        expect(histogram.percentile(share)).toBe(byRank(all, share));
        expect(histogram.mean).toBeCloseTo(all.reduce((a, b) => a + b, 0) / all.length, 9);
        expect([histogram.min, histogram.max]).toEqual([Math.min(...all), Math.max(...all)]);
      }),
    );
  });

  it('errs by no more than it says for large ones, and never below', () => {
    const value = fc.nat({ max: 52 }).chain((bits) => fc.integer({ min: 0, max: 2 ** bits - 1 }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, share) => {
          const exact = byRank(all, share);
          const found = filled(all).percentile(share)!;
          expect(found).toBeGreaterThanOrEqual(exact);
          expect(found).toBeLessThanOrEqual(exact * (1 + PERCENTILE_ERROR.relativeError));
          expect(found).toBeLessThanOrEqual(Math.max(...all));
        },
      ),
    );
  });

  it('lists classes that hold every value once, rising', () => {
    const value = fc.nat({ max: 52 }).chain((bits) => fc.integer({ min: 0, max: 2 ** bits - 1 }));
    fc.assert(
      fc.property(fc.array(value), (all) => {
        const { classes } = filled(all).distribution();
        let end = -1;
        for (const { from, to, count } of classes) {
          expect(from).toBeGreaterThan(end);
          expect(all.filter((one) => one >= from && one <= to)).toHaveLength(count);
          end = to;
        }
        expect(classes.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
        expect(classes.length).toBeLessThanOrEqual(110);
      }),
    );
  });

  it('keeps single values apart as long as there are few', () => {
    const { classes } = filled([3, 3, 500, 501]).distribution();
    expect(classes).toEqual([
      { from: 3, to: 3, count: 2 },
      { from: 500, to: 500, count: 1 },
      { from: 501, to: 501, count: 1 },
    ]);
  });

  it('takes values beyond 2^52 as that', () => {
    expect(filled([2 ** 60]).distribution()).toMatchObject({ max: 2 ** 52, median: 2 ** 52 });
  });
});
