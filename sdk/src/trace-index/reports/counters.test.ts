/** What the index says of counters is what a replay of the range finds, to the last number. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { add, clear, frame, type SegmentSpec, set } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { indexedTrace } from '../../../../test/support/indexed-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { IndexPart } from '../../format/index-container.js';
import type { Item } from '../../format/types.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import type { CounterReport } from '../../semantics/storages/counter-work.js';
import { counters } from '../../semantics/storages/counters.js';
import { openIndex } from '../questions/open-index.js';
import { countersFromIndex } from './counters.js';

// Each case is a trace that is written, and replayed.
limitOfFile(MANY_CASES_MS);

const PERIOD = 10;
const { schema } = parseSchema(`
uscope: 1
clocks: {clk: ${PERIOD}, bus_clk: 25}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages: {committed: counter, misses: counter}
  bus: {clock: bus_clk, storages: {beats: counter}}
`);
const IDS = [0, 1, 2];

const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constantFrom(...IDS), fc.nat(9)).map(([id, by]) => add(id, 0, 0, by)) },
  { weight: 1, arbitrary: fc.constantFrom(...IDS).map((id) => clear(id, 0)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...IDS), fc.bigInt(0n, (1n << 64n) - 1n))
      .map(([id, value]) => set(id, 0, 0, value)),
  },
);
const small: fc.Arbitrary<Item> = fc
  .tuple(fc.constantFrom(...IDS), fc.nat(1_000))
  .chain(([id, value]) => fc.constantFrom(add(id, 0, 0, value), set(id, 0, 0, value), clear(id, 0)));

function steps(items: fc.Arbitrary<Item>) {
  const step = fc.record({
    wait: fc.oneof({ weight: 1, arbitrary: fc.nat(40) }, { weight: 3, arbitrary: fc.nat(9_000) }),
    part: fc.nat(PERIOD - 1),
    items: fc.array(items, { maxLength: 4 }),
  });
  return fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });
}

function segmentsOf(
  made: readonly { readonly wait: number; readonly part: number; readonly items: readonly Item[] }[],
  perSegment: number,
): SegmentSpec[] {
  let cycle = 0;
  const frames = made.map(({ wait, part, items }) => {
    cycle += 1 + wait;
    return frame(BigInt(cycle * PERIOD + part), ...items);
  });
  const segments: SegmentSpec[] = [];
  for (let at = 0; at < frames.length; at += perSegment) {
    const some = frames.slice(at, at + perSegment);
    segments.push({ frames: some, start: at === 0 ? 0n : some[0]!.timePs });
  }
  return segments;
}

const plain = (reports: readonly CounterReport[]) => reports.map(({ source: _, ...rest }) => rest);

it('equals the replay of any range', async () => {
  let [answered, partly, long] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 1, arbitrary: steps(item) }, { weight: 3, arbitrary: steps(small) }),
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('finalized', 'without-directory', 'open'),
      fc.option(fc.tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999 })), {
        nil: undefined,
      }),
      async (made, perSegment, points, state, part) => {
        const { bytes } = await indexedTrace({ schema, segments: segmentsOf(made, perSegment), state });
        const trace = await openTrace(memorySource(bytes));
        const end = Number(trace.totalTimePs);
        const [from, to] = part ? part.map((share) => BigInt(Math.floor((end * share) / 1000))) : [];
        const range = part && from! < to! ? { from, to } : {};
        const index = await openIndex(trace);
        const found = await countersFromIndex(index!, { ...range, points });
        if (!found) return;
        answered++;
        if (part) partly++;
        if (found.some(({ series }) => series!.length > 2)) long++;
        expect(found.every(({ source }) => source === 'index')).toBe(true);
        expect(plain(found)).toEqual(plain(await counters(trace, { ...range, points, exact: true })));
      },
    ),
    { numRuns: cases(40) },
  );
  expect([answered > 0, partly > 0, long > 0]).toEqual([true, true, true]);
});

it('is left to the replay where the index does not know', async () => {
  const made = Array.from({ length: 40 }, () => ({ wait: 900, part: 0, items: [add(0, 0, 0, 3)] }));
  const { bytes } = await indexedTrace({ schema, segments: segmentsOf(made, 10) });
  const index = (await openIndex(await openTrace(memorySource(bytes))))!;
  expect(await countersFromIndex(index, { points: 10 })).not.toBeNull();
  expect(await countersFromIndex(index, { points: 10, perCycle: true })).toBeNull();
  expect(await countersFromIndex(index, {})).toBeNull();
  // Shorter than a bucket.
  expect(await countersFromIndex(index, { points: 10, from: 0, to: 5_000 })).toBeNull();
});

it('counts a segment anew of which the index has lost its part, with the same numbers', async () => {
  const made = Array.from({ length: 40 }, (_, at) => ({ wait: 900, part: 0, items: [add(0, 0, 0, at)] }));
  const { bytes } = await indexedTrace({
    schema,
    segments: segmentsOf(made, 10),
    container: (one, segment) =>
      segment === 2 ? { ...one, parts: one.parts.filter(({ kind }) => kind !== IndexPart.TIME) } : one,
  });
  const trace = await openTrace(memorySource(bytes));
  const found = await countersFromIndex((await openIndex(trace))!, { points: 10, counters: [0] });
  expect(plain(found!)).toEqual(plain(await counters(trace, { points: 10, counters: [0], exact: true })));
});
