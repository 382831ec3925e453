import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases } from '../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../test/support/limits.js';
import { decodeSchemaPayload, encodeSchemaPayload } from '../format/schema-chunk.js';
import { type DutProperties, type EnumDef, FieldType, type Schema } from '../format/types.js';
import {
  canonicalSchema,
  type Fields,
  parseSchema,
  parseUnboundSchema,
  SchemaBuilder,
  type ScopeBuilder,
  type StorageKind,
  schemaToText,
  validateSchema,
} from './index.js';

const AWKWARD = [
  'null',
  'true',
  'no',
  'y',
  'NaN',
  '__proto__',
  'constructor',
  'counter',
  'root',
  'a.b-c',
  '_',
  'e1',
];
const name = fc
  .oneof(fc.constantFrom(...AWKWARD), fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,9}$/))
  .filter(notBuiltin);
const names = (max: number) => fc.uniqueArray(name, { maxLength: max });
const dutText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    ' ',
    '1.10',
    'null',
    '~',
    '0x1',
    '${x}',
    '$${x}',
    'a: b',
    '# no',
    '"',
    "'",
    '|',
    'tab\t',
    'x\n\ny\n',
    '\u2028',
  ),
);
const dutValue = dutText.filter((text) => !/\0|\p{Surrogate}/u.test(text));

interface ScopeShape {
  readonly protocol: string | undefined;
  readonly clock: number;
  readonly storages: readonly (readonly [
    string,
    number,
    StorageKind,
    readonly string[],
    readonly string[],
  ])[];
  readonly events: readonly (readonly [string, readonly string[]])[];
  readonly summary: readonly string[];
  readonly children: readonly (readonly [string, ScopeShape])[];
}

const member = fc.tuple(name, names(4));
const storage = fc.tuple(
  name,
  fc.integer({ min: 1, max: 65_535 }),
  fc.constantFrom<StorageKind>('sparse', 'dense', 'buffer', 'dense_buffer'),
  fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
  names(3),
);

/** Scopes with at most `depth` levels of scopes below them. */
function scopeArbitrary(depth: number): fc.Arbitrary<ScopeShape> {
  const children =
    depth === 0
      ? fc.constant([])
      : fc.uniqueArray(fc.tuple(name, scopeArbitrary(depth - 1)), { maxLength: 2, selector: ([key]) => key });
  return fc.record({
    protocol: fc.option(fc.constantFrom('noc', 'vendor.x'), { nil: undefined }),
    clock: fc.nat(3),
    storages: fc.uniqueArray(storage, { maxLength: 3, selector: ([key]) => key }),
    events: fc.uniqueArray(member, { maxLength: 3, selector: ([key]) => key }),
    summary: names(2),
    children,
  });
}

const shape = fc.record({
  dut: fc.uniqueArray(fc.tuple(name, dutValue), { maxLength: 4, selector: ([key]) => key }),
  clocks: fc.uniqueArray(fc.tuple(name, fc.nat(0xffff_ffff)), {
    minLength: 1,
    maxLength: 3,
    selector: ([key]) => key,
  }),
  enums: fc.uniqueArray(fc.tuple(name, fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), fc.boolean()), {
    maxLength: 3,
    selector: ([key]) => key,
  }),
  root: scopeArbitrary(2),
  types: fc.infiniteStream(fc.nat(1000)),
});

type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function notBuiltin(text: string): boolean {
  return !/^([ui](8|16|32|64)|bool|string)$/.test(text);
}

