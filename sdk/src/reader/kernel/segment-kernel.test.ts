import fc from 'fast-check';
import { compressSync } from 'lz4-napi';
import { describe, expect, it } from 'vitest';
import { coreSchema, frame, set, stage, TraceBuilder } from '../../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { frameLz4 } from '../../../../test/support/lz4-frame.js';
import { decompressLz4Block } from '../../codecs/lz4-block.js';
import { decompressDeltas } from '../codec.js';
import { type LoadedSegment, memorySource, openTrace, type Trace } from '../index.js';
import { giveBack, type SegmentKernel, takeKernel } from './segment-kernel.js';

// Properties of hundreds of segments.
limitOfFile(MANY_CASES_MS);

/** Runs of few bytes at all distances, as records have them, and noise. */
const raw = fc
  .array(
    fc.record({
      bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
      times: fc.oneof(fc.constant(1), fc.nat(60)),
    }),
    { maxLength: 30 },
  )
  .map((parts) =>
    Buffer.concat(parts.flatMap(({ bytes, times }) => new Array<Uint8Array>(times).fill(bytes))),
  );

const blockOf = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(compressSync(Buffer.from(bytes))).subarray(4);

const take = (): SegmentKernel => {
  const kernel = takeKernel();
  if (!kernel) throw new Error('no WebAssembly');
  return kernel;
};

function plain(block: Uint8Array, rawSize: number): Uint8Array | null {
  try {
    return decompressLz4Block(block, rawSize);
  } catch {
    return null;
  }
}

describe('compiled LZ4', () => {
  it('gives what the plain decoder gives, of whole, cut and damaged blocks', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(
        raw,
        fc.array(change, { maxLength: 2 }),
        fc.nat(),
        fc.nat(4),
        (bytes, changes, cut, off) => {
          const block = blockOf(bytes);
          const cases: [Uint8Array, number][] = [
            [block, bytes.length],
            [block, Math.max(0, bytes.length + off - 2)],
            [block.subarray(0, cut % (block.length + 1)), bytes.length],
          ];
          const damaged = block.slice();
          for (const [at, flip] of changes) if (damaged.length > 0) damaged[at % damaged.length] ^= flip;
          const kernel = take();
          for (const [one, size] of [...cases, [damaged, bytes.length] as const]) {
            if (one.length === 0 && size === 0) continue;
            const expected = one.length * 255 >= size ? plain(one, size) : null;
            const got = kernel.decompressLz4(one, size);
            expect(got && Buffer.from(got)).toEqual(expected && Buffer.from(expected));
          }
          giveBack(kernel);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps to itself what is too large for it', () => {
    const kernel = take();
    expect(kernel.decompressLz4(new Uint8Array(10), 2 ** 30)).toBeNull();
    expect(kernel.place(new Uint8Array(8))).toBeGreaterThan(0);
    expect(takeKernel(2 ** 30)).toBeNull();
    giveBack(kernel);
  });

  it('hands out its own bytes, unless they are asked for in a kernel', async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i % 13);
    const blob = {
      bytes: frameLz4(blockOf(bytes), bytes.length),
      rawSize: bytes.length,
      method: 'lz4' as const,
      offset: 0,
    };
    const [one, other] = [await decompressDeltas(blob, {}, 1e6), await decompressDeltas(blob, {}, 1e6)];
    expect(one).toEqual(bytes);
    expect(one.buffer).not.toBe(other.buffer);
    const kernel = take();
    expect((await decompressDeltas(blob, {}, 1e6, kernel)).buffer).toBe(kernel.buffer);
    giveBack(kernel);
  });
});

