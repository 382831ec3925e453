/** What the codecs of Node and those of browsers have in common. Node has the Compression Streams of browsers too. */
import { createHash } from 'node:crypto';
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import * as browserCrc from './browser/crc32.js';
import * as browserZlib from './browser/zlib.js';
import * as browserZstd from './browser/zstd.js';
import * as nodeCrc from './node/crc32.js';
import * as nodeZlib from './node/zlib.js';
import * as nodeZstd from './node/zstd.js';

// One can be put instead of the other.
const crcs: Record<string, typeof nodeCrc> = { Node: nodeCrc, browsers: browserCrc };
const zlibs: Record<string, typeof nodeZlib> = { Node: nodeZlib, browsers: browserZlib };
const zstds: Record<string, typeof nodeZstd> = { Node: nodeZstd, browsers: browserZstd };

/** Bytes that do not compress, a megabyte of zeros, and text. */
const DATA = concatBytes([
  ...Array.from({ length: 4000 }, (_, i) => createHash('sha256').update(String(i)).digest()),
  new Uint8Array(1024 * 1024),
  new TextEncoder().encode('flux '.repeat(1000)),
]);
const PACKED = new Uint8Array(gzipSync(DATA));

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function outputOf(pieces: AsyncIterable<Uint8Array>): Promise<{ bytes: Uint8Array; error: unknown }> {
  const outputs: Uint8Array[] = [];
  try {
    for await (const piece of pieces) outputs.push(piece.slice());
  } catch (error) {
    return { bytes: concatBytes(outputs), error };
  }
  return { bytes: concatBytes(outputs), error: null };
}

const isPrefix = (bytes: Uint8Array, of: Uint8Array): boolean =>
  Buffer.compare(bytes, of.subarray(0, bytes.length)) === 0;

describe.each(Object.entries(zlibs))('gzip in %s', (_, zlib) => {
  it.each([1, 1000, 64 * 1024, 1024 * 1024])('is unpacked from pieces of %d bytes', async (size) => {
    const packed = size === 1 ? new Uint8Array(gzipSync(DATA.subarray(0, 5000))) : PACKED;
    const { bytes, error } = await outputOf(zlib.gunzip(cut(packed, size)));
    expect(error).toBeNull();
    expect(isPrefix(bytes, DATA) && bytes.length).toBe(size === 1 ? 5000 : DATA.length);
  });

  it('yields what a cut file holds before it says that it is cut', async () => {
    const { bytes, error } = await outputOf(zlib.gunzip(cut(PACKED.subarray(0, 100_000), 30_000)));
    expect(error).toMatchObject({ code: 'CONVERT_TRUNCATED', detail: 'the gzip data end early' });
    expect(bytes.length).toBeGreaterThan(90_000);
    expect(isPrefix(bytes, DATA)).toBe(true);
  });

  it('refuses what is damaged, and what is none', async () => {
    const wrong = PACKED.slice();
    wrong[0] = 0;
    for (const packed of [wrong, PACKED.with(PACKED.length - 8, PACKED[PACKED.length - 8] ^ 1)]) {
      const { error } = await outputOf(zlib.gunzip(cut(packed, 4096)));
      expect(error).toMatchObject({ code: 'CONVERT_FORMAT', detail: expect.stringMatching(/^gzip: /) });
    }
  });

  it('passes on what reading the packed bytes throws', async () => {
    const failure = new UscopeError('READER_OPEN', 'gone');
    const pieces = async function* () {
      yield PACKED.slice(0, 1000);
      throw failure;
    };
    expect((await outputOf(zlib.gunzip(pieces()))).error).toBe(failure);
  });

  it('ends reading when its output is not wanted any more', async () => {
    let closed = false;
    const pieces = async function* () {
      try {
        yield* cut(PACKED, 1000);
      } finally {
        closed = true;
      }
    };
    for await (const piece of zlib.gunzip(pieces())) if (piece.length > 0) break;
    await expect.poll(() => closed).toBe(true);
  });

  it('shows the beginning of a file without a word about its end', async () => {
    const head = await zlib.gunzipHead(PACKED.subarray(0, 4096));
    expect(head.length).toBeGreaterThan(3000);
    expect(isPrefix(head, DATA)).toBe(true);
    await expect(zlib.gunzipHead(Uint8Array.of(0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))).rejects.toThrow();
  });

  it('inflates a block, never to more than was asked for', async () => {
    for (const [format, packed] of [
      ['zlib', deflateSync(DATA)],
      ['gzip', PACKED],
    ] as const) {
      const bytes = await zlib.inflate(format, packed, DATA.length + 1);
      expect(isPrefix(bytes, DATA) && bytes.length).toBe(DATA.length);
      await expect(zlib.inflate(format, packed, 1000)).rejects.toThrow();
      await expect(zlib.inflate(format, packed.subarray(0, 1000), DATA.length)).rejects.toThrow();
    }
  });

  it('packs what is written in pieces', async () => {
    const stream = zlib.gzipStream();
    const pieces: Uint8Array[] = [];
    for await (const piece of cut(DATA, 100_000)) pieces.push(...(await stream.write(piece)));
    pieces.push(...(await stream.end()));
    expect(Buffer.compare(gunzipSync(concatBytes(pieces)), DATA)).toBe(0);
  });
});

describe.each(Object.entries(crcs))('CRC-32 in %s', (_, { crc32 }) => {
  it('continues from a seed, also over nothing', () => {
    const bytes = new TextEncoder().encode('123456789');
    expect(crc32(bytes)).toBe(0xcbf4_3926);
    expect(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4)))).toBe(0xcbf4_3926);
    expect(crc32(new Uint8Array(0), 7)).toBe(7);
    expect(crc32(new Uint8Array(new ArrayBuffer(8), 8), 7)).toBe(7);
  });
});

describe('what differs', () => {
  it('browsers compress no blocks at once, and have no native ZSTD', () => {
    expect(() => browserZlib.deflate('zlib', DATA)).toThrow(expect.objectContaining({ code: 'ENV_MISSING' }));
    expect(zstds.browsers.zstdOfNode).toBeNull();
    expect(zstds.browsers.zstdPackage()).toBeNull();
    expect(zstds.browsers.nativeZstdDecoder()).toBeNull();
  });
});
