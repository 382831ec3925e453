import { describe, expect, test } from 'vitest';
import { decodeSchemaPayload, encodeSchemaPayload } from './schema-chunk.js';
import { StringPool, StringPoolBuilder } from './string-pool.js';
import { type FieldDef, FieldType, NO_ID, type Schema, type StorageDef } from './types.js';

const BASE: Schema = {
  clocks: [{ name: 'clk', clockId: 0, periodPs: 1000 }],
  scopes: [{ name: '/', scopeId: 0, parentId: NO_ID, protocol: null, clockId: 0 }],
  enums: [],
  storages: [],
  events: [],
  summaryFields: [],
};

const field = (name: string, type: FieldType = FieldType.U8): FieldDef => ({
  name,
  type,
  enumId: 0,
  role: 0,
  pairId: 0,
});
const storage = (storageId: number, fields: FieldDef[], name = `s${storageId}`): StorageDef => ({
  name,
  storageId,
  numSlots: 1,
  flags: 0,
  scopeId: NO_ID,
  fields,
  properties: [],
});
const payload = (schema: Partial<Schema>) => encodeSchemaPayload({ ...BASE, ...schema }, []).schema;
const coded = (code: string) => expect.objectContaining({ code });
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('limits when writing', () => {
  test('the pool holds 65,535 bytes and not one more', () => {
    const longest = 'x'.repeat(65_535 - 'clk/'.length - 3);
    const fits = { ...BASE, storages: [storage(0, [], longest)] };
    expect(decodeSchemaPayload(encodeSchemaPayload(fits, []).schema, 3)).toEqual(fits);
    expect(() => payload({ storages: [storage(0, [], `${longest}x`)] })).toThrow(coded('SCHEMA_LIMIT'));
  });

  test('DUT properties share the pool and its limit', () => {
    expect(() => encodeSchemaPayload(BASE, [['key', 'v'.repeat(65_530)]])).toThrow(coded('SCHEMA_LIMIT'));
  });

  test('definitions past 65,535 bytes are refused: the pool after them could not be named', () => {
    const fields = range(200).map((index) => field(`f${index}`));
    const storages = (count: number) => range(count).map((id) => storage(id, fields));
    expect(decodeSchemaPayload(payload({ storages: storages(40) }), 3).storages.length).toBe(40);
    expect(() => payload({ storages: storages(41) })).toThrow(coded('SCHEMA_LIMIT'));
  });

  test.each([
    ['enums', { enums: range(256).map((id) => ({ name: `e${id}`, values: [] })) }],
    [
      'enum values',
      { enums: [{ name: 'e', values: range(256).map((value) => ({ value, name: `v${value}` })) }] },
    ],
    ['clocks', { clocks: range(256).map((clockId) => ({ name: `c${clockId}`, clockId, periodPs: 1 })) }],
    ['slots', { storages: [{ ...storage(0, []), numSlots: 65_536 }] }],
  ])('too many %s', (_, schema) => {
    expect(() => payload(schema)).toThrow(coded('SCHEMA_LIMIT'));
  });

  test('a NUL in a name is refused', () => {
    expect(() => payload({ storages: [storage(0, [], 'a\0b')] })).toThrow(coded('SCHEMA_NAME'));
  });
});

describe('references when reading', () => {
  test.each([
    ['an id that is not the index', { storages: [{ ...storage(0, []), storageId: 1 }] }, 'FORMAT_ID'],
    ['a clock id that is not the index', { clocks: [{ name: 'clk', clockId: 3, periodPs: 1 }] }, 'FORMAT_ID'],
    ['a storage in no scope', { storages: [{ ...storage(0, []), scopeId: 1 }] }, 'FORMAT_ID'],
    [
      'a summary field in no scope',
      { summaryFields: [{ name: 'n', type: FieldType.U8, scopeId: 9 }] },
      'FORMAT_ID',
    ],
    ['a scope with an undefined clock', { scopes: [{ ...BASE.scopes[0], clockId: 1 }] }, 'FORMAT_ID'],
    ['a scope in no scope', { scopes: [{ ...BASE.scopes[0], parentId: 1 }] }, 'FORMAT_ID'],
    ['a scope in itself', { scopes: [{ ...BASE.scopes[0], parentId: 0 }] }, 'FORMAT_VALUE'],
    ['an undefined enum', { storages: [storage(0, [field('f', FieldType.ENUM)])] }, 'FORMAT_ID'],
  ])('%s is refused', (_, schema, code) => {
    const bytes = payload(schema);
    expect(() => decodeSchemaPayload(bytes, 3)).toThrow(coded(code));
  });

  test('long chains of scopes take linear time', () => {
    const scopes = range(5000).map((scopeId) => ({
      ...BASE.scopes[0],
      scopeId,
      parentId: scopeId === 0 ? NO_ID : scopeId - 1,
    }));
    expect(decodeSchemaPayload(payload({ scopes }), 3).scopes).toEqual(scopes);
  });

  test('reserved bytes of slot fields are ignored, those of properties are role and pair', () => {
    const pointer = { ...field('p', FieldType.U16), role: 1, pairId: 7 };
    const bytes = payload({ storages: [{ ...storage(0, [pointer]), properties: [pointer] }] });
    const [decoded] = decodeSchemaPayload(bytes, 3).storages;
    expect(decoded.fields[0]).toMatchObject({ role: 0, pairId: 0 });
    expect(decoded.properties[0]).toMatchObject({ role: 1, pairId: 7 });
  });
});

describe('string pool', () => {
  test('a text is stored once', () => {
    const pool = new StringPoolBuilder();
    expect([pool.add('ab'), pool.add('c'), pool.add('ab'), pool.add('')]).toEqual([0, 3, 0, 5]);
    expect([...pool.finish()]).toEqual([97, 98, 0, 99, 0, 0]);
  });

  test('an offset may point into a text', () => {
    expect(new StringPool(Uint8Array.of(97, 98, 0)).get(1)).toBe('b');
  });

  test('overlapping texts that would fill the memory are refused', () => {
    const bytes = new Uint8Array(65_536).fill(97);
    bytes[65_535] = 0;
    const pool = new StringPool(bytes);
    expect(() => {
      for (let offset = 0; offset < 65_535; offset++) pool.get(offset);
    }).toThrow(coded('FORMAT_STRING_POOL'));
  });
});
