/** Control messages as msgpack: the encodings of the protocol, and the check in front of the decoder. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { map, str, uint } from '../../../../test/vectors/bridge/source/msgpack.mjs';
import { isUscopeError } from '../../base/errors.js';
import { type Packable, packMap, unpackMap, type WireValue } from './msgpack.js';

const code = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (isUscopeError(error)) return error.code;
    throw error;
  }
  return 'no error';
};

describe('what is encoded', () => {
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const edges = [
    0n,
    127n,
    128n,
    255n,
    256n,
    65_535n,
    65_536n,
    2n ** 32n - 1n,
    2n ** 32n,
    2n ** 53n,
    2n ** 63n,
  ];
  const integers = fc.oneof(u64, fc.constantFrom(...edges, 2n ** 63n - 1n, 2n ** 64n - 1n));

  it('integers are unsigned and as short as can be, whether numbers or bigints', () => {
    fc.assert(
      fc.property(integers, (value) => {
        const expected = Uint8Array.from(map({ x: uint(value) }));
        expect(packMap(new Map([['x', value]]))).toEqual(expected);
        if (value > Number.MAX_SAFE_INTEGER) return;
        expect(packMap(new Map([['x', Number(value)]]))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('texts of any length have the shortest head', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.nat(200), fc.nat(1100), fc.nat(60_000)),
        fc.constantFrom('a', 'µ', '€', '😀'),
        (length, character) => {
          const text = character.repeat(length >> 2);
          const expected = Uint8Array.from(map({ x: str(text) }));
          expect(Buffer.compare(packMap(new Map([['x', text]])), expected)).toBe(0);
        },
      ),
    );
    const long = packMap(new Map([['x', 'a'.repeat(70_000)]]));
    expect([...long.subarray(0, 9)]).toEqual([0x81, 0xa1, 0x78, 0xdb, 0, 1, 0x11, 0x70, 0x61]);
  });

  it('a lone surrogate is refused', () => {
    expect(code(() => packMap(new Map([['x', '\ud800']])))).toBe('FORMAT_UTF8');
    expect(code(() => packMap(new Map([['\udfff', 'x']])))).toBe('FORMAT_UTF8');
  });

  const leaf: fc.Arbitrary<Packable> = fc.oneof(
    integers,
    fc.boolean(),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 300 }),
  );
  const maps = (values: fc.Arbitrary<Packable>) =>
    fc
      .array(fc.tuple(fc.string({ unit: 'grapheme' }), values), { maxLength: 20 })
      .map((list) => new Map(list));
  const plain = (value: Packable | WireValue): unknown => {
    if (typeof value === 'number') return BigInt(value);
    if (value instanceof Uint8Array) return [...value];
    return value instanceof Map ? [...value].map(([key, entry]) => [key, plain(entry)]) : value;
  };

  it('comes back, in its order', () => {
    fc.assert(
      fc.property(maps(fc.oneof(leaf, maps(leaf))), (message) => {
        expect(plain(unpackMap(packMap(message)))).toEqual(plain(message));
      }),
    );
  });
});

describe('what a peer sends', () => {
  const decode = (bytes: readonly number[]) => unpackMap(Uint8Array.from(bytes));

  it('a float is not an integer, whatever its value, and the bytes stay as they are', () => {
    const bytes = Uint8Array.from(
      map({ a: [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], b: [0xca, 0x3f, 0x80, 0, 0] }),
    );
    const before = [...bytes];
    expect([...unpackMap(bytes)]).toEqual([
      ['a', Number.NaN],
      ['b', Number.NaN],
    ]);
    expect([...bytes]).toEqual(before);
  });

  it.each([
    ['in the message', [0x82, ...str('t'), 1, ...str('t'), 2]],
    ['in a map inside', map({ x: [0x82, ...str('a'), 1, ...str('a'), 1] })],
    ['in a map inside an array', map({ x: [0x91, 0x82, ...str('a'), 1, ...str('a'), 1] })],
  ])('the same key twice is refused %s', (_, bytes) => {
    expect(() => decode(bytes)).toThrow('a map has the same key twice');
  });

  it.each([
    ['empty maps', 0x80],
    ['empty arrays', 0x90],
    ['nils', 0xc0],
  ])('a message full of %s is refused before it is decoded', (_, byte) => {
    const bytes = map({ x: [0xdd, 0, 3, 0, 0, ...new Array(0x30000).fill(byte)] });
    expect(() => decode(bytes)).toThrow('more than 20000 entries');
  });

  it('keys named like members of every object are ordinary keys', () => {
    const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const decoded = decode(map(Object.fromEntries(keys.map((key) => [`${key}`, uint(1)]))));
    expect([...decoded.keys()]).toEqual(keys);
    expect([...decode([0x81, ...str('__proto__'), 0x81, ...str('polluted'), 1]).keys()]).toEqual([
      '__proto__',
    ]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ['a key of bytes', [0x81, 0xc4, 1, 0x61, 1]],
    ['an overlong form in a value', map({ x: [0xa2, 0xc0, 0xaf] })],
    ['a surrogate in a long text', map({ x: [0xd9, 100, 0xed, 0xa0, 0x80, ...new Array(97).fill(0x61)] })],
    ['a timestamp', map({ x: [0xd6, 0xff, 0, 0, 0, 0] })],
    ['a record of msgpackr', map({ x: [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1] })],
    ['bytes that end inside a number', [0x81, 0xa1, 0x78, 0xcf, 0, 0]],
  ])('%s is refused', (_, bytes) => {
    expect(code(() => decode(bytes))).toBe('BRIDGE_MESSAGE');
  });

  it('whatever passes the check is decoded', () => {
    const bytes = fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0x81, 0x92, 0xa1, 0xc4, 0xcb, 0xd9)), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(bytes, (list) => {
        try {
          decode([0x82, 0xa1, 0x61, ...list]);
        } catch (error) {
          if (!isUscopeError(error)) throw error;
          expect(error.code).toBe('BRIDGE_MESSAGE');
          expect(error.message).not.toMatch('cannot be decoded');
        }
      }),
      { numRuns: 5000 },
    );
  });
});
