import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DecodedFile, decodeFile } from '../../../test/support/decode-file.js';
import { cases as casesOf } from '../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { cpuSchema } from '../../../test/support/schemas.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import { Action, RecordKind, SessionStatus } from '../format/index.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';
import { createCpuSummarizer } from './summary/cpu-summarizer.js';

// Properties: hundreds of traces are written twice and compared.
limitOfFile(MANY_CASES_MS);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-records-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const schema = cpuSchema();
const open = (name: string, more: object = {}) =>
  RecordWriter.create({
    path: join(directory, `${name}.uscope`),
    schema,
    checkpointIntervalPs: 10_000,
    compression: 'none',
    maxDelayMs: 0,
    ...more,
  });
const CLOSED = { status: SessionStatus.CLOSED };

type Op = { kind: number; slot: number; lo: number; hi: number };
type Cycle = { delta: number; ops: Op[] };

const word = fc.oneof(fc.nat(0xffff), fc.nat(0xffff_ffff), fc.constant(0xffff_ffff));
const opArbitrary = fc.record({
  kind: fc.nat(6),
  // Few, so that one is set, cleared and set again.
  slot: fc.oneof(fc.nat(7), fc.nat(1)),
  lo: word,
  hi: fc.oneof(fc.constant(0), word),
});
const cycles = fc.array(
  fc.record({ delta: fc.oneof(fc.nat(3000), fc.constant(0)), ops: fc.array(opArbitrary, { maxLength: 9 }) }),
  { minLength: 1, maxLength: 50 },
);

/** The records of these cycles, frames from `firstOrdinal` on. */
function records(list: readonly Cycle[], firstOrdinal = 0): RecordBatch {
  const batch = new RecordBatch();
  let now = 0n;
  let strings = 0;
  list.forEach(({ delta, ops }, index) => {
    now += BigInt(delta);
    if (index < firstOrdinal) return;
    batch.begin(now);
    let items = ops.length;
    for (const { kind, slot, lo, hi } of ops) {
      if (kind === 0) batch.op(Action.SET, 0, slot, lo % 2, lo, hi);
      else if (kind === 1) batch.op(Action.ADD, lo % 2, lo % 2 === 1 ? 0 : slot, 0, lo, hi);
      else if (kind === 2) batch.op(Action.CLEAR, lo % 2 === 0 ? 2 : 0, slot, 0, 0, 0);
      else if (kind === 3) batch.op(Action.PROP_SET, 2, 0, 1, lo, hi);
      else if (kind === 4) putEvent(batch, slot, lo);
      else if (kind === 5) {
        // What follows each other in a slot is what the compiled loop expects to follow again.
        batch.op(Action.SET, 0, slot, 0, lo, 0);
        batch.op(Action.SET, 0, slot, 1, hi, lo);
        batch.op(Action.SET, 0, slot, 1, lo, hi);
        items += 2;
      } else {
        batch.string(strings++, new TextEncoder().encode(`text ${lo}`));
        items--;
      }
    }
    batch.end(items, index);
  });
  return batch;
}

function putEvent(batch: RecordBatch, entity: number, stage: number): void {
  const { view, offset } = batch.event(0, 5);
  view.setUint32(offset, entity, true);
  view.setUint8(offset + 4, stage & 0xff);
}

/** Word offsets at which a message may end: every record boundary. */
function boundaries({ words, length }: RecordBatch): number[] {
  const at: number[] = [];
  for (let i = 0; i < length; ) {
    at.push(i);
    const payload = (words[i] & 0xff) === RecordKind.STRING ? Math.ceil(words[i + 1] / 16) : 0;
    i += 4 * (1 + payload);
  }
  return [...at, length];
}

const content = (file: DecodedFile) =>
  file.segments.map(({ header, checkpoint, frames, record }) => ({
    header,
    checkpoint,
    frames,
    record: { nextFrame: record.nextFrame, nextString: record.nextString, strings: record.strings },
  }));

