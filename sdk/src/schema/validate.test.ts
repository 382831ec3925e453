import { describe, expect, it } from 'vitest';
import { encodeSchemaPayload } from '../format/schema-chunk.js';
import type { Schema } from '../format/types.js';
import { parseSchema, SchemaBuilder, validateSchema } from './index.js';
import { definitionBytes, MAX_DEFINITION_BYTES, MAX_POOL_BYTES, poolBytes, utf8Length } from './limits.js';

const make = (): SchemaBuilder => new SchemaBuilder().clock('clk', '1 ns');
const fields = (count: number, type: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, type]));

describe('the builder', () => {
  it('defines what the same text defines', () => {
    const builder = make()
      .dut('dut_name', 'demo')
      .dut('cores', 1)
      .enum('stage', ['fetch', 'execute'])
      .enum('why', { other: 3 });
    builder.counter('beats').event('reset').summary('busy', 'u32');
    const core = builder.scope('core0', { protocol: 'cpu', clock: 'clk' });
    core.scope('lsu').counter('stores');
    core.storage('rob', {
      slots: 4,
      kind: 'buffer',
      fields: { entity_id: 'u32', stage: 'stage' },
      properties: { head_ptr: { type: 'u16', role: 'head', pair: 2 }, mode: 'why' },
    });
    const text = `
uscope: 1
clocks: {clk: 1 ns}
dut: {dut_name: demo, cores: 1}
enums: {stage: [fetch, execute], why: {other: 3}}
storages: {beats: counter}
events: {reset: {}}
summary: {busy: u32}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      rob:
        slots: 4
        kind: buffer
        fields: {entity_id: u32, stage: stage}
        properties: {head_ptr: {type: u16, role: head, pair: 2}, mode: why}
    scopes: {lsu: {storages: {stores: counter}}}
`;
    expect(builder.build()).toEqual(parseSchema(text));
  });

  it.each<[string, () => unknown, string]>([
    [
      'an unknown type',
      () => make().event('e', { a: 'uint16_t' }).build(),
      'SCHEMA_TYPE: "a" of event "e" has the unknown type "uint16_t". Did you mean "u16"?',
    ],
    [
      'an unknown clock',
      () =>
        make().scope('a', { clock: 'ckl' }) && new SchemaBuilder({ clock: 'ckl' }).clock('clk', 1).build(),
      'SCHEMA_CLOCK: the root scope names the unknown clock "ckl". Did you mean "clk"?',
    ],
    [
      'a bad period',
      () => new SchemaBuilder().clock('clk', '3 GHz'),
      'SCHEMA_RANGE: clock "clk": "3 GHz" is not a whole number of ps',
    ],
    [
      'a fraction as period',
      () => new SchemaBuilder().clock('clk', 0.5).build(),
      'SCHEMA_RANGE: the period of clock "clk" in ps is 0.5; it must be 0 to 4294967295',
    ],
    ['no clock', () => new SchemaBuilder().build(), 'SCHEMA_CLOCK: no clock is defined'],
    [
      'a name twice',
      () => make().counter('a').counter('a').build(),
      'SCHEMA_DUPLICATE: the root scope has two storages called "a"',
    ],
    ['a clock twice', () => make().clock('clk', 1).build(), 'SCHEMA_DUPLICATE: clock "clk" is defined twice'],
    [
      'NaN slots',
      () =>
        make()
          .storage('a', { slots: Number.NaN, kind: 'dense', fields: { a: 'u8' } })
          .build(),
      'SCHEMA_RANGE: the number of slots of storage "a" is NaN',
    ],
    [
      'a DUT property twice',
      () => make().dut('a', 1).dut('a', 2).build(),
      'SCHEMA_DUPLICATE: the DUT property "a" is defined twice',
    ],
    [
      'an unknown kind',
      () =>
        make()
          .storage('a', { slots: 1, kind: 'x' as never, fields: { a: 'u8' } })
          .build(),
      'SCHEMA_TYPE: the kind of storage "a" is "x"',
    ],
  ])('refuses %s', (_what, build, message) => expect(build).toThrow(message));
});

