import { compressSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import { type Codec, decompressDeltas, zstdContentSize } from './codec.js';
import { memorySource, openTrace } from './index.js';
import { giveBack, takeKernel } from './kernel/segment-kernel.js';
import { nodeCodec, segmentLimit } from './node.js';

// Native packages are loaded.
limitOfFile(MANY_CASES_MS);

const raw = Uint8Array.from({ length: 100_000 }, (_, i) => (i % 7) * (i % 11));
const lz4 = new Uint8Array(compressSync(Buffer.from(raw)));
const zstd = new Uint8Array(zstdForTests?.compress(raw) ?? []);
const LIMIT = 1024 ** 2;

const blob = (bytes: Uint8Array, method: 'lz4' | 'zstd' | 'none', rawSize = raw.length) => ({
  bytes,
  method,
  rawSize,
  offset: 500,
});

describe.each<[string, Codec]>([
  ['pure', {}],
  ['native', nodeCodec],
])('%s decompression', (_, codec) => {
  it('gives LZ4 blobs back, with and without their size in front', async () => {
    expect(await decompressDeltas(blob(lz4, 'lz4'), codec, LIMIT)).toEqual(raw);
    expect(await decompressDeltas(blob(lz4.subarray(4), 'lz4'), codec, LIMIT)).toEqual(raw);
  });

  it('rejects a block that is damaged or of another size, at its place in the file', async () => {
    const broken = lz4.slice();
    broken.fill(0, 4);
    for (const bad of [broken, lz4.subarray(0, 50)]) {
      await expect(decompressDeltas(blob(bad, 'lz4'), codec, LIMIT)).rejects.toThrow(
        /at offset 500: FORMAT_COMPRESSION/,
      );
    }
    await expect(decompressDeltas(blob(lz4, 'lz4', raw.length + 1), codec, LIMIT)).rejects.toThrow(
      /FORMAT_COMPRESSION/,
    );
  });

  it('allocates nothing for a size that cannot be true', async () => {
    const promising = lz4.slice();
    new DataView(promising.buffer).setUint32(0, 0x7fff_ffff, true);
    const before = process.memoryUsage().rss;
    await expect(decompressDeltas(blob(promising, 'lz4', 0x7fff_ffff), codec, 2 ** 32)).rejects.toThrow(
      /FORMAT_/,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('keeps to the limit', async () => {
    await expect(decompressDeltas(blob(lz4, 'lz4'), codec, 1000)).rejects.toThrow(
      /FORMAT_LENGTH.*USCOPE_MAX_SEGMENT_MIB=1 .*maxSegmentBytes/,
    );
  });

  it('is 256 MiB unless the environment says otherwise', () => {
    expect(segmentLimit({})).toBe(256 * 1024 ** 2);
    expect(segmentLimit({ USCOPE_MAX_SEGMENT_MIB: '1024' })).toBe(1024 ** 3);
    for (const wrong of ['0', '-1', '1.5', '1G', '99999'])
      expect(() => segmentLimit({ USCOPE_MAX_SEGMENT_MIB: wrong })).toThrow(/^ENV_VALUE: .*MiB/);
  });

  it('of a large segment no second copy is made', () => {
    const kernel = takeKernel()!;
    const [large, small] = [new Uint8Array(65 * 1024 ** 2), new Uint8Array(1024)];
    expect([kernel.place(large), kernel.decompressLz4(small, large.length)]).toEqual([0, null]);
    expect(kernel.buffer.byteLength).toBeLessThan(1024 ** 2);
    giveBack(kernel);
  });
});

describe.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))('ZSTD', () => {
  it('needs a codec', async () => {
    await expect(decompressDeltas(blob(zstd, 'zstd'), {}, LIMIT)).rejects.toThrow(
      /READER_COMPRESSION.*codec: { zstd }/,
    );
  });

  it('is read in Node', async () => {
    expect(await decompressDeltas(blob(zstd, 'zstd'), nodeCodec, LIMIT)).toEqual(raw);
  });

  it('must state the size of the segment header, if any', async () => {
    expect(zstdContentSize(zstd)).toBe(raw.length);
    expect(zstdContentSize(Uint8Array.of(1, 2, 3))).toBeNull();
    await expect(decompressDeltas(blob(zstd, 'zstd', 99_999), nodeCodec, LIMIT)).rejects.toThrow(
      /FORMAT_COMPRESSION/,
    );
  });

  it('damage is a coded error', async () => {
    const broken = zstd.slice();
    broken.fill(0x55, 12, 30);
    await expect(decompressDeltas(blob(broken, 'zstd'), nodeCodec, LIMIT)).rejects.toThrow(
      /FORMAT_COMPRESSION/,
    );
  });

  it('traces read like any other', async () => {
    const builder = new TraceBuilder({
      schema: coreSchema,
      compression: 'zstd',
      compress: (bytes) => zstdForTests!.compress(bytes),
    });
    const { bytes } = builder.segment({ frames: [frame(0, stage(1, 0))] }).finalize();
    const trace = await openTrace(memorySource(bytes), { codec: nodeCodec });
    let events = 0;
    await trace.scan({}, { event: () => ++events });
    expect(events).toBe(1);
    await expect((await openTrace(memorySource(bytes))).scan({}, {})).rejects.toThrow(/READER_COMPRESSION/);
  });
});
