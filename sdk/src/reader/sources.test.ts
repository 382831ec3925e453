import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { blobSource, memorySource, openTrace, type Source } from './index.js';
import { fileSource, openTraceFile } from './node.js';

const { bytes } = new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
  .segment({ frames: [frame(0, stage(1, 0))] })
  .segment({ frames: [frame(1000, stage(1, 1))] })
  .finalize();

let directory: string;
let path: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-reader-'));
  path = join(directory, 'a.uscope');
  await writeFile(path, bytes);
});
afterAll(() => rm(directory, { recursive: true }));

describe('sources', () => {
  it.each<[string, () => Source | Promise<Source>]>([
    ['memory', () => memorySource(bytes)],
    ['a blob', () => blobSource(new Blob([bytes.slice()]))],
    ['a file', () => fileSource(path)],
    ['a file, its small reads at once', () => fileSource(path, { blocking: true })],
  ])('%s: the same trace', async (_, make) => {
    const trace = await openTrace(await make());
    const times: bigint[] = [];
    for await (const event of trace.events()) times.push(event.timePs);
    expect(times).toEqual([0n, 1000n]);
    await trace.close();
  });

  it.each([true, false])(
    'a file is read into memory of the caller, up to its end (blocking: %s)',
    async (blocking) => {
      const source = await fileSource(path, { blocking });
      const memory = new Uint8Array(100).fill(0xee);
      expect(await source.readInto!(memory.subarray(0, 60), 8)).toBe(60);
      expect(memory.subarray(0, 60)).toEqual(Uint8Array.from(bytes.subarray(8, 68)));
      expect(memory.subarray(60)).toEqual(new Uint8Array(40).fill(0xee));
      expect(await source.readInto!(memory, bytes.length - 7)).toBe(7);
      expect(await source.readInto!(memory, bytes.length)).toBe(0);
      await source.close?.();
    },
  );

  it('a finalized trace is opened without looking at its segments', async () => {
    // Without a buffer stored dense, whose occupancy takes a look back.
    const schema = {
      ...coreSchema,
      storages: coreSchema.storages.map((s) => (s.flags === 2 ? { ...s, flags: 0 } : s)),
    };
    const builder = new TraceBuilder({ schema });
    for (let i = 0; i < 300; i++) builder.segment({ frames: [frame(1000 * i, stage(1, 0))] });
    const inner = memorySource(builder.finalize().bytes);
    let reads = 0;
    const read: Source['read'] = (offset, length) => {
      reads++;
      return inner.read(offset, length);
    };
    const trace = await openTrace({ ...inner, read });
    expect(trace.segmentCount).toBe(300);
    expect(reads).toBeLessThanOrEqual(4);
    await trace.stateAt(150_000);
    expect(reads).toBeLessThanOrEqual(10);
  });

  it('a file that cannot be opened is named', async () => {
    await expect(openTraceFile(join(directory, 'none.uscope'))).rejects.toThrow(
      /none\.uscope: READER_OPEN.*ENOENT/,
    );
    await expect(openTraceFile(directory)).rejects.toThrow(/READER_OPEN/);
  });

  it('a source that fails is a coded error', async () => {
    const failing: Source = {
      size: async () => 1000,
      read: async () => Promise.reject(new Error('cable cut')),
      name: 'net',
    };
    await expect(openTrace(failing)).rejects.toThrow(/net: READER_OPEN.*cable cut/);
  });

  it('a source that gives less than it said is a truncated file', async () => {
    const lying: Source = {
      size: async () => 10_000,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
    };
    const cut: Source = {
      ...lying,
      read: async (offset, length) => bytes.subarray(offset, Math.min(offset + length, 300)),
    };
    await expect(openTrace(cut)).rejects.toThrow(/FORMAT_TRUNCATED/);
    await expect(openTrace(lying)).resolves.toBeDefined();
  });
});