describe.each(['native', 'wasm'] as const)('the fast path (%s)', (kernel) => {
  it('writes what the plain path writes, wherever messages are split', async () => {
    let rollbacks = 0;
    await fc.assert(
      fc.asyncProperty(
        cycles,
        fc.array(fc.nat(10_000), { maxLength: 6 }),
        fc.constantFrom('none', 'after a rollback', 'all'),
        async (list, splits, margin) => {
          const batch = records(list);
          const plain = await open('plain', { summarizer: createCpuSummarizer, kernel: 'typescript' });
          expect(plain.kernel).toBeNull();
          plain.push(batch.words, 0, batch.length);
          const fast = await open('fast', { summarizer: createCpuSummarizer, kernel });
          expect(fast.kernel?.isNative).toBe(kernel === 'native');
          const run = fast.kernel!;
          const ends = boundaries(batch);
          run.margin = margin === 'all' ? Number.POSITIVE_INFINITY : 0;
          const cuts = [0, ...splits.map((s) => ends[s % ends.length]), batch.length].sort((a, b) => a - b);
          for (let i = 1; i < cuts.length; i++) {
            fast.push(batch.words.slice(cuts[i - 1], cuts[i])); // a copy: messages do not outlive the call
            rollbacks += run.rollbacks;
            if (margin === 'none') run.margin = 0;
          }
          if (margin === 'all') expect(run.rollbacks).toBe(0); // no frame was tried that was cut
          const expected = await plain.close(CLOSED);
          const actual = await fast.close(CLOSED);
          expect({ ...actual, path: '' }).toEqual({ ...expected, path: '' });
          const [fastFile, plainFile] = [decodeFile(fast.path), decodeFile(plain.path)];
          expect(content(fastFile)).toEqual(content(plainFile));
          expect(fastFile.summary).toEqual(plainFile.summary);
        },
      ),
      { numRuns: casesOf(8, 120) },
    );
    expect(rollbacks).toBeGreaterThan(0);
  });
});

describe('without WebAssembly', () => {
  it('the plain path takes everything, and lz4-napi compresses it', async () => {
    const found = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly')!;
    const cycle: Cycle = { delta: 7, ops: [{ kind: 5, slot: 1, lo: 2, hi: 3 }] };
    const batch = records(Array.from({ length: 20_000 }, () => cycle));
    const write = async (name: string) => {
      const writer = await open(name, { compression: 'lz4' });
      writer.push(batch.words, 0, batch.length);
      await writer.close(CLOSED);
      return writer;
    };
    Reflect.deleteProperty(globalThis, 'WebAssembly');
    let plain: RecordWriter;
    try {
      plain = await write('plain');
    } finally {
      Object.defineProperty(globalThis, 'WebAssembly', found);
    }
    const fast = await write('fast');
    expect([plain.kernel === null, fast.kernel === null]).toEqual([true, false]);
    // The two compressors make blocks of different sizes.
    const framesOf = ({ path }: RecordWriter) => decodeFile(path).segments.flatMap(({ frames }) => frames);
    expect(framesOf(plain)).toHaveLength(20_000);
    expect(framesOf(plain)).toEqual(framesOf(fast));
  });
});

describe('a checkpoint interval of one cycle', () => {
  const methods = zstdForTests ? (['lz4', 'none', 'zstd'] as const) : (['lz4', 'none'] as const);
  it.each(methods)('takes %s without memory to match', async (compression) => {
    const writer = await open('tiny', { checkpointIntervalPs: 1, compression });
    const cycle: Cycle = { delta: 1, ops: [{ kind: 0, slot: 1, lo: 2, hi: 0 }] };
    const batch = records(Array.from({ length: 20_000 }, () => cycle));
    writer.push(batch.words, 0, batch.length);
    const stats = await writer.close(CLOSED);
    expect([stats.segments, stats.frames]).toEqual([20_000, 20_000n]);
  });
});

describe('a client that resends', () => {
  it('has nothing recorded twice, from whatever frame it starts again', async () => {
    await fc.assert(
      fc.asyncProperty(cycles, fc.nat(50), fc.nat(50), async (list, taken, from) => {
        const whole = await open('whole');
        const all = records(list);
        whole.push(all.words, 0, all.length);
        await whole.close(CLOSED);

        const writer = await open('resent');
        writer.kernel!.margin = 0;
        const ends = boundaries(all);
        writer.push(all.words, 0, ends[taken % ends.length]);
        await writer.flush();
        writer.restartStream();
        // What a client still holds may begin in the middle of a frame that is durable already.
        const restart = ends.filter((at) => at <= frameStart(all, Number(writer.durableFrames)));
        writer.push(all.words, restart[from % restart.length], all.length);
        await writer.close(CLOSED);
        const frames = (path: string) => decodeFile(path).segments.flatMap((s) => s.frames);
        expect(frames(writer.path)).toEqual(frames(whole.path));
        expect(decodeFile(writer.path).strings).toEqual(decodeFile(whole.path).strings);
      }),
      { numRuns: casesOf(5, 80) },
    );
  });
});

function frameStart(batch: RecordBatch, ordinal: number): number {
  let frame = -1;
  for (const at of boundaries(batch)) {
    if (batch.words[at] === RecordKind.BEGIN && at < batch.length) frame++;
    if (frame === ordinal) return at;
  }
  return batch.length;
}

