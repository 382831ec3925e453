/** The place at which the index of a trace is found, what is said of a damaged one, and what it costs over a network. */
import { describe, expect, it } from 'vitest';
import { add, frame, type SegmentSpec, TraceBuilder } from '../../../../test/support/build-trace.js';
import { heldBytes } from '../../../../test/support/held-bytes.js';
import { type IndexedSpec, indexedTrace } from '../../../../test/support/indexed-trace.js';
import { memorySource, openTrace, type Source } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { ChannelKind } from '../channels.js';
import { openIndex } from './open-index.js';

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
storages:
  done: counter
`);
const DONE = { kind: ChannelKind.DELTA, name: 'done' } as const;
/** Every 100 cycles the counter grows by one. */
const segments: SegmentSpec[] = Array.from({ length: 60 }, (_, segment) => ({
  frames: Array.from({ length: 50 }, (_frame, index) =>
    frame(BigInt((segment * 50 + index) * 1000), add(0, 0, 0, 1)),
  ),
  start: BigInt(segment * 50_000),
}));

const open = async (spec: Partial<IndexedSpec> = {}) => {
  const { bytes } = await indexedTrace({ schema, segments, ...spec });
  const trace = await openTrace(memorySource(bytes));
  return { trace, index: await openIndex(trace) };
};

const total = async (index: NonNullable<Awaited<ReturnType<typeof openIndex>>>): Promise<number> => {
  const { channels } = await index.series(DONE, { intervals: 1 });
  return channels[0]!.columns[0]!.values[0]!;
};

describe('an index', () => {
  it('is null of a trace that has none, or no segments yet', async () => {
    const plain = new TraceBuilder({ schema });
    expect(await openIndex(await openTrace(memorySource(plain.bytes)))).toBeNull();
    plain.segment(segments[0]!);
    expect(await openIndex(await openTrace(memorySource(plain.finalize().bytes)))).toBeNull();
  });

  it('follows a trace that grows, and its end', async () => {
    const part = await indexedTrace({ schema, segments: segments.slice(0, 20), state: 'open' });
    const more = await indexedTrace({ schema, segments, state: 'open' });
    const whole = await indexedTrace({ schema, segments });
    let { bytes } = part;
    const trace = await openTrace(memorySource(() => bytes));
    const index = await openIndex(trace);
    expect(await total(index!)).toBe(1000);
    ({ bytes } = more);
    await trace.poll();
    expect(await total(index!)).toBe(3000);
    ({ bytes } = whole);
    expect((await trace.poll()).finalized).toBe(true);
    expect(await total(index!)).toBe(3000);
  });

  it('keeps no more of a trace that grows than its cache allows, and what it makes of all of it', async () => {
    const spec = { schema, segments, state: 'open' } as const;
    const { bytes } = await indexedTrace(spec);
    // As a source that reads ahead: a piece keeps the whole of what it was read with.
    const source: Source = {
      ...memorySource(bytes),
      read: async (offset, length) => {
        const ahead = new Uint8Array(64 * 1024);
        ahead.set(bytes.subarray(offset, offset + Math.min(length, ahead.length)));
        return ahead.subarray(0, Math.min(length, bytes.length - offset));
      },
    };
    const held = async (cacheBytes: number) => {
      const trace = await openTrace(source);
      const index = (await openIndex(trace, { cacheBytes }))!;
      expect(await total(index)).toBe(3000);
      return heldBytes(index, [trace, index.plan]);
    };
    const [none, small, large] = [await held(0), await held(16 * 1024), await held(1024 * 1024)];
    // Few instructions make small parts: the arrays themselves are counted too.
    const cached = small.bytes - none.bytes + (small.views - none.views) * 96;
    expect(cached).toBeGreaterThan(0);
    expect(cached).toBeLessThanOrEqual(16 * 1024);
    expect(large.bytes).toBeGreaterThan(2 * small.bytes);
    expect(large.bytes).toBeLessThan(segments.length * 2048);
  });

  it('warns once of damage, names the place, and answers all the same', async () => {
    const flip = (bytes: Uint8Array, at: number) => {
      bytes[at] = bytes[at]! ^ 0x10;
      return bytes;
    };
    const { bytes, containers } = await indexedTrace({ schema, segments, state: 'without-directory' });
    flip(bytes, containers[7]! + 40);
    flip(bytes, containers[9]! + 40);
    const answered = await openTrace(memorySource(bytes));
    expect(await total((await openIndex(answered))!)).toBe(3000);
    // Reports take parts as they are stored, and leave the rest to a scan.
    const refused = await openTrace(memorySource(bytes));
    const index = (await openIndex(refused))!;
    expect(await index.storedParts(5)).not.toBeNull();
    expect(refused.warnings).toEqual([]);
    expect(await index.storedParts(7)).toBeNull();
    for (const { warnings } of [answered, refused]) {
      const [warning, ...others] = warnings;
      expect(others).toEqual([]);
      expect(warning!.kind).toBe('index-damaged');
      expect(warning!.message).toMatch(
        new RegExp(
          `FORMAT_CHECKSUM, offset ${containers[7]! + 8}\\): what it should say is counted from the trace`,
        ),
      );
    }
  });

  it.each([
    ['cut', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 3)],
    ['empty', () => new Uint8Array(0)],
    [
      'of flipped bits',
      (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length - 40 ? byte ^ 1 : byte)),
    ],
    [
      'that lies about its size',
      (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length - 11 ? 0xff : byte)),
    ],
  ])('does without a directory that is %s', async (_, directory) => {
    const { trace, index } = await open({ directory });
    expect(trace.warnings.map(({ kind }) => kind)).toEqual(['index-damaged']);
    expect(await total(index!)).toBe(3000);
  });

  it('does without a directory of another trace', async () => {
    const other = await indexedTrace({ schema, segments: segments.slice(0, 30) });
    const foreign = other.bytes.subarray(other.directory);
    const { trace, index } = await open({ directory: () => foreign.slice(0, directorySize(other)) });
    expect(trace.warnings[0]!.message).toMatch(/it is of 30 segments, the trace has 60/);
    expect(await total(index!)).toBe(3000);
  });
});

/** By the section table behind it. */
function directorySize({ bytes, directory }: { bytes: Uint8Array; directory: number }): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = bytes.length - 24; at > 0; at -= 24) {
    if (view.getUint16(at, true) === 0xff11 && Number(view.getBigUint64(at + 8, true)) === directory) {
      return Number(view.getBigUint64(at + 16, true));
    }
  }
  throw new Error('no directory');
}

describe('over a network', () => {
  it('the first picture of a whole finalized trace takes 4 requests and 512 kB at most', async () => {
    const { bytes } = await indexedTrace({ schema, segments });
    const { source, requests } = counted(bytes);
    const index = await openIndex(await openTrace(source));
    await index!.series(DONE, { intervals: 1000, quick: true });
    expect(requests.length).toBeLessThanOrEqual(4 + HEADER_READS);
    expect(requests.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(512 * 1024);
  });
});

/** Header and preamble are two reads, one request of an HTTP source. */
const HEADER_READS = 1;

function counted(bytes: Uint8Array): { source: Source; requests: number[] } {
  const plain = memorySource(bytes);
  const requests: number[] = [];
  return {
    requests,
    source: {
      size: plain.size,
      read: (offset, length) => {
        requests.push(length);
        return plain.read(offset, length);
      },
    },
  };
}
