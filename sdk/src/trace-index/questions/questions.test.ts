/** What the index answers is what a plain scan of the whole trace counts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, clear, frame, type SegmentSpec, set } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { type IndexedSpec, indexedTrace } from '../../../../test/support/indexed-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { IndexPart } from '../../format/index-container.js';
import type { Frame, Item } from '../../format/types.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { BUCKET_CYCLES, ChannelKind } from '../channels.js';
import { openIndex } from './open-index.js';
import type { TraceIndex } from './trace-index.js';

// Ten times the cases where all are tried.
limitOfFile(MANY_CASES_MS);

const PERIOD = 10;
const { schema } = parseSchema(`
uscope: 1
clocks: {clk: ${PERIOD}}
enums: {kind: [red, green]}
storages:
  done: counter
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64}}
    events:
      note: {kind: kind}
`);
const [DONE, ENTITIES] = [0, 1];
const note = (kind: number): Item => ({ kind: 'event', eventTypeId: 0, payload: Uint8Array.of(kind) });

interface Step {
  /** Cycles since the frame before. */
  readonly wait: number;
  readonly items: readonly Item[];
}

const item: fc.Arbitrary<Item> = fc.oneof(
  fc.nat(2).map(note),
  fc.integer({ min: -3, max: 9 }).map((by) => add(DONE, 0, 0, by)),
  fc.nat(7).map((slot) => set(ENTITIES, slot, 0, slot)),
  fc.nat(7).map((slot) => clear(ENTITIES, slot)),
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    wait: fc.oneof(fc.nat(40), fc.nat(700), fc.nat(40_000)),
    items: fc.array(item, { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 60 },
);
const recordings = fc.record({ steps, perSegment: fc.integer({ min: 1, max: 25 }) });

interface Recording {
  readonly steps: readonly Step[];
  readonly perSegment: number;
}

function segmentsOf({ steps: all, perSegment }: Recording) {
  let cycle = 0;
  const frames: Frame[] = all.map(({ wait, items }) => {
    cycle += wait;
    return frame(BigInt(cycle * PERIOD), ...items);
  });
  const segments: SegmentSpec[] = [];
  for (let at = 0; at < frames.length; at += perSegment) {
    const part = frames.slice(at, at + perSegment);
    segments.push({ frames: part, start: at === 0 ? 0n : part[0]!.timePs });
  }
  return { frames, segments, cycles: cycle + 1 };
}

/** What may be wrong with an index: the answers must be the same. */
const FLAWS: Record<string, Partial<IndexedSpec>> = {
  nothing: {},
  'no directory': { state: 'without-directory' },
  'still being written': { state: 'open' },
  'no room for fine levels': { maxBytes: 0 },
  'a container is missing': { container: (one, segment) => (segment === 1 ? null : one) },
  'a container is missing, and there is no directory': {
    state: 'without-directory',
    container: (one, segment) => (segment === 2 ? null : one),
  },
  'a container was made by other rules': {
    container: (one, segment) => (segment === 1 ? { ...one, planCrc: 1 } : one),
  },
  'a container is that of another segment': {
    container: (one, segment) => (segment === 1 ? { ...one, segmentOffset: 8n } : one),
  },
  'a TIME part is malformed': {
    container: (one, segment) =>
      segment === 1
        ? { ...one, parts: one.parts.map((part) => ({ ...part, bytes: Uint8Array.of(1, 2, 200) })) }
        : one,
  },
  'containers have lost their TIME parts for their size': {
    container: (one, segment) =>
      segment % 3 === 1 ? { ...one, parts: one.parts.filter(({ kind }) => kind !== IndexPart.TIME) } : one,
  },
  'the first containers are missing': { container: (one, segment) => (segment < 2 ? null : one) },
  'the last containers are missing': { container: (one, segment) => (segment > 1 ? null : one) },
  'the directory is cut': { directory: (bytes) => bytes.subarray(0, bytes.length - 9) },
  'a chunk of the directory is damaged': { directory: (bytes) => flipped(bytes, 3) },
  'the entries of the directory are damaged': { directory: (bytes) => flipped(bytes, bytes.length - 300) },
  'the directory ends in noise': { directory: (bytes) => flipped(bytes, bytes.length - 5) },
};
const flaws = fc.constantFrom(...Object.keys(FLAWS));

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  const place = Math.max(0, Math.min(copy.length - 1, at));
  copy[place] = copy[place]! ^ 0x55;
  return copy;
}

