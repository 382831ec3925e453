import { describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import { isUscopeError } from '../base/errors.js';
import type { CompressionName } from '../format/types.js';
import { memorySource, openTrace } from './index.js';

/** Everything a trace tells, as lines; what stands before an error counts. */
interface Story {
  readonly lines: string[];
  readonly error: unknown;
}

async function tell(bytes: Uint8Array): Promise<Story> {
  const lines: string[] = [];
  try {
    const trace = await openTrace(memorySource(bytes));
    for await (const { timePs, item } of trace.items()) {
      lines.push(
        item.kind === 'op'
          ? `${timePs} ${Object.values(item)}`
          : `${timePs} ${item.eventTypeId} ${item.payload}`,
      );
    }
    for (const time of [0n, 1500n, trace.totalTimePs]) {
      const state = await trace.stateAt(time);
      for (const storage of trace.schema.storages) state.occupancy(storage.storageId);
    }
    for (let i = 0; i < 3; i++) await trace.strings.get(i);
    await trace.summaryLevels();
    await trace.frameCount();
    return { lines, error: null };
  } catch (error) {
    return { lines, error };
  }
}

function build(compression: CompressionName): TraceBuilder {
  return new TraceBuilder({ schema: coreSchema, compression, dut: [['dut_name', 'x']] })
    .segment({
      frames: [frame(0, set(0, 3, 0, 3), stage(3, 0), annotate(3, 0)), frame(1000, add(3, 0, 0, 1))],
      strings: ['nop'],
    })
    .segment({
      frames: [frame(2000, prop(1, 0, 2), clear(0, 3)), frame(3000, stage(3, 1))],
      strings: ['ret'],
    });
}

const summary = {
  baseIntervalCycles: 1024,
  fanOut: 4,
  totalInstructions: 1n,
  density: [Uint32Array.of(1)],
  counters: [],
};

const isPrefix = (part: readonly string[], whole: readonly string[]): boolean =>
  part.every((line, index) => line === whole[index]);

describe.each(['none', 'lz4'] as const)('a trace with compression %s', (compression) => {
  const kinds = { live: build(compression).bytes, finalized: build(compression).finalize({ summary }).bytes };

  it.each(Object.entries(kinds))('%s, cut at every byte: an error or a correct prefix', async (_, whole) => {
    const { lines: expected, error } = await tell(whole);
    expect(error).toBeNull();
    for (let size = 0; size < whole.length; size++) {
      const story = await tell(whole.slice(0, size));
      expect(story.error === null || isUscopeError(story.error), `cut at ${size}: ${story.error}`).toBe(true);
      expect(isPrefix(story.lines, expected), `cut at ${size}`).toBe(true);
    }
  });

  it.each(Object.entries(kinds))(
    '%s, one bit flipped at every byte: an error, or what the checksums cover is right',
    async (_, whole) => {
      const { lines: expected } = await tell(whole);
      const { offsets, preambleEnd } = build(compression);
      for (let at = 0; at < whole.length; at++) {
        const bytes = whole.slice();
        bytes[at] ^= 1 << (at % 8);
        const story = await tell(bytes);
        expect(story.error === null || isUscopeError(story.error), `flip at ${at}: ${story.error}`).toBe(
          true,
        );
        if (at >= preambleEnd)
          expect(isPrefix(story.lines, expected), `flip at ${at} (segments at ${offsets})`).toBe(true);
      }
    },
  );
});

describe('a trace without checksums', () => {
  const whole = new TraceBuilder({ schema: coreSchema, compression: 'lz4', session: null })
    .segment({
      frames: [frame(0, set(0, 3, 0, 3), set(2, 1, 0, 3), stage(3, 0), annotate(3, 0))],
      strings: ['nop'],
    })
    .segment({ frames: [frame(2000, prop(1, 0, 2), clear(0, 3), stage(3, 1))], strings: ['ret'] })
    .finalize({ summary }).bytes;

  it('never fails with anything but a coded error, whatever byte is flipped', async () => {
    for (let at = 0; at < whole.length; at++) {
      for (const bits of [1 << (at % 8), 0xff]) {
        const bytes = whole.slice();
        bytes[at] ^= bits;
        const { error } = await tell(bytes);
        expect(error === null || isUscopeError(error), `flip ${bits} at ${at}: ${error}`).toBe(true);
      }
    }
  });
});

describe('a chain of segments', () => {
  const PREV = 24;
  const withPrevious = (index: number, value: bigint): Uint8Array => {
    const builder = build('none').segment({ frames: [frame(4000)] });
    const bytes = builder.bytes.slice();
    new DataView(bytes.buffer).setBigUint64(builder.offsets[index] + PREV, value, true);
    return bytes;
  };

  it.each([
    ['itself', 1, (offsets: number[]) => offsets[1]],
    ['forward', 1, (offsets: number[]) => offsets[2]],
    ['far outside the file', 2, () => 2 ** 50],
    ['the preamble', 0, () => 48],
    ['the middle of its predecessor', 2, (offsets: number[]) => offsets[1] + 8],
  ])('that leads to %s is an error', async (_, index, target) => {
    const { offsets } = build('none').segment({ frames: [frame(4000)] });
    const error = await openTrace(memorySource(withPrevious(index, BigInt(target(offsets))))).catch(
      (e: unknown) => e,
    );
    expect(isUscopeError(error) && error.code).toMatch(/^FORMAT_(CHAIN|MAGIC)$/);
  });

  it('whose tail lies beyond the file is an error', async () => {
    const bytes = build('none').bytes.slice();
    new DataView(bytes.buffer).setBigUint64(40, 1n << 60n, true);
    await expect(openTrace(memorySource(bytes))).rejects.toThrow(/FORMAT_CHAIN/);
  });
});

describe('sizes that promise more than the file holds', () => {
  it.each(['checkpointSize', 'deltasCompressedSize', 'deltasRawSize', 'numFrames'] as const)(
    '%s',
    async (key) => {
      const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4', session: null });
      builder.segment({ frames: [frame(0, stage(1, 0))], patch: { [key]: 0xffff_fff0 } });
      const { error } = await tell(builder.finalize().bytes);
      expect(isUscopeError(error) && error.code).toMatch(/^FORMAT_/);
    },
  );
});
