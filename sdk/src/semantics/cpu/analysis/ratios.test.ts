import { describe, expect, it } from 'vitest';
import { checksOf, ratiosOf } from './ratios.js';
import type { CounterFigures, FlushReport } from './report.js';

const counters = (values: Record<string, number>): CounterFigures[] =>
  Object.entries(values).map(([counter, value]) => ({
    counter,
    start: 0n,
    end: BigInt(value),
    delta: BigInt(value),
    perCycle: null,
    perKiloInstructions: null,
  }));

const flushed = (reasons: Record<string, number>): FlushReport => ({
  flushes: Object.values(reasons).reduce((sum, count) => sum + count, 0),
  perKiloInstructions: null,
  reasons: Object.entries(reasons).map(([reason, flushes]) => ({
    reason,
    flushes,
    squashed: flushes * 3,
    perKiloInstructions: null,
    share: 1,
  })),
});

const of = (
  values: Record<string, number>,
  mix: Record<string, number> = {},
  reasons: Record<string, number> = {},
) =>
  ratiosOf(
    counters(values),
    Object.entries(mix).map(([kind, count]) => ({ kind, count, share: 0 })),
    flushed(reasons),
    2000,
  ).map(({ name, ratio, numerator, denominator, perKiloInstructions }) => [
    name,
    ratio,
    numerator,
    denominator,
    perKiloInstructions,
  ]);

describe('ratios', () => {
  it('of a cache are misses to accesses', () => {
    expect(of({ dcache_misses: 5, dcache_accesses: 50 })).toEqual([
      ['dcache miss', 0.1, 'dcache_misses', 'dcache_accesses', 2.5],
    ]);
  });

  it('of a cache that counts hits are misses to both', () => {
    expect(of({ l2_miss: 10, l2_hit: 30 })).toEqual([['l2 miss', 0.25, 'l2_miss', 'l2_hit + l2_miss', 5]]);
  });

  it('of a cache that counts neither are misses per instruction', () => {
    expect(of({ itlb_misses: 4 })).toEqual([['itlb miss', null, 'itlb_misses', null, 2]]);
  });

  it('are none of stalls by misses', () => {
    expect(of({ stalls_dcache_miss: 4, dcache_miss_stalls: 4 })).toEqual([]);
  });

  it('of branches are mispredicts to branches, as counted', () => {
    expect(of({ bp_misses: 2, branches: 20, branches_taken: 15 })).toEqual([
      ['branch misprediction', 0.1, 'bp_misses', 'branches', 1],
      ['branches taken', 0.75, 'branches_taken', 'branches', 7.5],
    ]);
  });

  it('of branches come from flushes and retired instructions where nothing counts them', () => {
    expect(of({}, { branch: 40 }, { mispredict: 4, exception: 1 })).toEqual([
      ['branch misprediction', 0.1, 'flushes: mispredict', 'retired branches', 2],
    ]);
  });

  it('have no value without a single event to refer to', () => {
    expect(of({ mispredicts: 0, branches: 0 })[0]).toEqual([
      'branch misprediction',
      null,
      'mispredicts',
      'branches',
      0,
    ]);
  });
});

describe('checks', () => {
  const stalls = {
    cycles: 9,
    share: null,
    reasons: [{ reason: 'rob_full', events: 9, cycles: 9, share: null, episodes: 1, longest: 9 }],
  };

  it('put next to each other what was counted and what counters say', () => {
    const found = checksOf(
      counters({
        cycles: 90,
        retired: 7,
        fetched_insns: 12,
        flushes: 2,
        stall_rob_full: 8,
        mispredicts: 2,
        other: 1,
      }),
      { cycles: 91, retired: 7, fetched: 12, squashed: 6, flushes: flushed({ mispredict: 2 }), stalls },
    );
    expect(found.map(({ what, counted, counter, value }) => [what, counted, counter, value])).toEqual([
      ['cycles', 91, 'cycles', 90n],
      ['instructions fetched', 12, 'fetched_insns', 12n],
      ['instructions retired', 7, 'retired', 7n],
      ['flushes', 2, 'flushes', 2n],
      ['flushes: mispredict', 2, 'mispredicts', 2n],
      ['stall cycles: rob_full', 9, 'stall_rob_full', 8n],
    ]);
  });

  it('need events of that kind', () => {
    const nothing = { cycles: 1, retired: null, fetched: null, squashed: 0, flushes: null, stalls: null };
    expect(checksOf(counters({ retired: 7, flushes: 2, stall_rob_full: 8 }), nothing)).toEqual([]);
  });
});