describe('a block that a kernel holds', () => {
  const [one, other] = [7, 9].map((seed) => Uint8Array.from({ length: 5000 }, (_, at) => (at * seed) >> 4));
  const [first, second] = [blockOf(one!), blockOf(other!)];
  const holdsFirst = (kernel: SegmentKernel) => kernel.holds(first);

  it('is not decompressed again, as long as nothing else was put there', () => {
    const kernel = take();
    const bytes = kernel.decompressLz4(first, one!.length)!;
    expect(kernel.holds(first)).toBe(true);
    // Only bytes that nobody writes again keep a change.
    bytes[17]! ^= 1;
    const again = kernel.decompressLz4(first, one!.length)!;
    expect([again[17], again[18]]).toEqual([one![17]! ^ 1, one![18]]);
    expect(Buffer.from(kernel.decompressLz4(second, other!.length)!)).toEqual(Buffer.from(other!));
    expect(kernel.holds(first)).toBe(false);
    expect(Buffer.from(kernel.decompressLz4(first, one!.length)!)).toEqual(Buffer.from(one!));
    kernel.place(other!);
    expect(kernel.holds(first)).toBe(false);
    giveBack(kernel);
  });

  it('is found by who wants it next, unless more space is needed where it lies', () => {
    const [kernel, another] = [take(), take()];
    // Kernels that other tests of this process have used may have more space than is wanted at first.
    const space = kernel.decompressLz4(first, one!.length)!.byteOffset - kernel.spaceAt + (1 << 20);
    another.decompressLz4(second, other!.length);
    giveBack(kernel);
    giveBack(another);
    const found = takeKernel(0, holdsFirst)!;
    expect([found === kernel, found.holds(first)]).toEqual([true, true]);
    giveBack(found);
    const wider = takeKernel(space, holdsFirst)!;
    expect([wider === kernel, wider.holds(first)]).toEqual([true, false]);
    new Uint8Array(wider.buffer, wider.spaceAt, space).fill(255);
    expect(Buffer.from(wider.decompressLz4(first, one!.length)!)).toEqual(Buffer.from(one!));
    giveBack(wider);
    // Its place is behind the space that others want: it stays.
    expect(takeKernel(64, holdsFirst)!.holds(first)).toBe(true);
    giveBack(wider);
  });
});