describe('a broken client', () => {
  const good = () => {
    const batch = new RecordBatch();
    batch.begin(1000n);
    batch.op(Action.SET, 0, 1, 0, 1, 0);
    batch.end(1, 0);
    return batch;
  };
  const cases: [string, string, (b: RecordBatch) => void][] = [
    [
      'a storage id out of range',
      'OP_STORAGE: storage id 3 is not below 3',
      (b) => b.op(Action.SET, 3, 0, 0, 0, 0),
    ],
    [
      'a slot out of range',
      'OP_SLOT: slot 16 of "entities" is not below 16',
      (b) => b.op(Action.CLEAR, 0, 16, 0, 0, 0),
    ],
    [
      'a field out of range',
      'OP_FIELD: field 3 of "entities" is not below 3',
      (b) => b.op(Action.ADD, 0, 0, 3, 0, 0),
    ],
    [
      'a property out of range',
      'OP_PROPERTY: property 2 of "rob" is not below 2',
      (b) => b.op(Action.PROP_SET, 2, 0, 2, 0, 0),
    ],
    ['an unknown action', 'BRIDGE_RECORD: op action 9 is unknown', (b) => b.op(9 as Action, 0, 0, 0, 0, 0)],
    ['an unknown event', 'OP_EVENT: event type 7 is not below 2', (b) => b.event(7, 0)],
    [
      'a payload of the wrong size',
      'OP_PAYLOAD: event "stage_transition" has a payload of 6 bytes, the schema says 5',
      (b) => b.event(0, 6),
    ],
    ['a wrong item count', 'BRIDGE_RECORD: END counts 5 items, the frame has 0', (b) => b.end(5, 1)],
    ['a missing frame', 'BRIDGE_RECORD: frame 2 follows frame 0', (b) => b.end(0, 2)],
    ['a nested begin', 'BRIDGE_RECORD: record kind 0x10 inside a frame', (b) => b.begin(2000n)],
  ];
  for (const [what, message, corrupt] of cases) {
    it(`with ${what} loses only from that frame on`, async () => {
      const writer = await open('broken');
      writer.kernel!.margin = 0;
      const batch = good();
      batch.begin(2000n);
      batch.op(Action.SET, 0, 2, 0, 2, 0);
      const before = batch.length;
      corrupt(batch);
      if (!what.includes('count') && !what.includes('missing')) batch.end(2, 1);
      else batch.words.copyWithin(before - 4, before, batch.length); // only the corrupt END, without the op before it
      expect(() => writer.push(batch.words, 0, batch.length)).toThrow(message);
      await writer.close(CLOSED);
      const file = decodeFile(writer.path);
      expect(file.segments.flatMap((s) => s.frames.map((f) => [f.timePs, f.items.length]))).toEqual([
        [1000n, 1],
      ]);
    });
  }

  it('with time running backwards loses only from that frame on', async () => {
    const writer = await open('backwards');
    const batch = good();
    batch.begin(999n);
    batch.end(0, 1);
    expect(() => writer.push(batch.words, 0, batch.length)).toThrow(
      'OP_TIME: frame 1 at 999 ps is earlier than 1000 ps',
    );
    await writer.close(CLOSED);
    expect(decodeFile(writer.path).segments[0].frames).toHaveLength(1);
  });

  it('with arbitrary words is refused or ignored, never worse', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(0x20), fc.nat(3), fc.nat(3), fc.nat(20), fc.nat(3), word, word)),
        async (list) => {
          const writer = await open('noise');
          const words = Uint32Array.from(
            list.flatMap(([kind, action, id, a, b, lo, hi]) => [
              kind | (action << 8) | (id << 16),
              a | (b << 16),
              lo,
              hi,
            ]),
          );
          try {
            writer.push(words);
          } catch (error) {
            expect(String((error as { code?: string }).code)).toMatch(/^(OP|BRIDGE)_/);
          }
          await writer.close(CLOSED);
          decodeFile(writer.path);
        },
      ),
      { numRuns: casesOf(10, 160) },
    );
  });
});

describe('durability', () => {
  it('is reported for frames of committed segments, in order, each once', async () => {
    const told: bigint[] = [];
    const writer = await open('durable', { onDurable: (frames: bigint) => told.push(frames) });
    const batch = records(Array.from({ length: 100 }, () => ({ delta: 1000, ops: [] })));
    writer.push(batch.words, 0, batch.length);
    await writer.flush();
    expect(told.at(-1)).toBe(100n);
    expect([...told].sort((a, b) => Number(a - b))).toEqual(told);
    expect(new Set(told).size).toBe(told.length);
    await writer.close(CLOSED);
  });

  it('an incomplete frame is not in the file', async () => {
    const writer = await open('incomplete');
    const batch = records([{ delta: 5, ops: [] }]);
    batch.begin(6n);
    batch.op(Action.SET, 0, 0, 0, 1, 0);
    writer.push(batch.words, 0, batch.length);
    const stats = await writer.close({ status: SessionStatus.CLIENT_LOST });
    expect(stats).toMatchObject({ frames: 1n, status: SessionStatus.CLIENT_LOST });
    const file = decodeFile(writer.path);
    expect(file.preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
    expect(file.segments.flatMap((s) => s.frames)).toHaveLength(1);
  });
});