describe('limits', () => {
  it('an event payload of 65,520 bytes fits, one more field does not', () => {
    // Its definition alone then exceeds the schema chunk, which is reported as well.
    const limit = (count: number) => () => make().event('huge', fields(count, 'u64')).build();
    expect(limit(8190)).toThrow(/the definitions take/);
    expect(limit(8190)).not.toThrow(/payload/);
    expect(limit(8191)).toThrow(/the payload of event "huge" takes 65528 bytes .* at most 65520 are allowed/);
  });

  it('a slot of 65,520 bytes fits, one more field does not', () => {
    const limit = (count: number) => () =>
      make()
        .storage('s', { slots: 1, kind: 'dense', fields: fields(count, 'u64') })
        .build();
    expect(limit(8191)).toThrow(/a slot of storage "s" takes 65528 bytes/);
  });

  it('the sizes checked are those the encoder produces', () => {
    const { schema, dut } = make()
      .dut('a', 'x')
      .dut('key', 'ä😀')
      .enum('e', ['a', 'b'])
      .event('e', { a: 'e', e: 'u8' })
      .counter('a')
      .summary('s', 'u8')
      .build();
    const payload = encodeSchemaPayload(schema, dut).schema;
    expect(payload[10]! + payload[11]! * 256).toBe(definitionBytes(schema));
    expect(payload.length).toBe(definitionBytes(schema) + poolBytes(schema, dut));
  });

  it('a full string pool is accepted exactly where the encoder accepts it', () => {
    const withValue = (length: number): SchemaBuilder => make().dut('key', 'x'.repeat(length));
    const used = poolBytes(withValue(1).build().schema, [['key', 'x']]);
    const room = MAX_POOL_BYTES - used + 1;
    const { schema, dut } = withValue(room).build();
    expect(poolBytes(schema, dut)).toBe(MAX_POOL_BYTES);
    expect(() => encodeSchemaPayload(schema, dut)).not.toThrow();
    expect(() => withValue(room + 1).build()).toThrow('1 more than fit');
    expect(() => encodeSchemaPayload(schema, [['key', 'x'.repeat(room + 1)]])).toThrow('SCHEMA_LIMIT');
  });

  it('definitions are accepted exactly where the encoder accepts them', () => {
    const made = (count: number): SchemaBuilder => make().event('e', fields(count, 'u8'));
    const spare = (MAX_DEFINITION_BYTES - definitionBytes(made(0).build().schema)) >> 3;
    const { schema, dut } = made(spare).build();
    expect(() => encodeSchemaPayload(schema, dut)).not.toThrow();
    expect(() => made(spare + 1).build()).toThrow('SCHEMA_LIMIT: the definitions take');
  });

  it.each(['', 'abc', 'äöü', '€', '😀', '\ud800', 'a\udc00b', '\ud800\ud800'])(
    'UTF-8 length of %j',
    (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    },
  );
});

describe('a schema made by hand', () => {
  const good: Schema = make().counter('a').event('e').build().schema;
  const root = good.scopes[0]!;

  it.each<[string, Schema, string]>([
    [
      'an id out of order',
      { ...good, storages: [{ ...good.storages[0]!, storageId: 1 }] },
      'storage "a" has the id 1 but is at place 0',
    ],
    [
      'a scope that is not there',
      { ...good, events: [{ ...good.events[0]!, scopeId: 5 }] },
      'event "e" has the scope 5, but there are 1',
    ],
    [
      'a clock that is not there',
      { ...good, scopes: [{ ...root, clockId: 3 }] },
      'the root scope has the clock 3, but there are 1',
    ],
    ['no root', { ...good, scopes: [] }, 'there is no root scope'],
    [
      'a root with a parent',
      { ...good, scopes: [{ ...root, parentId: 0 }] },
      'the root scope has the parent 0',
    ],
    [
      'a scope before its parent',
      {
        ...good,
        scopes: [
          root,
          { ...root, name: 'a', scopeId: 1, parentId: 2 },
          { ...root, name: 'b', scopeId: 2, parentId: 0 },
        ],
      },
      'has the parent 2',
    ],
    [
      'unknown flags',
      { ...good, storages: [{ ...good.storages[0]!, flags: 4 }] },
      'storage "a" has the unknown flags 0x4',
    ],
    [
      'an unknown type',
      { ...good, summaryFields: [{ name: 's', type: 12 as never, scopeId: 0 }] },
      'summary field "s" must be a number or bool',
    ],
    [
      'a storage of root level twice, written differently',
      { ...good, storages: [good.storages[0]!, { ...good.storages[0]!, storageId: 1, scopeId: 0 }] },
      'two storages called "a"',
    ],
  ])('is refused: %s', (_what, schema, message) => expect(() => validateSchema(schema)).toThrow(message));

  it('may call its root "/"', () => {
    expect(() => validateSchema({ ...good, scopes: [{ ...root, name: '/' }] })).not.toThrow();
  });
});
