import { describe, expect, it } from 'vitest';
import type { CounterFigures } from './report.js';
import { topDownOf } from './top-down.js';

const counters = (values: Record<string, readonly [number, number]>): CounterFigures[] =>
  Object.entries(values).map(([counter, [start, end]]) => ({
    counter,
    start: BigInt(start),
    end: BigInt(end),
    delta: BigInt(end - start),
    perCycle: null,
    perKiloInstructions: null,
  }));

describe('top-down slots', () => {
  it('are shares of the slots of the range, by the width that the whole trace has', () => {
    const found = topDownOf(
      counters({
        cycles: [1000, 1100],
        slots_retiring: [1200, 1300],
        slots_frontend: [800, 890],
        slots_idle: [0, 6],
      }),
      100,
      1100n,
    );
    expect(found).toEqual({
      width: 2,
      slots: 200,
      counted: 196,
      classes: [
        { name: 'retiring', slots: 100, share: 0.5 },
        { name: 'frontend', slots: 90, share: 0.45 },
        { name: 'idle', slots: 6, share: 0.03 },
      ],
    });
  });

  it('count the cycles of the trace where the core does not', () => {
    const found = topDownOf(counters({ slots_retiring: [0, 29], slots_frontend: [0, 10] }), 10, 10n);
    expect(found).toMatchObject({ width: 4, slots: 40, counted: 39 });
  });

  it('have no share before the first cycle', () => {
    const found = topDownOf(counters({ slots_retiring: [0, 0], slots_frontend: [0, 0] }), 0, 0n);
    expect(found).toMatchObject({
      width: 0,
      counted: 0,
      classes: [{ share: null }, { share: null }],
    });
  });

  it('need more than one class', () => {
    expect(topDownOf(counters({ cycles: [0, 10], slots_free: [0, 7] }), 10, 10n)).toBeNull();
  });
});
