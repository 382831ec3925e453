import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineCrc } from './crc-combine.js';

describe('the CRC of two pieces', () => {
  it('comes from the CRCs of each', () => {
    const piece = fc.uint8Array({ maxLength: 3000 });
    fc.assert(
      fc.property(piece, piece, (a, b) => {
        expect(combineCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])));
      }),
    );
  });

  it('does so for large pieces', () => {
    const a = Buffer.alloc(1000, 'time flies');
    const b = Buffer.alloc(9_000_001, 'like an arrow');
    expect(combineCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])));
  });
});
