import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

test('text survives, a leading U+FEFF included', () => {
  expect(decodeUtf8(encodeUtf8('\ufeffµs'))).toBe('\ufeffµs');
  const point = fc.oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10_ffff }));
  fc.assert(
    fc.property(fc.array(point), (points) => {
      const text = String.fromCodePoint(...points);
      expect(decodeUtf8(encodeUtf8(text))).toBe(text);
    }),
  );
});

test('bytes that are not UTF-8 are FORMAT_UTF8 at their place', () => {
  const error = expect.objectContaining({ code: 'FORMAT_UTF8', place: { offset: 17 } });
  for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
    expect(() => decodeUtf8(Uint8Array.from(bytes), { offset: 17 })).toThrow(error);
  }
});

test('a lone surrogate is refused, never replaced', () => {
  expect(() => encodeUtf8('a\ud800b')).toThrow(expect.objectContaining({ code: 'FORMAT_UTF8' }));
});
