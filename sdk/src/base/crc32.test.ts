import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc32 } from './crc32.js';

/** zlib's own result: it is in the last bytes of a gzip file. */
function zlibCrc(bytes: Uint8Array): number {
  const file = gzipSync(bytes, { level: 0 });
  return file.readUInt32LE(file.length - 8);
}

describe('crc32', () => {
  test('the check value of the algorithm', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array(0))).toBe(0);
  });

  test('equals zlib for every length and alignment', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(7), (bytes, skip) => {
        const view = bytes.subarray(skip);
        expect(crc32(view)).toBe(zlibCrc(view));
      }),
    );
  });

  test('continues from a seed', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        expect(crc32(b, crc32(a))).toBe(zlibCrc(Uint8Array.of(...a, ...b)));
      }),
    );
  });
});
