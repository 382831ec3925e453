/** Occupancy and counters of a range asked in stretches are those of one scan, wherever the borders are. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { add, clear, coreSchema, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases as casesOf } from '../../../../test/support/effort.js';
import { generator } from '../../../../test/support/recorded-run.js';
import { localRunner, maskedBorders } from '../../../../test/support/stretches.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { counters, occupancy } from './index.js';

const cases = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  mask: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  points: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  from: fc.integer({ min: 0, max: 4000 }),
  ours: fc.boolean(),
});

/** Buffers and counters that change at random; several segments may lie in one cycle, and storages may be emptied between them. */
function randomTrace(choose: (below: number) => number, ours: boolean): Uint8Array {
  const builder = new TraceBuilder({ schema: coreSchema, ...(ours ? {} : { session: null }) });
  let time = 0;
  for (let segment = 2 + choose(12); segment > 0; segment--) {
    const frames = Array.from({ length: choose(6) }, () => {
      time += [0, 100, 700, 3000][choose(4)]!;
      return frame(time, ...Array.from({ length: choose(5) }, () => randomItem(choose)));
    });
    const start = frames[0]?.timePs ?? BigInt(time);
    const emptied = choose(4) === 0 ? [choose(coreSchema.storages.length)] : [];
    builder.segment({ frames, start, end: BigInt(time), emptied });
  }
  builder.segment({ frames: [frame(time + 5000)], start: BigInt(time) });
  return builder.finalize().bytes;
}

function randomItem(choose: (below: number) => number) {
  const storage = choose(coreSchema.storages.length);
  const slot = choose(coreSchema.storages[storage]!.numSlots);
  const value = choose(5) === 0 ? 2n ** 64n - BigInt(choose(5)) : choose(9);
  switch (choose(4)) {
    case 0:
      return clear(storage, slot);
    case 1:
      return set(storage, slot, 0, value);
    default:
      return add(storage, slot, 0, value);
  }
}

async function both<T>(
  bytes: Uint8Array,
  mask: number,
  ask: (
    trace: Awaited<ReturnType<typeof openTrace>>,
    stretches?: ReturnType<typeof localRunner>,
  ) => Promise<T>,
) {
  const whole = await ask(await openTrace(memorySource(bytes)));
  const runner = localRunner(bytes, maskedBorders(mask));
  const trace = await openTrace(memorySource(bytes));
  const scan = vi.spyOn(trace, 'scan');
  const divided = await ask(trace, runner);
  return { whole, divided, done: runner.done.length, scans: scan.mock.calls.length };
}

describe('in stretches', () => {
  it('occupancy is that of one scan', async () => {
    const total = { done: 0, scans: 0 };
    await fc.assert(
      fc.asyncProperty(cases, async ({ seed, mask, points, from, ours }) => {
        const bytes = randomTrace(generator(seed), ours);
        const buffers = coreSchema.storages
          .filter(({ flags }) => flags !== 0)
          .map(({ storageId }) => storageId);
        const { whole, divided, done, scans } = await both(bytes, mask, (trace, stretches) =>
          occupancy(trace, { from, points, buffers, stretches }),
        );
        expect(divided).toEqual(whole);
        total.done += done;
        total.scans += done > 0 ? scans : 0;
      }),
      { numRuns: casesOf(30) },
    );
    expect(total.done).toBeGreaterThan(0);
    expect(total.scans).toBeLessThan(total.done);
  });

  it('counters are those of one scan', async () => {
    const total = { done: 0, scans: 0 };
    await fc.assert(
      fc.asyncProperty(cases, async ({ seed, mask, points, from, ours }) => {
        const bytes = randomTrace(generator(seed), ours);
        const { whole, divided, done, scans } = await both(bytes, mask, (trace, stretches) =>
          counters(trace, { from, points, perCycle: true, stretches }),
        );
        expect(divided).toEqual(whole);
        total.done += done;
        total.scans += done > 0 ? scans : 0;
      }),
      { numRuns: casesOf(30) },
    );
    expect(total.done).toBeGreaterThan(0);
    expect(total.scans).toBeLessThan(total.done);
  });
});