async function open(recording: Recording, flaw = 'nothing') {
  const { frames, segments, cycles } = segmentsOf(recording);
  const { bytes } = await indexedTrace({ schema, segments, ...FLAWS[flaw] });
  const trace = await openTrace(memorySource(bytes));
  const index = await openIndex(trace);
  return { index: index!, frames, cycles };
}

/** Numbers of a column by cycle. */
function plainly(frames: readonly Frame[], numberOf: (item: Item) => number): Map<number, number> {
  const sums = new Map<number, number>();
  for (const { timePs, items } of frames) {
    const cycle = Number(timePs) / PERIOD;
    for (const one of items) {
      const value = numberOf(one);
      if (value !== 0) sums.set(cycle, (sums.get(cycle) ?? 0) + value);
    }
  }
  return sums;
}

const notes = (kind?: number) => (one: Item) =>
  one.kind === 'event' && (kind === undefined || one.payload[0] === kind) ? 1 : 0;
const grown = (one: Item) =>
  one.kind === 'op' && one.storageId === DONE ? Number(BigInt.asIntN(64, one.value)) : 0;

/** Cycles in which instructions were born, in order. */
function births(frames: readonly Frame[]): number[] {
  const taken = new Set<number>();
  return frames.flatMap(({ timePs, items }) =>
    items.flatMap((one) => {
      if (one.kind !== 'op' || one.storageId !== ENTITIES) return [];
      const { slot, action } = one;
      const isBorn = action !== 2 && !taken.has(slot);
      if (action === 2) taken.delete(slot);
      else taken.add(slot);
      return isBorn ? [Number(timePs) / PERIOD] : [];
    }),
  );
}

const NOTES = { kind: ChannelKind.EVENTS, name: 'core0/note' } as const;
const GROWN = { kind: ChannelKind.DELTA, name: 'done' } as const;
const SLOTS = { kind: ChannelKind.OCCUPANCY, name: 'core0/entities' } as const;

describe('a series', () => {
  it('has the exact sums, whatever its range and width', async () => {
    await fc.assert(
      fc.asyncProperty(
        recordings,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 300 }),
        flaws,
        async (recording, a, b, intervals, flaw) => {
          const { index, frames, cycles } = await open(recording, flaw);
          const [from, to] = [a % cycles, b % cycles].sort((x, y) => x - y) as [number, number];
          const series = await index.series([NOTES, GROWN], { from, to: to + 1, intervals });
          expect(series.length).toBeLessThanOrEqual(intervals);
          expect(series.intervalCycles % BUCKET_CYCLES).toBe(0);
          expect(series.fromCycle).toBeLessThanOrEqual(from);
          expect(series.fromCycle + series.length * series.intervalCycles).toBeGreaterThan(to);
          const expected = [notes(0), notes(1), notes(2), grown].map((numberOf) => {
            const sums = new Array<number>(series.length).fill(0);
            for (const [cycle, value] of plainly(frames, numberOf)) {
              const interval = Math.floor((cycle - series.fromCycle) / series.intervalCycles);
              if (interval >= 0 && interval < series.length) sums[interval]! += value;
            }
            return sums;
          });
          const [counted, counter] = series.channels;
          expect(counted!.columns.map(({ name }) => name)).toEqual(['red', 'green', 'other']);
          expect([...counted!.columns, ...counter!.columns].map(({ values }) => [...values])).toEqual(
            expected,
          );
        },
      ),
      { numRuns: cases(5, 60) },
    );
  });

  it('has mean, least and greatest occupancy', async () => {
    await fc.assert(
      fc.asyncProperty(
        recordings,
        fc.integer({ min: 1, max: 40 }),
        flaws,
        async (recording, intervals, flaw) => {
          const { index, cycles } = await open(recording, flaw);
          const series = await index.series(SLOTS, { intervals });
          const [mean, min, max] = series.channels[0]!.columns;
          // What buffers held in each cycle, from the states.
          const end = cycles - 1;
          for (let interval = 0; interval < series.length; interval++) {
            const start = series.fromCycle + interval * series.intervalCycles;
            const stop = Math.min(start + series.intervalCycles, end);
            if (stop <= start) {
              expect(mean!.values[interval]).toBeNaN();
              continue;
            }
            const held = await occupancyBetween(index, start, stop);
            expect(mean!.values[interval]).toBeCloseTo(held.mean, 9);
            expect([min!.values[interval], max!.values[interval]]).toEqual([held.min, held.max]);
          }
        },
      ),
      { numRuns: cases(4, 40) },
    );
  });
});

