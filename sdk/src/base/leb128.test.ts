import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteReader, ByteWriter } from './bytes.js';
import { lebSize, putLeb128, readLeb128, readLeb128Number, writeLeb128 } from './leb128.js';

const encode = (value: bigint | number): number[] => {
  const writer = new ByteWriter();
  writeLeb128(writer, value);
  return [...writer.finish()];
};
const decode = (bytes: number[]): bigint => readLeb128(new ByteReader(Uint8Array.from(bytes)));

describe('LEB128', () => {
  test.each([
    [0n, [0]],
    [127n, [0x7f]],
    [128n, [0x80, 0x01]],
    [200n, [0xc8, 0x01]],
    [16384n, [0x80, 0x80, 0x01]],
    [2n ** 63n, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
    [2n ** 64n - 1n, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]],
  ] as const)('%s', (value, bytes) => {
    expect(encode(value)).toEqual(bytes);
    expect(decode([...bytes])).toBe(value);
  });

  test('redundant zero groups are accepted, up to 10 bytes', () => {
    expect(decode([0x85, 0x80, 0x00])).toBe(5n);
    expect(decode([0x85, ...Array(8).fill(0x80), 0x00])).toBe(5n);
  });

  test('more than 64 bits or 10 bytes is FORMAT_VALUE, an open end FORMAT_TRUNCATED', () => {
    const value = expect.objectContaining({ code: 'FORMAT_VALUE', place: { offset: 0 } });
    expect(() => decode([...Array(9).fill(0xff), 0x02])).toThrow(value);
    expect(() => decode(Array(11).fill(0x80))).toThrow(value);
    expect(() => decode([0x80])).toThrow(expect.objectContaining({ code: 'FORMAT_TRUNCATED' }));
  });

  test('as numbers: exact up to 2^53 - 1, the nearest beyond, the same errors and places', () => {
    const some = fc.oneof(
      fc.bigInt({ min: 0n, max: (1n << 54n) - 1n }),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    );
    fc.assert(
      fc.property(some, (value) => {
        const reader = new ByteReader(Uint8Array.from(encode(value)));
        expect(readLeb128Number(reader)).toBe(Number(value));
        expect(reader.remaining).toBe(0);
        expect(lebSize(value)).toBe(reader.offset);
        if (value < 1n << 53n) {
          expect(encode(Number(value))).toEqual(encode(value));
          expect(lebSize(Number(value))).toBe(reader.offset);
        }
      }),
    );
    const number = (...bytes: number[]) => readLeb128Number(new ByteReader(Uint8Array.from(bytes)));
    expect(number(0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00)).toBe(5);
    expect(() => number(...Array(9).fill(0xff), 0x02)).toThrow(
      expect.objectContaining({ code: 'FORMAT_VALUE', place: { offset: 0 } }),
    );
    expect(() => number(0x80)).toThrow(expect.objectContaining({ code: 'FORMAT_TRUNCATED' }));
  });

  test('every 64-bit value survives, also through u32 halves', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(63), (wide, shift) => {
        const value = wide >> BigInt(shift);
        const bytes = encode(value);
        expect(decode(bytes)).toBe(value);
        const target = new Uint8Array(12);
        const end = putLeb128(target, 1, Number(value & 0xffff_ffffn), Number(value >> 32n));
        expect([...target.subarray(1, end)]).toEqual(bytes);
      }),
    );
  });
});
