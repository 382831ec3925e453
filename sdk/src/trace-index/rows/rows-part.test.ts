/** Rows of the index, and its texts, against instructions that are read from the trace itself. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { indexOf, partsOf } from '../../../../test/support/index-sums.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { event, u32 } from '../../../../test/support/pipeline-model.js';
import { build, generator, record } from '../../../../test/support/recorded-run.js';
import { IndexPart } from '../../format/index-container.js';
import { parseSchema } from '../../schema/index.js';
import { findCores } from '../../semantics/cpu/cores.js';
import type { Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { stageColumns } from '../row-plan.js';
import { decodeStatics } from '../texts/static-set.js';
import { coarserRowsPart } from './coarser-rows.js';
import { Place, type RowGroup, RowMerger } from './row-table.js';
import { decodeRowsPart, GROUP_ROWS, MAX_GROUP_LEVEL } from './rows-part.js';

limitOfFile(MANY_CASES_MS);

/** What `RowMerger` has to find for a group. */
function expectedGroup(rows: readonly Instruction[], stages: number, cycle: (ps: bigint) => number) {
  const time = new Array<number>(stages).fill(0);
  const longest = new Array<number>(stages).fill(0);
  for (const row of rows) {
    const end = row.flush?.timePs ?? row.endPs;
    const entries = row.stages.filter(({ timePs }) => !row.flush || timePs <= row.flush.timePs);
    entries.forEach(({ stage, timePs }, index) => {
      const until = entries[index + 1]?.timePs ?? end;
      if (until === null || until === undefined) return;
      const column = stage < 0 ? stages - 1 : stage;
      const stay = cycle(until) - cycle(timePs);
      time[column]! += stay;
      longest[column] = Math.max(longest[column]!, stay);
    });
  }
  const ends = rows.flatMap(({ endPs }) => (endPs === null ? [] : [cycle(endPs)]));
  return [
    rows.length,
    cycle(rows[0]!.birthPs!),
    cycle(rows.at(-1)!.birthPs!),
    Math.max(-1, ...ends),
    rows.filter(({ end }) => end === 'retired').length,
    rows.filter(({ flush }) => flush !== null).length,
    ends.length,
    rows.reduce((sum, { stalls }) => sum + stalls.length, 0),
    ...time,
    ...longest,
  ];
}

/** The part with groups of the level. */
function atLevel(bytes: Uint8Array, stages: number, level: number): Uint8Array {
  return level === 0 ? bytes : atLevel(coarserRowsPart(bytes, stages) ?? bytes, stages, level - 1);
}

/** @param coarsest the parts have levels up to this one, in turn */
async function rowsAndScan(seed: number, cycles: number, perSegment: number, coarsest = 0) {
  const indexed = await indexOf(build(record(generator(seed), cycles).frames, perSegment));
  const { trace } = indexed;
  const [core] = findCores(trace);
  const stages = stageColumns(core!);
  const groups: RowGroup[] = [];
  const merger = new RowMerger(stages, (group) => groups.push(group));
  const parts = partsOf(indexed, IndexPart.ROWS, 0).map(({ bytes }, segment) =>
    decodeRowsPart(atLevel(bytes, stages, segment % (coarsest + 1)), stages),
  );
  parts.forEach((part, segment) => {
    merger.add(part, segment);
  });
  merger.finish();
  const isExact = parts.every((part) => part.isExact);
  const scanned: Instruction[] = [];
  for await (const one of instructions(trace, core!)) scanned.push(one);
  return { indexed, groups, isExact, scanned, stages, periodPs: core!.periodPs };
}

/** Segments of one length: a carry has room in those of some length, and the last one needs it too. */
const shape = fc
  .record({
    seed: fc.integer(),
    perSegment: fc.integer({ min: 60, max: 400 }),
    most: fc.integer({ min: 1, max: 900 }),
    coarsest: fc.integer({ min: 0, max: MAX_GROUP_LEVEL + 1 }),
  })
  .map(({ seed, perSegment, most, coarsest }) => ({
    seed,
    coarsest,
    perSegment,
    cycles: perSegment * Math.max(1, Math.floor(most / perSegment)),
  }));