async function occupancyBetween(index: TraceIndex, from: number, to: number) {
  const { occupancy } = await import('../../semantics/storages/occupancy.js');
  const [found] = await occupancy(index.trace, {
    buffers: ['core0/entities'],
    from: from * PERIOD,
    to: to * PERIOD,
  });
  return found!;
}

describe('what is searched for', () => {
  it('is the next and the previous event from any cycle', async () => {
    await fc.assert(
      fc.asyncProperty(
        recordings,
        fc.nat(),
        fc.constantFrom(undefined, 'red', 'green'),
        flaws,
        async (recording, at, label, flaw) => {
          const { index, frames, cycles } = await open(recording, flaw);
          const cycle = at % (cycles + 300);
          const kind = label === undefined ? undefined : ['red', 'green'].indexOf(label);
          const all = [...plainly(frames, notes(kind)).keys()];
          const wanted = { channel: NOTES, label };
          expect(await index.next(wanted, cycle)).toBe(all.find((one) => one >= cycle) ?? null);
          expect(await index.previous(wanted, cycle)).toBe(all.findLast((one) => one < cycle) ?? null);
        },
      ),
      { numRuns: cases(5, 60) },
    );
  });

  it('is the row of a cycle, and the cycle of a row', async () => {
    await fc.assert(
      fc.asyncProperty(recordings, fc.nat(), fc.nat(80), flaws, async (recording, at, row, flaw) => {
        const { index, frames, cycles } = await open(recording, flaw);
        const born = births(frames);
        const cycle = at % (cycles + 300);
        expect(await index.rowAt(0, cycle)).toBe(born.filter((one) => one < cycle).length);
        expect(await index.cycleOfRow(0, row)).toBe(born[row] ?? null);
      }),
      { numRuns: cases(5, 60) },
    );
  });
});

describe('the contents of a catalog', () => {
  it('have the rows of their instructions', async () => {
    await fc.assert(
      fc.asyncProperty(recordings, fc.nat(), flaws, async (recording, at, flaw) => {
        const { index, frames, cycles } = await open(recording, flaw);
        const cycle = at % cycles;
        const held = new Map<number, number>();
        let born = 0;
        for (const { timePs, items } of frames) {
          if (Number(timePs) > cycle * PERIOD) break;
          for (const one of items) {
            if (one.kind !== 'op' || one.storageId !== ENTITIES) continue;
            if (one.action === 2) held.delete(one.slot);
            else if (!held.has(one.slot)) held.set(one.slot, born++);
          }
        }
        const contents = await index.bufferAt(0, 'core0/entities', cycle);
        expect([...contents.slots]).toEqual([...held.keys()].sort((a, b) => a - b));
        const segments = index.trace.segmentCount;
        [...contents.slots].forEach((slot, place) => {
          // Far back the birth is not looked for.
          if (segments <= 8 || contents.rows[place] !== -1) {
            expect(contents.rows[place]).toBe(held.get(slot));
          }
          expect(contents.ids[place]).toBe(slot);
        });
      }),
      { numRuns: cases(5, 60) },
    );
  });
});
