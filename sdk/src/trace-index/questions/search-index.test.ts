/** With an index a search for events finds the same, and reads only segments that have them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frame, type SegmentSpec } from '../../../../test/support/build-trace.js';
import { indexedTrace } from '../../../../test/support/indexed-trace.js';
import type { Item } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { type Found, find } from '../../semantics/search/index.js';
import { openIndex } from './open-index.js';
import { searchIndex } from './search-index.js';

const PERIOD = 10;
const { schema } = parseSchema(`
uscope: 1
clocks: {clk: ${PERIOD}}
enums: {flush_reason: [mispredict, exception], kind: [red, green]}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64}}
    events:
      flush: {entity_id: u32, reason: flush_reason}
      note: {kind: kind}
`);
const [FLUSH, NOTE] = ['flush', 'note'].map((name) =>
  schema.events.findIndex((event) => event.name === name),
);
const event = (eventTypeId: number, ...payload: number[]): Item => ({
  kind: 'event',
  eventTypeId,
  payload: Uint8Array.from(payload),
});

/** Cycles between frames, and what each of them has. */
const recordings = fc.record({
  frames: fc.array(
    fc.record({
      wait: fc.integer({ min: 1, max: 3000 }),
      what: fc.oneof(
        { weight: 8, arbitrary: fc.constant<Item[]>([]) },
        { weight: 1, arbitrary: fc.constant([event(FLUSH!, 1, 0, 0, 0, 0)]) },
        { weight: 1, arbitrary: fc.constant([event(NOTE!, 1)]) },
      ),
    }),
    { minLength: 1, maxLength: 80 },
  ),
  perSegment: fc.integer({ min: 1, max: 6 }),
});

async function searched(trace: Trace, pattern: string, options = {}): Promise<Found[]> {
  const found: Found[] = [];
  for await (const some of find(trace, pattern, options)) found.push(...some);
  return found;
}

it('finds the same events, in the segments that have them', async () => {
  let skipped = 0;
  await fc.assert(
    fc.asyncProperty(
      recordings,
      fc.constantFrom('flush:', 'event:note', 'event:note kind=green'),
      async (one, pattern) => {
        let cycle = 0;
        const frames = one.frames.map(({ wait, what }) => {
          cycle += wait;
          return frame(BigInt(cycle * PERIOD), ...what);
        });
        const segments: SegmentSpec[] = [];
        for (let at = 0; at < frames.length; at += one.perSegment) {
          const part = frames.slice(at, at + one.perSegment);
          segments.push({ frames: part, start: at === 0 ? 0n : part[0]!.timePs });
        }
        const { bytes } = await indexedTrace({ schema, segments });
        const trace = await openTrace(memorySource(bytes));
        const index = await openIndex(trace);
        expect(index).not.toBeNull();
        const read = new Set<number>();
        const load = trace.loadSegment.bind(trace);
        trace.loadSegment = (segment) => {
          read.add(segment);
          return load(segment);
        };
        const expected = await searched(trace, pattern);
        const all = read.size;
        read.clear();
        expect(await searched(trace, pattern, { index: searchIndex(index!) })).toEqual(expected);
        skipped += all - read.size;
      },
    ),
    { numRuns: 40 },
  );
  expect(skipped).toBeGreaterThan(0);
});
