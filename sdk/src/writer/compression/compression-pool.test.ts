import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import lz4 from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { zstdPackage } from '#platform/zstd';
import { limitOfFile, THREADS_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { decompressLz4Blob } from '../../format/compression.js';
import { LZ4_TABLE_BYTES, lz4Room } from '../../native/lz4.js';
import { WriterMemory } from '../frames/writer-memory.js';
import { compressInMemory, compressInPool, compressInWorker, releaseCompressed } from './compression-pool.js';
import { decompress } from './compressor.js';
import { Lz4Compressor } from './lz4-compressor.js';

// Threads compress.
limitOfFile(THREADS_MS);

/** Bytes as they are in deltas: pieces that come back, near and far, some of them changed here and there, and noise. */
const blobs = fc
  .tuple(
    fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { minLength: 1, maxLength: 12 }),
    fc.array(fc.tuple(fc.nat(11), fc.nat(4000)), { maxLength: 60 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 6 })), { maxLength: 100 }),
  )
  .map(([pieces, plan, end, changes]) => {
    const repeated = plan.flatMap(([piece, repeat]) =>
      Array(repeat % 97).fill(pieces[piece % pieces.length]),
    );
    const raw = Buffer.concat([...repeated, end]);
    for (const [at, bytes] of changes) {
      if (raw.length > bytes.length) raw.set(bytes, at % (raw.length - bytes.length));
    }
    return raw;
  });

const memory = WriterMemory.create()!;
const compressor = new Lz4Compressor(memory);

/** Compresses a copy in the memory; the blob is a copy too. */
async function compress(raw: Uint8Array): Promise<Buffer> {
  const source = memory.take(raw.length + 64);
  source.set(raw);
  const blob = await compressor.compress(source.subarray(0, raw.length));
  const copy = Buffer.from(blob);
  compressor.release(blob);
  memory.giveBack(source);
  return copy;
}

describe('LZ4 in the memory of the writer', () => {
  it('is read by other decoders', async () => {
    await fc.assert(
      fc.asyncProperty(blobs, async (raw) => {
        const blob = await compress(raw);
        expect(Buffer.compare(decompressLz4Blob(blob, raw.length), raw)).toBe(0);
        if (raw.length > 0) expect(Buffer.compare(lz4.uncompressSync(blob), raw)).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('comes with its checksum from the thread, until it is released', async () => {
    const source = memory.take(200_064);
    source.fill(7);
    const blob = await compressor.compress(source.subarray(0, 200_000));
    expect(compressor.checksum(blob)).toBe(crc32(blob));
    compressor.release(blob);
    expect(compressor.checksum(blob)).toBeUndefined();
    memory.giveBack(source);
  });

  it('takes any size, one after the other and at once', async () => {
    const sizes = [0, 1, 12, 13, 65_536, 70_000, 3_000_000, 9_000_000, 5];
    const raws = sizes.map((size) => Buffer.alloc(size, 'abcdefg'));
    const results = await Promise.all(raws.map(compress));
    results.forEach((blob, i) => {
      expect(Buffer.compare(decompressLz4Blob(blob, sizes[i]), raws[i])).toBe(0);
    });
  });

  it('makes the same blob of the same bytes, whatever came before', async () => {
    const raw = Buffer.from('time flies like an arrow, '.repeat(5000));
    const first = await compress(raw);
    await compress(Buffer.alloc(100_000, 'arrow'));
    expect(Buffer.compare(await compress(raw), first)).toBe(0);
  });

  it('gives everything back', async () => {
    await compress(Buffer.alloc(200_000, 'abc'));
    const size = memory.memory.buffer.byteLength;
    for (let i = 0; i < 50; i++) await compress(Buffer.alloc(200_000, 'abc'));
    expect(memory.memory.buffer.byteLength).toBe(size);
  });
});

describe('a thread of the addon and a worker', () => {
  it('make the same block, with the same checksum', async () => {
    const job = (raw: Uint8Array) => {
      const [table, source, target] = [LZ4_TABLE_BYTES, raw.length + 64, 4 + lz4Room(raw.length)].map(
        (size) => memory.take(size),
      );
      source.set(raw);
      return { table, source, target, size: raw.length };
    };
    await fc.assert(
      fc.asyncProperty(blobs, async (raw) => {
        const results = [];
        for (const run of [compressInMemory, compressInWorker]) {
          const { table, source, target, size } = job(raw);
          target.set([1, 2, 3, 4]);
          const { size: length, crc } = await run(memory.memory, {
            table: table.byteOffset,
            source: source.byteOffset,
            size,
            target: target.byteOffset + 4,
            prefix: 4,
          });
          const block = Buffer.from(target.subarray(0, 4 + length));
          expect(crc).toBe(crc32(block));
          results.push(block);
          for (const taken of [table, source, target]) memory.giveBack(taken);
        }
        expect(Buffer.compare(results[0]!, results[1]!)).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe.each(['lz4', 'zstd'] as const)('%s without a separate memory', (method) => {
  it.skipIf(lacks(`${method}-napi`, method === 'lz4' || zstdPackage()))(
    'is the same bytes after decompression',
    async () => {
      const raw = Buffer.from('time flies like an arrow, '.repeat(5000));
      const blob = await compressInPool(method, 1, raw);
      expect(Buffer.compare(await decompress(method, Buffer.from(blob), raw.length), raw)).toBe(0);
      releaseCompressed(blob);
    },
  );
});