/** Builds a schema from a shape, drawing types from its stream. */
function build(value: Shape): ReturnType<SchemaBuilder['build']> {
  const { dut, clocks, enums, root, types } = value;
  const choices = [
    'u8',
    'u16',
    'u32',
    'u64',
    'i8',
    'i16',
    'i32',
    'i64',
    'bool',
    'string',
    ...enums.map(([key]) => key),
  ];
  const draw = (): number => types.next().value;
  const type = (): string => choices[draw() % choices.length]!;
  const fields = (keys: readonly string[]): Fields => Object.fromEntries(keys.map((key) => [key, type()]));
  const clockOf = (shaped: ScopeShape): { clock?: string } =>
    shaped.clock < clocks.length ? { clock: clocks[shaped.clock]![0] } : {};
  const fill = (builder: ScopeBuilder, shaped: ScopeShape): void => {
    for (const [key, slots, kind, fieldNames, propertyNames] of shaped.storages) {
      const properties = propertyNames.map((property, pair) => {
        const plain = draw() % 2 === 0;
        return [
          property,
          plain ? type() : { type: `u${8 << (draw() % 4)}`, role: draw() % 2 ? 'head' : 'tail', pair },
        ] as const;
      });
      builder.storage(key, {
        slots,
        kind,
        fields: fields(fieldNames),
        properties: Object.fromEntries(properties) as never,
      });
    }
    for (const [key, fieldNames] of shaped.events) builder.event(key, fields(fieldNames));
    for (const key of shaped.summary) builder.summary(key, choices[draw() % 9]!);
    for (const [key, child] of shaped.children) {
      const { protocol } = child;
      fill(builder.scope(key, { ...clockOf(child), ...(protocol === undefined ? {} : { protocol }) }), child);
    }
  };
  const builder = new SchemaBuilder({
    ...clockOf(root),
    ...(root.protocol === undefined ? {} : { protocol: root.protocol }),
  });
  for (const [key, text] of dut) builder.dut(key, text);
  for (const [key, period] of clocks) builder.clock(key, period);
  for (const [key, labels, numbered] of enums) {
    builder.enum(key, numbered ? Object.fromEntries(labels.map((label, i) => [label, 255 - i * 3])) : labels);
  }
  fill(builder, root);
  return builder.build();
}

describe('any schema', () => {
  it('comes back from its own text, from its bytes, and keeps its canonical form', {
    timeout: MANY_CASES_MS,
  }, () => {
    fc.assert(
      fc.property(shape, (value) => {
        const made = build(value);
        const text = schemaToText(made.schema, made.dut);
        expect(parseSchema(text)).toEqual(made);
        expect(schemaToText(made.schema, made.dut)).toBe(text);
        expect(canonicalSchema(parseUnboundSchema(text).schema)).toBe(canonicalSchema(made.schema));
        const payload = encodeSchemaPayload(made.schema, made.dut).schema;
        expect(decodeSchemaPayload(payload, 3)).toEqual(made.schema);
      }),
      { numRuns: cases(20, 200) },
    );
  });

  it('is refused or read when its text is damaged, never anything else', () => {
    const junk = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('{', '[', '\n  ', ': ', '- ', '&a ', '*a', '${', '"', '\t', '|'),
    );
    fc.assert(
      fc.property(shape, fc.nat(), fc.nat(8), junk, (value, at, cut, insert) => {
        const made = build(value);
        const text = schemaToText(made.schema, made.dut);
        const place = at % text.length;
        const damaged = text.slice(0, place) + insert + text.slice(place + cut);
        try {
          const { schema, dut } = parseSchema(damaged);
          validateSchema(schema, dut);
        } catch (error) {
          expect(error).toMatchObject({ name: 'UscopeError', code: expect.stringMatching(/^SCHEMA_/) });
        }
      }),
      { numRuns: cases(25, 300) },
    );
  });
});

describe('a schema the grammar cannot express', () => {
  const base: Schema = new SchemaBuilder().clock('clk', 0).counter('first').build().schema;
  const lines = (schema: Schema, dut: DutProperties = []): string[] => schemaToText(schema, dut).split('\n');

  it('says so in a comment: ids out of order', () => {
    const storage = base.storages[0]!;
    const child = { name: 'a', scopeId: 1, parentId: 0, protocol: null, clockId: 255 };
    const schema: Schema = {
      ...base,
      scopes: [...base.scopes, child],
      storages: [
        { ...storage, scopeId: 1 },
        { ...storage, storageId: 1, name: 'second' },
      ],
    };
    expect(lines(schema)[0]).toBe('# Storages have other ids in the file this was made from.');
    expect(parseSchema(schemaToText(schema)).schema.storages.map((def) => def.name)).toEqual([
      'second',
      'first',
    ]);
  });

  it('says so in a comment: unknown flags', () => {
    const schema: Schema = { ...base, storages: [{ ...base.storages[0]!, flags: 0x10, numSlots: 2 }] };
    expect(lines(schema)[0]).toBe('# Storage first has the unknown flags 0x10.');
  });

  it('ends although scopes are their own parents, and enums are missing', () => {
    const loop = { name: 'a', scopeId: 1, parentId: 1, protocol: null, clockId: 9 };
    const field = { name: 'x', type: FieldType.ENUM, enumId: 7, role: 0, pairId: 0 };
    const enums: EnumDef[] = [];
    const schema: Schema = {
      ...base,
      enums,
      scopes: [...base.scopes, loop],
      events: [{ name: 'e', eventTypeId: 0, scopeId: 65535, fields: [field] }],
    };
    expect(lines(schema)).toContain('# Scopes have other ids in the file this was made from.');
  });
});
