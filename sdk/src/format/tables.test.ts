import { describe, expect, test } from 'vitest';
import { encodeStringTable, StringTable } from '../../../test/support/format-tables.js';
import { decodeSectionTable, encodeSectionTable, SectionType } from './section-table.js';
import { decodeSegmentHeader, encodeSegmentHeader, SEGMENT_HEADER_SIZE } from './segment.js';
import { encodeStringTableHeader, putStringEntry } from './string-table.js';

const coded = (code: string, offset?: number) =>
  expect.objectContaining(offset === undefined ? { code } : { code, place: { offset } });

describe('string table', () => {
  const table = encodeStringTable(['nop', '', 'µs']);

  test('strings by index; outside is FORMAT_ID', () => {
    const strings = new StringTable(table);
    expect([0, 1, 2].map((index) => strings.get(index))).toEqual(['nop', '', 'µs']);
    for (const index of [3, -1, 0.5, 0xffff_ffff])
      expect(() => strings.get(index)).toThrow(coded('FORMAT_ID'));
  });

  test('the pieces a streaming writer puts down make the same table', () => {
    const entries = new Uint8Array(24);
    putStringEntry(entries, 0, 0, 3);
    putStringEntry(entries, 8, 4, 0);
    putStringEntry(entries, 16, 5, 3);
    const data = new TextEncoder().encode('nop\0\0µs\0');
    expect(Uint8Array.of(...encodeStringTableHeader(3), ...entries, ...data)).toEqual(table);
  });

  test('one bad entry does not hinder the others, and is named at its place', () => {
    const broken = table.slice();
    broken[8 + 4] = 200; // length of string 0
    broken[table.length - 2] = 0xff; // last byte of string 2
    const strings = new StringTable(broken, 1000);
    expect(() => strings.get(0)).toThrow(coded('FORMAT_LENGTH', 1008));
    expect(strings.get(1)).toBe('');
    expect(() => strings.get(2)).toThrow(coded('FORMAT_UTF8', 1000 + table.length - 4));
  });
});

describe('section table', () => {
  test('with the file size, a section past the end is refused', () => {
    const bytes = encodeSectionTable([{ type: SectionType.STRINGS, flags: 0, offset: 100n, size: 50n }]);
    expect(decodeSectionTable(bytes, 0, 150).length).toBe(1);
    expect(() => decodeSectionTable(bytes, 900, 149n)).toThrow(coded('FORMAT_LENGTH', 900));
    const beyond = encodeSectionTable([{ type: 3, flags: 0, offset: 2n ** 64n - 1n, size: 2n }]);
    expect(() => decodeSectionTable(beyond, 0, 1000)).toThrow(coded('FORMAT_LENGTH'));
  });

  test('ends with 24 zero bytes', () => {
    expect(encodeSectionTable([])).toEqual(new Uint8Array(24));
  });
});

describe('segment header', () => {
  const header = {
    flags: 0,
    timeStartPs: 10n,
    timeEndPs: 10n,
    prevSegmentOffset: 0n,
    checkpointSize: 0xffff_ffff,
    deltasCompressedSize: 1,
    deltasRawSize: 2,
    numFrames: 3,
    numFramesActive: 3,
  };

  test('has 56 bytes; an empty time range is legal', () => {
    const bytes = encodeSegmentHeader(header);
    expect(bytes.length).toBe(SEGMENT_HEADER_SIZE);
    expect(decodeSegmentHeader(bytes)).toEqual(header);
  });

  test('errors carry the file offset', () => {
    expect(() => decodeSegmentHeader(new Uint8Array(56), 5000)).toThrow(coded('FORMAT_MAGIC', 5000));
    expect(() => decodeSegmentHeader(encodeSegmentHeader(header).subarray(0, 55), 5000)).toThrow(
      coded('FORMAT_TRUNCATED', 5000),
    );
    const backwards = encodeSegmentHeader({ ...header, timeEndPs: 9n });
    expect(() => decodeSegmentHeader(backwards, 5000)).toThrow(coded('FORMAT_VALUE', 5016));
  });
});
