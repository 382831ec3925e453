/** The compiled levels of a directory are those that the plain ones are. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OracleLevels } from '../../../../test/oracle/index/levels.js';
import { encodeStatics, encodeStrings } from '../../../../test/oracle/index/unions.js';
import { cases } from '../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { dut, generator, schemaWithBuffer } from '../../../../test/support/recorded-run.js';
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import { ChannelKind, type ClockGroup } from '../channels.js';
import type { LevelInput, LevelMaker } from '../made-levels/level-maker.js';
import { indexPlan } from '../plan.js';
import { coarserRowsPart } from '../rows/coarser-rows.js';
import { decodeRowsChunk } from '../rows/row-chunk.js';
import { encodeRowsPart, GROUP_ROWS, LATE_COLUMNS, MAX_GROUP_LEVEL, OWN_COLUMNS } from '../rows/rows-part.js';
import { decodeTimePart, encodeTimePart } from '../time-part.js';
import { kernelLevels } from './directory-kernel.js';

limitOfFile(MANY_CASES_MS);

const plan = indexPlan(schemaWithBuffer(), dut);
const group = plan.groups[0]!;
const stages = plan.cores[0]!.rows!.stages;
const BUCKET_PS = BigInt(group.periodPs * 256);

type Choose = (below: number) => number;

/** Mostly small, now and then beyond 2^32. */
function anyNumber(choose: Choose): number {
  const kind = choose(12);
  if (kind < 5) return 0;
  if (kind < 11) return choose(300);
  return choose(1 << 30) * 2 ** choose(20);
}

/** The rows of a segment from a bucket on; some of them last long. */
function timeOf(choose: Choose, fromPs: bigint, rows: number) {
  const spans = Array.from({ length: rows }, () => (choose(9) === 0 ? BigInt(1 + choose(200)) : 1n));
  spans[rows - 1] = 1n; // the next part begins in the last bucket
  const columns = Array.from({ length: group.columns }, () =>
    Array.from({ length: rows }, () => anyNumber(choose)),
  );
  for (const { kind, column } of group.channels) {
    if (kind === ChannelKind.OCCUPANCY) fillOccupancy(choose, columns, column, spans);
  }
  const level = choose(6) === 0 ? 1 : 0;
  const bucketPs = level === 1 ? 4n * BUCKET_PS : BUCKET_PS;
  const buckets = spans.reduce((sum, span) => sum + span, 0n);
  const endPs = (fromPs / bucketPs + buckets) * bucketPs - BigInt(1 + choose(1000));
  const toPs = endPs > fromPs ? endPs : fromPs;
  const unitPs = choose(4) === 0 ? 1 : group.periodPs;
  const bytes = encodeTimePart({ fromPs, toPs, isExact: choose(5) > 0, unitPs, spans, columns }, level);
  return { bytes, toPs };
}

/** Of rows over several buckets mostly the same all along. */
function fillOccupancy(choose: Choose, columns: number[][], column: number, spans: readonly bigint[]): void {
  spans.forEach((_, row) => {
    const least = choose(5);
    const most = least > 0 ? least + (choose(3) === 0 ? choose(4) : 0) : 0;
    columns[column]![row] = least === 0 ? 0 : choose(1000);
    columns[column + 1]![row] = least;
    columns[column + 2]![row] = most;
  });
}

function table(choose: Choose, columns: number, rows: number): number[][] {
  return Array.from({ length: columns }, () => Array.from({ length: rows }, () => anyNumber(choose) % 4096));
}

function rowsOf(choose: Choose, births: number): Uint8Array {
  const groups = Math.ceil(births / GROUP_ROWS);
  const own = table(choose, OWN_COLUMNS + 2 * stages, groups);
  // Instructions that all ended close their group.
  for (let index = 0; index < groups; index++) if (choose(8) > 0) own[5]![index] = GROUP_ROWS;
  own[0]!.sort((a, b) => a - b);
  const late = table(choose, LATE_COLUMNS + 2 * stages, choose(5));
  late[0]!.sort((a, b) => b - a);
  let bytes = encodeRowsPart({ isExact: choose(4) > 0, births, own, late });
  // Where an index has no room for the finest groups.
  for (let level = choose(2) * choose(MAX_GROUP_LEVEL + 1); level > 0; level--) {
    bytes = coarserRowsPart(bytes, stages)!;
  }
  return bytes;
}

interface Shape {
  readonly seed: number;
  readonly segments: number;
  readonly rows: number;
  readonly births: number;
  /** Of a hundred parts. */
  readonly missing: number;
}

