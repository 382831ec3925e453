import { describe, expect, it } from 'vitest';
import { dut, schemaWithBuffer } from '../../../../test/support/recorded-run.js';
import { decodeIndexContainer, encodeIndexContainer, IndexPart } from '../../format/index-container.js';
import { decodeDropped } from '../dropped.js';
import { indexPlan } from '../plan.js';
import { decodeRowsPart, encodeRowsPart, OWN_COLUMNS } from '../rows/rows-part.js';
import { decodeTimePart, encodeTimePart } from '../time-part.js';
import { fitContainer as fit } from './size-limit.js';

const plan = indexPlan(schemaWithBuffer(), dut);
const fitContainer = (bytes: Uint8Array, segmentBytes: number) => fit(plan, bytes, segmentBytes);

const part = (kind: number, size: number, subject = 0) => ({
  kind,
  subject,
  bytes: new Uint8Array(size).fill(kind) as Uint8Array,
});
const container = (...parts: ReturnType<typeof part>[]) =>
  encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts });
const kinds = (bytes: Uint8Array | null) => decodeIndexContainer(bytes!)!.parts.map(({ kind }) => kind);
const dropped = (bytes: Uint8Array | null) =>
  decodeDropped(decodeIndexContainer(bytes!)!.parts.find(({ kind }) => kind === IndexPart.DROPPED)!.bytes);

describe('a container', () => {
  const { TIME, OCCUPANCY, CARRY, ROWS, DROPPED } = IndexPart;

  it('stays as it is within 3 % of its segment, and 4.7 % of a small one', () => {
    // Of a core that the plan does not have: its rows cannot be coarser.
    const bytes = container(part(ROWS, 2900, 1), part(CARRY, 20));
    expect(fitContainer(bytes, 100_000)).toBe(bytes);
    expect(kinds(fitContainer(bytes, 90_000))).not.toContain(ROWS);
    const small = container(part(ROWS, 2150, 1), part(CARRY, 20));
    expect(fitContainer(small, 50_000)).toBe(small);
  });

  it('loses its finest parts first, and says which', () => {
    const bytes = container(part(TIME, 300), part(ROWS, 4000, 1), part(OCCUPANCY, 500), part(CARRY, 20));
    const withoutRows = fitContainer(bytes, 60_000);
    expect(kinds(withoutRows)).toEqual([DROPPED, TIME, OCCUPANCY, CARRY]);
    expect(dropped(withoutRows)).toEqual([{ kind: ROWS, subject: 1 }]);
    const least = fitContainer(bytes, 1000);
    expect(kinds(least)).toEqual([DROPPED, TIME, CARRY]);
    expect(dropped(least).map(({ kind }) => kind)).toEqual([ROWS, OCCUPANCY]);
  });

  it('has coarser groups of rows before it has none, and coarser buckets of time before that', () => {
    const stages = plan.cores[0]!.rows!.stages;
    const births = 64 * 100;
    const table = (columns: number) =>
      Array.from({ length: columns }, (_, column) =>
        Array.from(
          { length: 100 },
          (_, row) => ((row * 7919 + column * 31) % 251) + (column === 0 ? row * 300 : 0),
        ),
      );
    const fine = encodeRowsPart({ isExact: true, births, own: table(OWN_COLUMNS + 2 * stages), late: [] });
    const bytes = container({ kind: ROWS, subject: 0, bytes: fine }, part(CARRY, 20));
    const rowsAt = (segmentBytes: number) => {
      const fitted = fitContainer(bytes, segmentBytes);
      const found = decodeIndexContainer(fitted!)!.parts.find(({ kind }) => kind === ROWS);
      return found && decodeRowsPart(found.bytes, stages).groups;
    };
    const retired = decodeRowsPart(fine, stages).groups.retired.reduce((a, b) => a + b, 0);
    for (const [segmentBytes, groups] of [
      [60_000, 100],
      [25_000, 25],
      [8_000, 7],
      [4_000, 2],
    ] as const) {
      const found = rowsAt(segmentBytes)!;
      expect([segmentBytes, found.length]).toEqual([segmentBytes, groups]);
      expect(found.rows.reduce((a, b) => a + b, 0)).toBe(births);
      expect(found.retired.reduce((a, b) => a + b, 0)).toBe(retired);
    }
    const crowded = container({ kind: ROWS, subject: 0, bytes: fine }, part(CARRY, 110));
    expect(kinds(fitContainer(crowded, 1000))).toEqual([DROPPED, CARRY]);
  });

  it('has coarser buckets of time before it has none', () => {
    const group = plan.groups[0]!;
    const rows = 384;
    const columns = Array.from({ length: group.columns }, (_, column) =>
      Array.from({ length: rows }, (_, row) => (column < 2 ? 200 + ((row * 7919) % 1000) : 0)),
    );
    const [fromPs, unitPs] = [BigInt(group.periodPs * 300), group.periodPs];
    const toPs = BigInt(group.periodPs * (256 * (rows + 1) - 1));
    const spans = columns[0]!.map(() => 1n);
    const fine = encodeTimePart({ fromPs, toPs, isExact: true, unitPs, spans, columns });
    const fitted = fitContainer(container({ kind: TIME, subject: 0, bytes: fine }), 3000)!;
    const { bytes } = decodeIndexContainer(fitted)!.parts.find(({ kind }) => kind === TIME)!;
    const [had, has] = [decodeTimePart(fine, group), decodeTimePart(bytes, group)];
    expect(fine.length).toBeGreaterThan(900);
    expect([has.bucketCycles, has.fromPs, has.toPs, has.rows]).toEqual([1024, fromPs, toPs, 97]);
    const sum = (column: Float64Array) => column.reduce((a, b) => a + b, 0);
    expect(has.columns.map(sum)).toEqual(had.columns.map(sum));
    // Of a group that does not exist.
    expect(kinds(fitContainer(container(part(TIME, 700, 9), part(CARRY, 20)), 3000))).toEqual([
      DROPPED,
      CARRY,
    ]);
  });

  it('goes on saying what it lacked before', () => {
    const before = { kind: DROPPED, subject: 0, bytes: Uint8Array.of(TIME, 2) };
    const bytes = container(part(OCCUPANCY, 4000), before, part(CARRY, 20));
    expect(dropped(fitContainer(bytes, 1000))).toEqual([
      { kind: TIME, subject: 2 },
      { kind: OCCUPANCY, subject: 0 },
    ]);
  });

  it('is not stored where its carry alone is too large', () => {
    expect(fitContainer(container(part(TIME, 100), part(CARRY, 4000)), 1000)).toBeNull();
  });
});
