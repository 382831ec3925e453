import fc from 'fast-check';
import lz4 from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { decompressLz4Blob } from '../format/compression.js';
import { compressInPool, releaseCompressed } from './compression-pool.js';

/** Bytes as they are in deltas: pieces that come back, near and far, and noise. */
const blobs = fc
  .tuple(
    fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { minLength: 1, maxLength: 12 }),
    fc.array(fc.tuple(fc.nat(11), fc.nat(4000)), { maxLength: 60 }),
    fc.uint8Array({ maxLength: 300 }),
  )
  .map(([pieces, plan, end]) =>
    Buffer.concat([
      ...plan.flatMap(([piece, repeat]) => Array(repeat % 97).fill(pieces[piece % pieces.length])),
      end,
    ]),
  );

describe('LZ4 of the pool', () => {
  it('is read by other decoders', async () => {
    await fc.assert(
      fc.asyncProperty(blobs, async (raw) => {
        const blob = await compressInPool('lz4', 0, raw);
        expect(Buffer.compare(decompressLz4Blob(blob, raw.length), raw)).toBe(0);
        if (raw.length > 0) expect(Buffer.compare(lz4.uncompressSync(Buffer.from(blob)), raw)).toBe(0);
        releaseCompressed(blob);
      }),
      { numRuns: 200 },
    );
  });

  it('takes any size, one after the other and at once', async () => {
    const sizes = [0, 1, 12, 13, 65_536, 70_000, 3_000_000, 9_000_000, 5];
    const raws = sizes.map((size) => Buffer.alloc(size, 'abcdefg'));
    const results = await Promise.all(raws.map((raw) => compressInPool('lz4', 0, raw)));
    results.forEach((blob, i) => {
      expect(Buffer.compare(decompressLz4Blob(blob, sizes[i]), raws[i])).toBe(0);
    });
  });

  it('makes the same blob of the same bytes, whatever came before', async () => {
    const raw = Buffer.from('time flies like an arrow, '.repeat(5000));
    const first = Buffer.from(await compressInPool('lz4', 0, raw));
    await compressInPool('lz4', 0, Buffer.alloc(100_000, 'arrow'));
    expect(Buffer.compare(await compressInPool('lz4', 0, raw), first)).toBe(0);
  });
});