/** The parts of the segments of a trace. */
function partsOf({ seed, segments, rows, births, missing }: Shape) {
  const choose = generator(seed);
  const lacks = (): boolean => choose(100) < missing;
  let at = BUCKET_PS * BigInt(choose(5));
  const startPs = at;
  const made = Array.from({ length: segments }, () => {
    const parts: IndexPartBytes[] = [];
    const add = (kind: number, bytes: Uint8Array) => {
      if (lacks()) return;
      const isDamaged = missing > 0 && choose(60) === 0;
      parts.push({
        kind,
        subject: 0,
        bytes: isDamaged ? bytes.subarray(0, choose(bytes.length + 1)) : bytes,
      });
    };
    const time = timeOf(choose, at, 1 + choose(rows));
    at = time.toPs;
    add(IndexPart.TIME, time.bytes);
    add(IndexPart.ROWS, rowsOf(choose, choose(births)));
    const statics = new Map(
      Array.from({ length: choose(20) }, () => [BigInt(anyNumber(choose)), choose(5)] as const),
    );
    add(IndexPart.PCS, encodeStatics([...statics]));
    add(IndexPart.STRINGS, encodeStrings(new Set(Array.from({ length: choose(9) }, () => choose(5000)))));
    return lacks() ? null : parts;
  });
  return { made, input: { plan, startPs, endPs: at } };
}

function listsOf(maker: LevelMaker, made: readonly (IndexPartBytes[] | null)[]) {
  const births = made.map((parts) => maker.add(parts));
  const lists = maker.finish();
  // The compiled ones end with the end of the trace.
  for (const list of lists!.slice(0, plan.groups.length)) list.endAtTop();
  return { births, lists: lists!.map((list) => list.from(1)) };
}

/** A row begins where the one before it ends: readers add up the spans. */
function expectRowsFollowEachOther(lists: ReturnType<typeof listsOf>['lists']): void {
  for (const [level, pieces] of lists[group.index]!) {
    for (const { bytes, first, end } of pieces) {
      const part = decodeTimePart(bytes, group);
      expect({ level, first: part.firstBucket, buckets: part.spans.reduce((a, b) => a + b, 0) }).toEqual({
        level,
        first,
        buckets: end - first,
      });
    }
  }
}

function compare(shape: Shape) {
  const { made, input } = partsOf(shape);
  const plain = listsOf(new OracleLevels(input), made);
  expectRowsFollowEachOther(plain.lists);
  const compiled = listsOf(kernelLevels(input)!, made);
  expect(compiled).toEqual(plain);
  return plain;
}

describe('the compiled levels', () => {
  const shape = (missing: number): fc.Arbitrary<Shape> =>
    fc.record({
      seed: fc.integer(),
      segments: fc.integer({ min: 1, max: 40 }),
      rows: fc.integer({ min: 1, max: 60 }),
      births: fc.integer({ min: 1, max: 900 }),
      missing: fc.constant(missing),
    });

  it('are those of the oracle', () => {
    fc.assert(
      fc.property(shape(0), (one) => {
        compare(one);
      }),
      { numRuns: cases(3, 12) },
    );
  });

  it('are those of the oracle where parts are missing or damaged', () => {
    fc.assert(
      fc.property(shape(6), (one) => {
        compare(one);
      }),
      { numRuns: cases(3, 20) },
    );
  });

  it('are those of the oracle of many chunks', () => {
    const { lists } = compare({ seed: 5, segments: 40, rows: 120, births: 70_000, missing: 0 });
    const [time, rows, pcs, strings] = lists!.map((list) => list.map(([, pieces]) => pieces.length));
    expect(time![0]).toBeGreaterThan(2);
    expect(rows![0]).toBeGreaterThan(4);
    expect([pcs![0], strings![0]]).toEqual([3, 3]);
    // Where more groups wait for an end than may, the oldest has rows of which that is not known.
    const chunks = lists![1]![0]![1].map(({ bytes }) => decodeRowsChunk(bytes, stages));
    expect(chunks.some(({ unknown }) => unknown.some((count) => count > 0))).toBe(true);
  });

  it('of a schema with nothing to count in time are none', () => {
    const empty: LevelInput = {
      plan: indexPlan({ ...schemaWithBuffer(), clocks: [] }, dut),
      startPs: 0n,
      endPs: 5n,
    };
    const groups: readonly ClockGroup[] = empty.plan.groups;
    expect(groups).toEqual([]);
    expect(listsOf(kernelLevels(empty)!, [null, []])).toEqual(listsOf(new OracleLevels(empty), [null, []]));
  });
});