describe('the rows of an index', () => {
  it('are the instructions that a scan finds, in groups, whatever the segments', async () => {
    let exact = 0;
    await fc.assert(
      fc.asyncProperty(shape, async ({ seed, cycles, perSegment, coarsest }) => {
        const found = await rowsAndScan(seed, cycles, perSegment, coarsest);
        const { groups, isExact, scanned, stages, periodPs } = found;
        // A segment of 60 cycles now and then has no room for its carry, and says so.
        if (!isExact) return;
        exact++;
        let at = 0;
        for (const group of groups) {
          const rows = scanned.slice(at, at + group[Place.ROWS]!);
          at += rows.length;
          const known = [...group];
          known.splice(Place.UNKNOWN, 1);
          known.splice(Place.SEGMENT, 1);
          expect(known).toEqual(expectedGroup(rows, stages, (ps) => Number(ps / periodPs)));
          expect(rows.length).toBeLessThanOrEqual(GROUP_ROWS * 4 ** Math.min(coarsest, MAX_GROUP_LEVEL));
        }
        expect(at).toBe(scanned.length);
      }),
      { numRuns: 25 },
    );
    expect(exact).toBeGreaterThan(0);
  });

  it('say so where instructions in flight are not known', async () => {
    // Segments that are too short for a carry.
    const indexed = await indexOf(build(record(generator(4), 60).frames, 2));
    const stages = stageColumns(findCores(indexed.trace)[0]!);
    const parts = partsOf(indexed, IndexPart.ROWS, 0).map(({ bytes }) => decodeRowsPart(bytes, stages));
    expect(parts[0]!.isExact).toBe(true);
    expect(parts.some(({ isExact }) => !isExact)).toBe(true);
  });
});

describe('the instructions that a segment names', () => {
  it('contain those of all rows that are born in it', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async ({ seed, cycles, perSegment }) => {
        const { indexed, scanned } = await rowsAndScan(seed, cycles, perSegment);
        const sets = partsOf(indexed, IndexPart.PCS, 0).map(({ bytes }) => {
          const { length, pcLo, pcHi, bits } = decodeStatics(bytes);
          return Array.from({ length }, (_, index) => {
            return `${(BigInt(pcHi[index]!) << 32n) | BigInt(pcLo[index]!)} ${bits[index]}`;
          });
        });
        expect(new Set(sets.flat())).toEqual(new Set(scanned.map(({ pc, bits }) => `${pc} ${bits}`)));
        const segments = await indexed.trace.segments();
        sets.forEach((set, index) => {
          const end = segments[index + 1]?.timeStartPs ?? 1n << 64n;
          const born = scanned.filter(({ birthPs }) => {
            return birthPs !== null && birthPs > segments[index]!.timeStartPs && birthPs < end;
          });
          for (const { pc, bits } of born) expect(set).toContain(`${pc} ${bits}`);
        });
      }),
      { numRuns: 15 },
    );
  });
});

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
enums:
  stage: [fetch, run]
  why: [wrong]
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 4, kind: sparse, fields: {entity_id: u32, pc: u64}}
    events:
      stage_transition: {entity_id: u32, stage: stage}
      flush: {entity_id: u32, reason: why}
      stall: {entity_id: u32, reason: why}
`);

describe('a group of rows', () => {
  it('has stalls of its instructions, stages recorded before the birth, and what a later segment says', async () => {
    const builder = new TraceBuilder({ schema });
    const born = (id: number) => [set(0, id, 0, id), set(0, id, 1, 0x100n + BigInt(id))];
    const idle = Array.from({ length: 400 }, (_, index) => frame(100 + index, set(0, 3, 1, 7n)));
    builder.segment({
      frames: [
        frame(0, event(0, ...u32(1), 0), ...born(1), ...born(2)),
        frame(20, event(2, ...u32(1), 0), event(0, ...u32(1), 1)),
        ...idle,
      ],
    });
    builder.segment({
      start: 1000n,
      frames: [frame(1000, clear(0, 1), event(1, ...u32(2), 0)), frame(1010, clear(0, 2))],
    });
    const indexed = await indexOf(builder.finalize().bytes);
    const [first, second] = partsOf(indexed, IndexPart.ROWS, 0).map(({ bytes }) => decodeRowsPart(bytes, 3));
    expect(first!.groups).toMatchObject({ length: 1, rows: Float64Array.of(2), stalls: Float64Array.of(1) });
    expect(first!.groups.stageTime.map(([time]) => time)).toEqual([2, 0, 0]);
    expect(second!.isExact).toBe(true);
    const { late } = second!;
    expect([late.distance[0], late.ended[0], late.retired[0], late.flushed[0]]).toEqual([2, 2, 1, 1]);
    expect(late.stageTime.map(([time]) => time)).toEqual([0, 98, 0]);
    expect([late.lastEnd[0], second!.births]).toEqual([101, 0]);
  });
});
