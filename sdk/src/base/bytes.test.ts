import { describe, expect, test } from 'vitest';
import { align8, ByteReader, ByteWriter, toU64 } from './bytes.js';
import { UscopeError } from './errors.js';

const coded = (code: string, offset?: number) =>
  expect.objectContaining(offset === undefined ? { code } : { code, place: { offset } });

describe('ByteReader', () => {
  const bytes = Uint8Array.of(0xaa, 1, 2, 3, 4, 5, 6, 7, 0x88, 9);

  test('reads little-endian values one after the other', () => {
    const reader = new ByteReader(bytes);
    expect(reader.u8()).toBe(0xaa);
    expect(reader.u16()).toBe(0x0201);
    reader.offset = 1;
    expect(reader.u32()).toBe(0x04030201);
    reader.offset = 1;
    expect(reader.u64()).toBe(0x8807060504030201n);
    expect(reader.remaining).toBe(1);
    expect(reader.bytes(1)).toEqual(Uint8Array.of(9));
  });

  test('an u32 with its top bit set is positive', () => {
    expect(new ByteReader(Uint8Array.of(255, 255, 255, 255)).u32()).toBe(0xffff_ffff);
  });

  test('works on a view that does not start at its buffer', () => {
    expect(new ByteReader(bytes.subarray(3)).u16()).toBe(0x0403);
  });

  test('reading past the end is FORMAT_TRUNCATED at the file offset, and nothing is consumed', () => {
    const reader = new ByteReader(bytes, 2, 5, 1000);
    expect(() => reader.u32()).toThrow(coded('FORMAT_TRUNCATED', 1002));
    expect(() => reader.bytes(4)).toThrow(coded('FORMAT_TRUNCATED', 1002));
    expect(() => reader.skip(4)).toThrow(coded('FORMAT_TRUNCATED', 1002));
    expect(reader.remaining).toBe(3);
  });
});

describe('ByteWriter', () => {
  test('grows, aligns with zeros, patches', () => {
    const writer = new ByteWriter(1)
      .u8(1)
      .u16(0x0302)
      .align(8)
      .u32(0xffff_ffff)
      .u64(-1n + 2n ** 64n);
    writer.patchU16(8, 0x1234);
    writer.bytes(new Uint8Array(100).fill(7)).align(8);
    const bytes = writer.finish();
    expect(bytes.length).toBe(120);
    expect([...bytes.subarray(0, 12)]).toEqual([1, 2, 3, 0, 0, 0, 0, 0, 0x34, 0x12, 255, 255]);
    expect(bytes[119]).toBe(7);
  });

  test.each([
    ['u8', 256],
    ['u16', -1],
    ['u32', 2 ** 32],
    ['u32', 1.5],
    ['u64', 2n ** 64n],
    ['u64', -1],
    ['u64', 2 ** 60],
  ] as const)('%s refuses %s instead of wrapping it', (method, value) => {
    const write = new ByteWriter()[method] as (value: number | bigint) => void;
    expect(() => write.call(new ByteWriter(), value)).toThrow(coded('FORMAT_VALUE'));
  });
});

test('toU64 takes integers of either kind', () => {
  expect(toU64(5)).toBe(5n);
  expect(toU64(2n ** 64n - 1n)).toBe(0xffff_ffff_ffff_ffffn);
  expect(() => toU64(0.5)).toThrow(UscopeError);
});

test('align8 rounds up', () => {
  expect([0, 1, 7, 8, 9].map(align8)).toEqual([0, 8, 8, 8, 16]);
});
