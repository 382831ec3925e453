import fc from 'fast-check';
import { compressSync } from 'lz4-napi';
import { describe, expect, test } from 'vitest';
import { frameLz4 } from '../../../test/support/lz4-frame.js';
import { isUscopeError } from '../base/errors.js';
import { checkRawSize } from '../codecs/expansion.js';
import { decompressLz4Block } from '../codecs/lz4-block.js';
import { decompressLz4Blob, unframeLz4 } from './compression.js';

const coded = (code: string) => expect.objectContaining({ code });

/** Data with repetitions near and far, so that matches of all kinds occur. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 60 })), {
    maxLength: 12,
  })
  .map((parts) =>
    Uint8Array.from(
      parts.flatMap(([bytes, times]) =>
        Array(times)
          .fill([...bytes])
          .flat(),
      ),
    ),
  );

describe('LZ4 blocks', () => {
  test('what a native compressor wrote comes back, framed or bare', () => {
    fc.assert(
      fc.property(repetitive, (raw) => {
        const framed = new Uint8Array(compressSync(Buffer.from(raw)));
        expect(Buffer.from(decompressLz4Blob(framed, raw.length)).equals(raw)).toBe(true);
        const block = unframeLz4(framed, raw.length);
        expect(framed.length - block.length).toBe(4);
        expect(Buffer.from(decompressLz4Block(block, raw.length)).equals(raw)).toBe(true);
        expect(frameLz4(block, raw.length)).toEqual(framed);
      }),
      { numRuns: 200 },
    );
  });

  test('a megabyte of one byte, the greatest expansion', () => {
    const raw = new Uint8Array(1 << 20).fill(7);
    const back = decompressLz4Blob(new Uint8Array(compressSync(Buffer.from(raw))), raw.length);
    expect(Buffer.from(back).equals(raw)).toBe(true);
  });

  test('a block that does not yield the promised size is refused', () => {
    const block = unframeLz4(new Uint8Array(compressSync(Buffer.alloc(1000, 'abc'))), 1000);
    for (const size of [0, 1, 999, 1001, 5000]) {
      expect(() => decompressLz4Block(block, size)).toThrow(coded('FORMAT_COMPRESSION'));
    }
  });

  test('a promise of gigabytes is refused before anything is allocated', () => {
    expect(() => decompressLz4Block(new Uint8Array(100), 2 ** 32 - 1)).toThrow(coded('FORMAT_COMPRESSION'));
  });

  test('no bytes at all represent no bytes', () => {
    expect(decompressLz4Blob(new Uint8Array(0), 0).length).toBe(0);
    expect(decompressLz4Blob(Uint8Array.of(0, 0, 0, 0, 0), 0).length).toBe(0);
  });

  test('a bare block that happens to begin with its own raw size is read as bare', () => {
    // Token 0x3F and three zero literals: as an u32 this is 63, the raw size. 3 + 55 matched + 5 literals.
    const block = Uint8Array.of(0x3f, 0, 0, 0, 3, 0, 36, 0x50, 1, 2, 3, 4, 5);
    const raw = Uint8Array.of(...Array(58).fill(0), 1, 2, 3, 4, 5);
    expect(decompressLz4Blob(block, 63)).toEqual(raw);
    expect(decompressLz4Blob(frameLz4(block, 63), 63)).toEqual(raw);
  });

  test('arbitrary bytes yield data of the promised size or a coded error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(2000), (block, size) => {
        try {
          expect(decompressLz4Block(block, size).length).toBe(size);
        } catch (error) {
          if (!isUscopeError(error)) throw error;
          expect(error.code).toBe('FORMAT_COMPRESSION');
        }
      }),
      { numRuns: 1000 },
    );
  });
});

test('checkRawSize: uncompressed blobs have their raw size, compressed ones a bounded one', () => {
  checkRawSize('none', 10, 10);
  checkRawSize('lz4', 10, 2550);
  checkRawSize('zstd', 10, 327_680);
  expect(() => checkRawSize('none', 10, 11)).toThrow(coded('FORMAT_COMPRESSION'));
  expect(() => checkRawSize('none', 10, 9)).toThrow(coded('FORMAT_COMPRESSION'));
  expect(() => checkRawSize('lz4', 10, 2551)).toThrow(coded('FORMAT_COMPRESSION'));
  expect(() => checkRawSize('zstd', 10, 327_681)).toThrow(coded('FORMAT_COMPRESSION'));
});
