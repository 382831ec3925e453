/** Text that is written byte by byte is what JavaScript makes of the same values. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteText } from './byte-text.js';

const written = (write: (text: ByteText) => void): string => {
  const text = new ByteText(4);
  write(text);
  return text.text();
};
const u32 = fc.oneof(
  fc.nat(0xffff_ffff),
  fc.constantFrom(0, 1, 9, 10, 999_999_999, 1_000_000_000, 0xffff_ffff),
);

describe('bytes of text', () => {
  it('strings of any letters and lengths', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 80 })), (parts) => {
        expect(written((text) => parts.forEach((part) => void text.string(part)))).toBe(
          new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(parts.join(''))),
        );
      }),
    );
  });

  it('numbers, in decimal and binary', () => {
    fc.assert(
      fc.property(u32, u32, (lo, hi) => {
        const value = (BigInt(hi) << 32n) | BigInt(lo);
        expect(written((text) => text.binary64(lo, hi))).toBe(value.toString(2));
        expect(written((text) => text.decimal64(lo, hi))).toBe(String(value));
        expect(written((text) => text.whole(value))).toBe(String(value));
      }),
    );
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(written((text) => text.whole(value))).toBe(String(value));
      }),
    );
  });
});
