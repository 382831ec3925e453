import { describe, expect, test } from 'vitest';
import { crc32 } from '../base/crc32.js';
import {
  COMMIT_HEADER_SIZE,
  commitRecordSize,
  decodeCommitRecord,
  encodeCommitRecord,
  verifyCommitRecord,
} from './commit-record.js';

const SEGMENT = Uint8Array.from({ length: 97 }, (_, index) => index * 7);
const PARTS = {
  segmentOffset: 328n,
  segmentSize: SEGMENT.length,
  nextFrame: 2n ** 40n,
  nextString: 12n,
  strings: [Uint8Array.of(97), new Uint8Array(0), new Uint8Array(20).fill(98)],
};
const record = () => encodeCommitRecord(PARTS, crc32(SEGMENT));

describe('commit record', () => {
  test('is padded to 8 bytes and decodes, whatever follows it', () => {
    const bytes = record();
    expect(bytes.length % 8).toBe(0);
    const decoded = decodeCommitRecord(Uint8Array.of(...bytes, 1, 2, 3));
    expect(decoded).toMatchObject({ ...PARTS, size: bytes.length });
    expect(verifyCommitRecord(SEGMENT, bytes)).toBe(true);
    expect(verifyCommitRecord(crc32(SEGMENT), Uint8Array.of(...bytes, 1, 2, 3))).toBe(true);
  });

  test('names the storages whose checkpoint the client supplied, after the strings', () => {
    const bytes = encodeCommitRecord({ ...PARTS, snapshots: [3, 65_535, 0] }, crc32(SEGMENT));
    expect(bytes.length).toBe(record().length + 16);
    expect(decodeCommitRecord(bytes)).toMatchObject({ ...PARTS, snapshots: [3, 65_535, 0] });
    expect(verifyCommitRecord(SEGMENT, bytes)).toBe(true);
    expect(decodeCommitRecord(record())).not.toHaveProperty('snapshots');
    new DataView(bytes.buffer).setUint32(record().length, 7, true);
    expect(() => decodeCommitRecord(bytes)).toThrow(expect.objectContaining({ code: 'FORMAT_LENGTH' }));
  });

  test('any flipped bit of record or segment is detected', () => {
    const bytes = record();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] ^= 1 << (bit & 7);
      expect(verifyCommitRecord(SEGMENT, flipped), `bit ${bit}`).toBe(false);
    }
    const torn = SEGMENT.slice();
    torn[96] ^= 1;
    expect(verifyCommitRecord(torn, bytes)).toBe(false);
  });

  test('takes the CRC function given, as Node has a native one', () => {
    let calls = 0;
    const counting = (bytes: Uint8Array, seed: number) => {
      calls++;
      return crc32(bytes, seed);
    };
    expect(encodeCommitRecord(PARTS, crc32(SEGMENT), counting)).toEqual(record());
    expect(verifyCommitRecord(SEGMENT, record(), counting)).toBe(true);
    expect(calls).toBeGreaterThan(1);
  });

  test('cut at any byte: FORMAT_TRUNCATED, and never verified', () => {
    const bytes = record();
    for (let size = 0; size < bytes.length; size++) {
      const cut = bytes.subarray(0, size);
      expect(() => decodeCommitRecord(cut, 500)).toThrow(
        expect.objectContaining({ code: 'FORMAT_TRUNCATED' }),
      );
      expect(verifyCommitRecord(SEGMENT, cut)).toBe(false);
    }
  });

  test.each([
    ['a magic', 0, 0, 'FORMAT_MAGIC'],
    ['a size below the header', 4, 40, 'FORMAT_LENGTH'],
    ['a size that is not a multiple of 8', 4, 81, 'FORMAT_LENGTH'],
    ['more strings than were ever numbered', 12, 13, 'FORMAT_VALUE'],
    ['more strings than fit', 12, 12, 'FORMAT_LENGTH'],
    ['a string longer than the record', 48, 200, 'FORMAT_TRUNCATED'],
  ])('%s out of line is refused', (_, at, value, code) => {
    const bytes = record();
    bytes[at] = value;
    expect(() => decodeCommitRecord(bytes)).toThrow(expect.objectContaining({ code }));
  });

  test('commitRecordSize says whether a record starts here', () => {
    expect(commitRecordSize(record())).toBe(record().length);
    expect(commitRecordSize(new Uint8Array(COMMIT_HEADER_SIZE))).toBe(0);
    expect(commitRecordSize(record().subarray(0, 20))).toBe(0);
  });
});
