/** What the index says of buffers is what a scan of the whole trace finds, to the last number. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clear, frame, type SegmentSpec, set } from '../../../../test/support/build-trace.js';
import { indexedTrace } from '../../../../test/support/indexed-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { IndexPart } from '../../format/index-container.js';
import type { Item } from '../../format/types.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { occupancy } from '../../semantics/storages/occupancy.js';
import { openIndex } from '../questions/open-index.js';
import { occupancyFromIndex } from './occupancy.js';

// Each case is a trace that is written, and scanned.
limitOfFile(MANY_CASES_MS);

const PERIOD = 10;
const { schema } = parseSchema(`
uscope: 1
clocks: {clk: ${PERIOD}}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32}}
      queue: {slots: 5, kind: buffer, fields: {entity_id: u32}}
`);

const item: fc.Arbitrary<Item> = fc.oneof(
  fc.nat(7).map((slot) => set(0, slot, 0, slot)),
  fc.nat(7).map((slot) => clear(0, slot)),
  fc.nat(4).map((slot) => set(1, slot, 0, slot)),
  fc.nat(4).map((slot) => clear(1, slot)),
);
const step = fc.record({
  wait: fc.oneof(fc.nat(40), fc.nat(9_000)),
  part: fc.nat(PERIOD - 1),
  items: fc.array(item, { maxLength: 4 }),
});

interface Step {
  readonly wait: number;
  readonly part: number;
  readonly items: readonly Item[];
}

/** @param isAligned frames at the start of their cycles */
function segmentsOf(steps: readonly Step[], perSegment: number, start: number, isAligned: boolean) {
  let cycle = start;
  const frames = steps.map(({ wait, part, items }) => {
    cycle += 1 + wait;
    return frame(BigInt(cycle * PERIOD + (isAligned ? 0 : part)), ...items);
  });
  const segments: SegmentSpec[] = [];
  for (let at = 0; at < frames.length; at += perSegment) {
    const some = frames.slice(at, at + perSegment);
    segments.push({ frames: some, start: at === 0 ? BigInt(start * PERIOD) : some[0]!.timePs });
  }
  return segments;
}

const BUFFERS = ['core0/entities', 'core0/queue'];

it('equals the scan, with and without a series', async () => {
  const answered = { finalized: 0, 'without-directory': 0, open: 0 };
  let withSeries = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 25 }),
      fc.constantFrom(0, 700),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
      fc.constantFrom('finalized' as const, 'without-directory' as const, 'open' as const),
      async (steps, perSegment, start, isAligned, points, state) => {
        const segments = segmentsOf(steps, perSegment, start, isAligned);
        const { bytes } = await indexedTrace({ schema, segments, state });
        const trace = await openTrace(memorySource(bytes));
        const index = await openIndex(trace);
        const found = await occupancyFromIndex(index!, { buffers: BUFFERS, points });
        if (!found) return;
        answered[state]++;
        if (points !== undefined) withSeries++;
        expect(found).toEqual(await occupancy(trace, { buffers: BUFFERS, points }));
      },
    ),
    { numRuns: 40 },
  );
  expect(Object.values(answered).map((times) => times > 0)).toEqual([true, true, true]);
  expect(withSeries).toBeGreaterThan(3);
});

it('is left to the scan where the index lacks something', async () => {
  const steps = Array.from({ length: 40 }, (_, at) => ({
    wait: 900,
    part: 0,
    items: [set(0, at % 8, 0, at)],
  }));
  const segments = segmentsOf(steps, 10, 0, true);
  const { bytes } = await indexedTrace({
    schema,
    segments,
    container: (one, segment) =>
      segment === 2 ? { ...one, parts: one.parts.filter(({ kind }) => kind !== IndexPart.OCCUPANCY) } : one,
  });
  const trace = await openTrace(memorySource(bytes));
  const index = (await openIndex(trace))!;
  expect(await occupancyFromIndex(index, { buffers: BUFFERS })).toBeNull();
  expect(await occupancyFromIndex(index, { buffers: BUFFERS, from: 10, to: 5_000 })).toBeNull();
});
