import { describe, expect, test } from 'vitest';
import { countBits, decodeCheckpoint, encodeCheckpoint, maskSize } from './checkpoint.js';
import { FieldType, type Schema, SF_SPARSE } from './types.js';

const field = { name: 'v', type: FieldType.U16, enumId: 0, role: 0, pairId: 0 };
const storage = (storageId: number, flags: number) => ({
  name: `s${storageId}`,
  storageId,
  numSlots: 10,
  flags,
  scopeId: 0,
  fields: [field],
  properties: [],
});
const SCHEMA: Schema = {
  clocks: [],
  scopes: [],
  enums: [],
  storages: [storage(0, SF_SPARSE), storage(1, 0)],
  events: [],
  summaryFields: [],
};
const NONE = new Uint8Array(0);
const sparse = (mask: number[], slotBytes: number) => ({
  storageId: 0,
  mask: Uint8Array.from(mask),
  slotData: new Uint8Array(slotBytes).fill(5),
  propertyData: NONE,
});
const dense = { storageId: 1, mask: null, slotData: new Uint8Array(20), propertyData: NONE };
const coded = (code: string, offset?: number) =>
  expect.objectContaining(offset === undefined ? { code } : { code, place: { offset } });

describe('checkpoint', () => {
  test('blocks may be in any order', () => {
    const blocks = [dense, sparse([0x01, 0x02], 4)];
    expect(decodeCheckpoint(encodeCheckpoint(SCHEMA, blocks), SCHEMA)).toEqual(blocks);
  });

  test('a storage with two blocks is refused at the second', () => {
    const bytes = encodeCheckpoint(SCHEMA, [dense, dense]);
    expect(() => decodeCheckpoint(bytes, SCHEMA, 500)).toThrow(coded('FORMAT_VALUE', 528));
  });

  test('mask bits past the last slot are refused', () => {
    expect(() => encodeCheckpoint(SCHEMA, [sparse([0, 0x04], 2)])).toThrow(coded('FORMAT_VALUE'));
    const bytes = encodeCheckpoint(SCHEMA, [sparse([0, 0x02], 2)]);
    bytes[9] = 0x04;
    expect(() => decodeCheckpoint(bytes, SCHEMA)).toThrow(coded('FORMAT_VALUE', 8));
  });

  test('slot data must fit the mask', () => {
    expect(() => encodeCheckpoint(SCHEMA, [sparse([1, 0], 4)])).toThrow(coded('FORMAT_LENGTH'));
    const bytes = encodeCheckpoint(SCHEMA, [sparse([1, 0], 2)]);
    bytes[8] = 3;
    expect(() => decodeCheckpoint(bytes, SCHEMA)).toThrow(coded('FORMAT_LENGTH', 8));
  });

  test('a block must not be smaller than its mask or larger than the checkpoint', () => {
    expect(() => decodeCheckpoint(Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 0), SCHEMA)).toThrow(
      coded('FORMAT_LENGTH'),
    );
    const huge = Uint8Array.of(0, 0, 0, 0, 255, 255, 255, 255, 0);
    expect(() => decodeCheckpoint(huge, SCHEMA)).toThrow(coded('FORMAT_TRUNCATED'));
  });

  test('a sparse storage needs a mask, a dense one has none', () => {
    expect(() => encodeCheckpoint(SCHEMA, [{ ...dense, storageId: 0 }])).toThrow(coded('FORMAT_LENGTH'));
    expect(() => encodeCheckpoint(SCHEMA, [{ ...sparse([0, 0], 0), storageId: 1 }])).toThrow(
      coded('FORMAT_LENGTH'),
    );
  });

  test('mask helpers', () => {
    expect([maskSize(SCHEMA.storages[0]), maskSize(SCHEMA.storages[1])]).toEqual([2, 0]);
    expect(countBits(Uint8Array.of(0xff, 0x81, 0))).toBe(10);
  });
});
