import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from './hex.js';

describe('hexadecimal digits', () => {
  it('are those that Node makes of any bytes, and lead back to them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
        expect(fromHex(toHex(bytes))).toEqual(bytes);
        expect(fromHex(toHex(bytes).toUpperCase())).toEqual(bytes);
      }),
    );
  });

  it.each(['0', 'g0', '00g0', '000', '12 34', 'zz', '0x12', '@@', '``', '::', '//'])(
    'end at the first pair that is none, as in Node: "%s"',
    (text) => {
      expect(fromHex(text)).toEqual(new Uint8Array(Buffer.from(text, 'hex')));
    },
  );
});

it('are not letters whose low byte is a digit', () => {
  expect(fromHex('12\u0130\u0130')).toEqual(Uint8Array.of(0x12));
});