describe('kernels in turns', () => {
  const SEGMENTS = 12;
  const ITEMS = 30;

  function written(): Uint8Array {
    const builder = new TraceBuilder({
      schema: coreSchema,
      compression: 'lz4',
      compress: (bytes) => new Uint8Array(compressSync(Buffer.from(bytes))),
    });
    for (let segment = 0; segment < SEGMENTS; segment++) {
      const frames = Array.from({ length: ITEMS }, (_, i) => {
        const time = BigInt(segment * ITEMS + i) * 1000n;
        return frame(time, set(0, i % 4, 0, segment + i), stage(segment, i % 8));
      });
      builder.segment({ frames });
    }
    builder.finalize();
    return builder.bytes;
  }

  const open = (): Promise<Trace> => openTrace(memorySource(written()));

  /** Every item of a scan; between segments others get their chance. */
  async function seen(
    trace: Trace,
    between: (index: number) => unknown = () => undefined,
  ): Promise<string[]> {
    const items: string[] = [];
    const take = (kind: string, bytes: Uint8Array) =>
      items.push(`${kind} ${Buffer.from(bytes).toString('hex')}`);
    await trace.scan(
      {},
      {
        segment: async ({ index }) => {
          await between(index);
        },
        op: (c) =>
          take(`${c.timePs} ${c.slot} ${c.field}`, c.bytes.subarray(c.itemOffset, c.itemOffset + 16)),
        event: (c) => take(`${c.timePs} ${c.eventType}`, c.payload),
      },
    );
    return items;
  }

  it('scans at once, and questions and scans in the midst of a scan, do not disturb each other', async () => {
    const trace = await open();
    const alone = await seen(trace);
    expect(alone).toHaveLength(2 * SEGMENTS * ITEMS);
    const states = new Map<number, unknown>();
    const ask = async (index: number) => {
      const { raw: state } = await trace.stateAt(BigInt(index * ITEMS + 7) * 1000n);
      states.set(index, state.cells.slice());
    };
    const nested = async (index: number) => {
      if (index === 5) expect(await seen(trace)).toEqual(alone);
      else await ask(index);
    };
    const together = await Promise.all([seen(trace, ask), seen(trace), seen(trace, nested), seen(trace)]);
    for (const one of together) expect(one).toEqual(alone);
    const quiet = await open();
    for (const [index, cells] of states) {
      expect((await quiet.stateAt(BigInt(index * ITEMS + 7) * 1000n)).raw.cells).toEqual(cells);
    }
  });

  it('a scan that ends early, or fails in its visitor, gives its kernel back', async () => {
    const trace = await open();
    const alone = await seen(trace);
    const buffers = new Set<ArrayBufferLike>();
    const segment = ({ deltas }: LoadedSegment) => void buffers.add(deltas.buffer);
    for (let i = 0; i < 20; i++) {
      await trace.scan({}, { segment, event: () => false });
      const op = () => {
        throw new Error('theirs');
      };
      await expect(trace.scan({}, { segment, op })).rejects.toThrow('theirs');
    }
    expect(buffers.size).toBe(1);
    expect(await seen(trace)).toEqual(alone);
  });

  it('segments in place, and in a window in any order, are those loaded for good, while others are looked at', async () => {
    const trace = await open();
    const expected = [];
    for await (const { deltas } of trace.loadedSegments()) expected.push(deltas.slice());
    const window = await trace.segmentWindow();
    const buffers = new Set<ArrayBufferLike>();
    for await (const { index, deltas } of trace.segmentsInPlace(2)) {
      const other = expected.length - 1 - index;
      const back = await window.load(other);
      await trace.stateAt(BigInt(index * ITEMS + 7) * 1000n);
      expect([deltas.slice(), back.deltas.slice()]).toEqual([expected[index], expected[other]]);
      buffers.add(deltas.buffer).add(back.deltas.buffer);
    }
    expect(buffers.size).toBe(2);
    await expect(window.load(expected.length)).rejects.toThrow(/READER_RANGE/);
    window.close();
  });

  it('a file is read into a kernel, once while it holds the segment, and questions at the same time get their own', async () => {
    const bytes = written();
    const reads: number[] = [];
    const trace = await openTrace({
      ...memorySource(bytes),
      readInto: async (target, offset) => {
        reads.push(offset);
        await Promise.resolve();
        const found = bytes.subarray(offset, offset + target.length);
        target.set(found);
        return found.length;
      },
    });
    const quiet = await openTrace(memorySource(bytes));
    const births = async (of: Trace, segment: number) =>
      of.watchSegment(segment, () => ({ storageId: 0, taken: new Uint8Array(4) }));
    const cells = async (of: Trace, segment: number) =>
      (await of.stateAt(BigInt(segment * ITEMS + 7) * 1000n)).raw.cells;
    for (const segment of [3, 3, 4, 3]) {
      expect(await births(trace, segment)).toEqual(await births(quiet, segment));
      expect(await cells(trace, segment)).toEqual(await cells(quiet, segment));
    }
    expect(reads).toHaveLength(3);
    const all = Array.from({ length: SEGMENTS }, (_, segment) => segment);
    const together = await Promise.all(all.map((segment) => births(trace, segment)));
    expect(together).toEqual(await Promise.all(all.map((segment) => births(quiet, segment))));
    const states = await Promise.all(all.map((segment) => cells(trace, segment)));
    expect(states).toEqual(await Promise.all(all.map((segment) => cells(quiet, segment))));
  });

  it('what is loaded for good stays as it is', async () => {
    const trace = await open();
    const kept = [];
    for await (const segment of trace.loadedSegments()) kept.push([segment.deltas, segment.deltas.slice()]);
    kept.push([(await trace.loadSegment(3)).deltas, (await trace.loadSegment(3)).deltas.slice()]);
    await seen(trace);
    await trace.stateAt(5000n);
    for (const [deltas, copy] of kept) expect(deltas).toEqual(copy);
  });
});
