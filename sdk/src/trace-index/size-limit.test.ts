import { describe, expect, it } from 'vitest';
import { decodeIndexContainer, encodeIndexContainer, IndexPart } from '../format/index-container.js';
import { decodeDropped } from './dropped.js';
import { fitContainer } from './size-limit.js';

const part = (kind: number, size: number, subject = 0) => ({
  kind,
  subject,
  bytes: new Uint8Array(size).fill(kind),
});
const container = (...parts: ReturnType<typeof part>[]) =>
  encodeIndexContainer({ segmentOffset: 0n, planCrc: 7, parts });
const kinds = (bytes: Uint8Array | null) => decodeIndexContainer(bytes!)!.parts.map(({ kind }) => kind);
const dropped = (bytes: Uint8Array | null) =>
  decodeDropped(decodeIndexContainer(bytes!)!.parts.find(({ kind }) => kind === IndexPart.DROPPED)!.bytes);

describe('a container', () => {
  const { TIME, OCCUPANCY, CARRY, ROWS, DROPPED } = IndexPart;

  it('stays as it is within 3 % of its segment, and 5 % of a small one', () => {
    const bytes = container(part(TIME, 2900), part(CARRY, 20));
    expect(fitContainer(bytes, 100_000)).toBe(bytes);
    expect(kinds(fitContainer(bytes, 90_000))).not.toContain(TIME);
    const small = container(part(TIME, 2400), part(CARRY, 20));
    expect(fitContainer(small, 50_000)).toBe(small);
  });

  it('loses its finest parts first, and says which', () => {
    const bytes = container(part(TIME, 300), part(ROWS, 4000, 1), part(OCCUPANCY, 500), part(CARRY, 20));
    const withoutRows = fitContainer(bytes, 60_000);
    expect(kinds(withoutRows)).toEqual([DROPPED, TIME, OCCUPANCY, CARRY]);
    expect(dropped(withoutRows)).toEqual([{ kind: ROWS, subject: 1 }]);
    const least = fitContainer(bytes, 1000);
    expect(kinds(least)).toEqual([DROPPED, CARRY]);
    expect(dropped(least).map(({ kind }) => kind)).toEqual([ROWS, TIME, OCCUPANCY]);
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
