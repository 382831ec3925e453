import fc from 'fast-check';
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
import { cases } from '../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { isUscopeError } from '../base/errors.js';
import type { CompressionName } from '../format/types.js';
import { memorySource, openTrace, type Trace } from './index.js';

// Hundreds of damaged files are read.
limitOfFile(MANY_CASES_MS);

/** Everything a trace tells, as lines; everything before an error counts. */
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

/** Questions that touch a part of the trace only: what each is answered, or null for a coded error. */
async function ask(bytes: Uint8Array): Promise<(string | null)[]> {
  const trace = await openTrace(memorySource(bytes)).catch(onlyCoded);
  const answers: (string | null)[] = [];
  const question = async (answer: (opened: Trace) => Promise<string>): Promise<void> => {
    answers.push(trace && (await answer(trace).catch(onlyCoded)));
  };
  for (const time of [0, 1500, 3000]) {
    await question(async (opened) => `${(await opened.stateAt(time)).raw.cells}`);
    await question(async (opened) => {
      const seen: string[] = [];
      for await (const one of opened.frames(time, time + 700)) seen.push(`${one.timePs}:${one.items.length}`);
      return seen.join();
    });
  }
  return answers;
}

function onlyCoded(error: unknown): null {
  if (isUscopeError(error)) return null;
  throw error;
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

const anyWord = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

describe('a question about a part of a finalized trace', () => {
  const builder = build('lz4').segment({ frames: [frame(4000, clear(0, 5))] });
  const whole = builder.finalize({ summary }).bytes;

  it('is answered as without the damage, or not at all: a flip in table or segments hides no frames', async () => {
    const expected = await ask(whole);
    expect(expected.filter((answer) => answer === null)).toEqual([]);
    let answered = 0;
    for (let at = builder.preambleEnd; at < whole.length; at++) {
      const bytes = whole.slice();
      bytes[at] ^= 1 << (at % 8);
      for (const [index, answer] of (await ask(bytes)).entries()) {
        if (answer === null) continue;
        answered++;
        expect(answer, `flip at ${at}, question ${index}`).toBe(expected[index]);
      }
    }
    expect(answered).toBeGreaterThan(whole.length);
  });

  it('is answered truly, whatever the segment table says', async () => {
    const expected = await ask(whole);
    const sections = Number(new DataView(whole.buffer).getBigUint64(32, true));
    const view = new DataView(whole.buffer, sections);
    const entry = [0, 1, 2].map((index) => index * 24).find((at) => view.getUint16(at, true) === 3)!;
    const table = Number(view.getBigUint64(entry + 8, true));
    const offset = fc.oneof(fc.constantFrom(...builder.offsets), fc.nat(whole.length), anyWord);
    const time = fc.oneof(fc.constantFrom(0, 1001, 3001, 2000), anyWord);
    const edits = fc.array(fc.record({ entry: fc.nat(2), offset, time }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(edits, fc.boolean(), async (list, onlyTimes) => {
        const bytes = whole.slice();
        const cells = new DataView(bytes.buffer, table);
        for (const { entry: index, offset: where, time: start } of list) {
          if (!onlyTimes) cells.setBigUint64(index * 24, BigInt(where), true);
          cells.setBigUint64(index * 24 + 8, BigInt(start), true);
        }
        for (const [index, answer] of (await ask(bytes)).entries()) {
          if (answer !== null) expect(answer).toBe(expected[index]);
        }
      }),
      { numRuns: cases(50, 200) },
    );
  });
});

describe.each([undefined, null])('a trace with any words written over it, session %s', (session) => {
  const builder = new TraceBuilder({
    schema: coreSchema,
    compression: 'lz4',
    ...(session === null ? { session } : {}),
  })
    .segment({ frames: [frame(0, set(0, 3, 0, 3), stage(3, 0))], strings: ['x'] })
    .segment({ frames: [frame(1000, clear(0, 3))] });
  const kinds = { live: builder.bytes, finalized: builder.finalize({ summary }).bytes };

  it.each(Object.entries(kinds))('%s: is reported or is a coded error', async (_, good) => {
    const word = fc.oneof(
      fc.nat(good.length).map(BigInt),
      fc.constantFrom(0xffff_ffffn, 0x8000_0000n, 1n << 32n, 1n << 53n, 1n << 63n),
      anyWord,
    );
    const edits = fc.array(fc.tuple(fc.nat(good.length - 8), word), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(edits, async (list) => {
        const bytes = good.slice();
        for (const [at, value] of list) new DataView(bytes.buffer).setBigUint64(at, value, true);
        await ask(bytes);
        const { error } = await tell(bytes);
        expect(error === null || isUscopeError(error), String(error)).toBe(true);
      }),
      { numRuns: cases(20, 60) },
    );
  });
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
