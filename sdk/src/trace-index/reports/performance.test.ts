/** What the index says of a whole trace is what the analysis finds by reading it, to the last number. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { frame, type SegmentSpec, set } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { indexedTrace } from '../../../../test/support/indexed-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { dut, generator, record, schemaWithBuffer } from '../../../../test/support/recorded-run.js';
import type { IndexContainer } from '../../format/index-container.js';
import { IndexPart } from '../../format/index-container.js';
import type { Frame } from '../../format/types.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { analyzePerformance, type PerformanceOptions } from '../../semantics/cpu/analysis/analyze.js';
import { openIndex } from '../questions/open-index.js';
import { performanceFromIndex } from './performance.js';

limitOfFile(MANY_CASES_MS);

const ISA = [...dut, ['cpu.isa', 'RV32IMAC']] as const;
const schema = schemaWithBuffer();
const BUCKET = 256;

function segmentsOf(frames: readonly Frame[], perSegment: number): SegmentSpec[] {
  const segments: SegmentSpec[] = [];
  for (let at = 0; at < frames.length; at += perSegment) {
    segments.push({ frames: frames.slice(at, at + perSegment) });
  }
  return segments;
}

interface Change {
  readonly state?: 'finalized' | 'without-directory' | 'open';
  readonly container?: (container: IndexContainer, segment: number) => IndexContainer | null;
}

async function bothOf(segments: readonly SegmentSpec[], options: PerformanceOptions, change: Change = {}) {
  const { bytes } = await indexedTrace({ schema, dut: ISA, segments, ...change });
  const trace = await openTrace(memorySource(bytes));
  const found = await performanceFromIndex((await openIndex(trace))!, options);
  return { found, scanned: () => analyzePerformance(trace, { ...options, grain: BUCKET }) };
}

it('equals the scan', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        cycles: fc.integer({ min: 1, max: 900 }),
        perSegment: fc.integer({ min: 20, max: 400 }),
        points: fc.nat(3),
        state: fc.constantFrom('finalized', 'without-directory', 'open'),
      }),
      async ({ seed, cycles, perSegment, points, state }) => {
        const { frames } = record(generator(seed), cycles);
        const { found, scanned } = await bothOf(segmentsOf(frames, perSegment), { points }, { state });
        if (!found) return;
        answered++;
        expect(found).toEqual(await scanned());
      },
    ),
    { numRuns: cases(10, 120) },
  );
  // About half of them have an answer: few points fit into short traces, and few instructions into the carry of small segments.
  expect(answered).toBeGreaterThan(0);
});

const long = () => segmentsOf(record(generator(11), 1200).frames, 300);

function without(kind: number, of: (segment: number) => boolean): Change {
  return {
    container: (one, segment) =>
      of(segment) ? { ...one, parts: one.parts.filter((part) => part.kind !== kind) } : one,
  };
}

it('counts anew what a few segments lack, and is left to the scan where many do', async () => {
  const options = { points: 3 };
  const some = await bothOf(
    long(),
    options,
    without(IndexPart.STATS, (segment) => segment === 1),
  );
  expect(some.found).not.toBeNull();
  expect(some.found).toEqual(await some.scanned());
  const many = segmentsOf(record(generator(11), 1200).frames, 60);
  expect(
    (
      await bothOf(
        many,
        options,
        without(IndexPart.STATS, () => true),
      )
    ).found,
  ).toBeNull();
  expect(
    (
      await bothOf(
        long(),
        options,
        without(IndexPart.OCCUPANCY, (one) => one === 2),
      )
    ).found,
  ).toBeNull();
});

it.each(['without-directory', 'open'] as const)('answers for a trace that is %s too', async (state) => {
  const { found, scanned } = await bothOf(long(), { points: 4 }, { state });
  expect(found).not.toBeNull();
  expect(found).toEqual(await scanned());
});

it('answers for whole traces, in as many intervals as there are buckets', async () => {
  expect((await bothOf(long(), { points: 4 })).found).not.toBeNull();
  expect((await bothOf(long(), { points: 60 })).found).toBeNull();
  expect((await bothOf(long(), { points: 2, from: 1000n })).found).toBeNull();
  expect((await bothOf(long(), { points: 2, to: 100_000n })).found).toBeNull();
});

it('is left to the scan where a slot is taken without an instruction', async () => {
  const points = 0;
  const [first, ...rest] = long();
  const odd = frame(0, ...first!.frames![0]!.items, set(0, 20, 1, 0x8000_0000));
  const segments = [{ frames: [odd, ...first!.frames!.slice(1)] }, ...rest];
  expect((await bothOf([first!, ...rest], { points })).found).not.toBeNull();
  expect((await bothOf(segments, { points })).found).toBeNull();
});
