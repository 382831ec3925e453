import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coreSchema } from '../../../../test/support/build-trace.js';
import { anyItem, stateInWords, wordsOf } from '../../../../test/support/random-trace.js';
import { verifyTrace } from '../../convert/verify/index.js';
import { Action, type Item, SessionStatus } from '../../format/index.js';
import { createCpuSummarizer } from '../../protocols/cpu/index.js';
import type { Trace } from '../../reader/index.js';
import { fileSource, nodeCodec, openTraceFile } from '../../reader/node.js';
import type { WriterOptions } from '../options.js';
import { type OpenOutput, type OutputFile, openNodeOutput } from '../output-file.js';
import { RecordBatch } from '../record-batch.js';
import { RecordWriter } from '../record-writer.js';
import { createRing, type RingOptions, type RingWriter, recoverSpool, resumeRing } from './index.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-ring-'));
  path = join(directory, 'core0.uscope');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const sessionId = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
const CLOSED = { status: SessionStatus.CLOSED };
const optionsFor = (more: Partial<WriterOptions> = {}): WriterOptions => ({
  path,
  schema: coreSchema,
  checkpointIntervalPs: 10_000,
  maxDelayMs: 0,
  sessionId,
  openOutput: unsynced,
  summarizer: createCpuSummarizer,
  ...more,
});

interface Step {
  readonly delta: number;
  readonly items: readonly Item[];
  /** A new string comes before the frame. */
  readonly text: boolean;
}

const anySteps = fc.array(
  fc.record({
    delta: fc.constantFrom(0, 1000, 1000, 3000, 9000),
    items: fc.array(anyItem, { maxLength: 5 }),
    text: fc.boolean(),
  }),
  { minLength: 5, maxLength: 120 },
);

/** Frames `from`..`to` of the steps as records; references are spread over all strings there are so far, and one beyond. */
function records(steps: readonly Step[], from: number, to: number): RecordBatch {
  const batch = new RecordBatch();
  let time = 500;
  let strings = 0;
  for (const [ordinal, { delta, items, text }] of steps.entries()) {
    time += delta;
    if (text) strings++;
    if (ordinal < from || ordinal >= to) continue;
    if (text) batch.string(strings - 1, new TextEncoder().encode(`text ${strings % 7} ${ordinal}`));
    batch.begin(BigInt(time));
    for (const item of items) put(batch, item, (index) => (index * 37) % (strings + 1));
    batch.end(items.length, ordinal);
  }
  return batch;
}

const LABEL = { storage: 1, property: 1 };
const ANNOTATE = 1;

function put(batch: RecordBatch, item: Item, ref: (index: number) => number): void {
  if (item.kind === 'event') {
    const { view, offset } = batch.event(item.eventTypeId, item.payload.length);
    for (const [i, byte] of item.payload.entries()) view.setUint8(offset + i, byte);
    if (item.eventTypeId === ANNOTATE)
      view.setUint32(offset + 4, ref(view.getUint32(offset + 4, true)), true);
    return;
  }
  const { action, storageId, slot, field } = item;
  const isRef = action === Action.PROP_SET && storageId === LABEL.storage && field === LABEL.property;
  const value = isRef ? BigInt(ref(Number(item.value))) : item.value;
  batch.op(action, storageId, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
}

/** A disk that cannot fail need not be waited for. */
const unsynced: OpenOutput = async (...target) => {
  const file = await openNodeOutput(...target);
  const none = async (): Promise<void> => {};
  return new Proxy(file, {
    get: (object, key: keyof OutputFile) => {
      if (key === 'sync' || key === 'syncDirectory') return none;
      const member = object[key];
      return typeof member === 'function' ? member.bind(object) : member;
    },
  });
};

const push = (writer: RingWriter | RecordWriter, batch: RecordBatch) =>
  writer.push(batch.words, 0, batch.length);
const open = (file: string): Promise<Trace> => openTraceFile(file);

/** The file passes verification and says, from its first segment on, what the whole trace says. */
async function expectTail(file: string, plain: Trace, to?: bigint): Promise<void> {
  const source = await fileSource(file);
  const report = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
  await source.close?.();
  // References to no string are part of the random traces.
  const isExpected = ({ code, detail }: { code: string; detail: string }) =>
    code === 'FORMAT_ID' && detail.includes('names string');
  const findings = report.findings.filter((finding) => finding.severity !== 'info' && !isExpected(finding));
  expect(findings).toEqual([]);
  const trace = await open(file);
  try {
    const starts = (await trace.segments()).map(({ timeStartPs }) => timeStartPs);
    const first = starts[0] ?? 0n;
    const tail = await wordsOf(plain, first, to);
    const kept = await wordsOf(trace);
    // Frames of the very first instant may stand on both sides of a boundary.
    expect(kept.length).toBeLessThanOrEqual(tail.length);
    expect(kept).toEqual(tail.slice(tail.length - kept.length));
    for (const start of [...starts.slice(1), trace.totalTimePs]) {
      expect(await stateInWords(trace, start)).toEqual(await stateInWords(plain, start));
    }
  } finally {
    await trace.close();
  }
}

async function plainTrace(steps: readonly Step[]): Promise<Trace> {
  const plain = join(directory, 'plain.uscope');
  rmSync(plain, { force: true });
  const writer = await RecordWriter.create(optionsFor({ path: plain }));
  push(writer, records(steps, 0, steps.length));
  await writer.close(CLOSED);
  return open(plain);
}

describe('a ring', () => {
  it('ends as the tail of the plain trace, item by item and state by state', async () => {
    let expired = 0;
    await fc.assert(
      fc.asyncProperty(
        anySteps,
        fc.constantFrom(1n, 30_000n, 100_000_000n),
        fc.nat(5),
        async (steps, spanPs, chunk) => {
          const plain = await plainTrace(steps);
          const writer = await createRing(optionsFor(), { span: { ps: spanPs } });
          for (let from = 0; from < steps.length; from += chunk + 1) {
            push(writer, records(steps, from, Math.min(from + chunk + 1, steps.length)));
            if (from % 7 === 0) await writer.flush();
          }
          const stats = await writer.close(CLOSED);
          expect(stats.status).toBe(SessionStatus.RING);
          expect(existsSync(join(directory, 'core0.ring'))).toBe(false);
          expired += stats.ring.expiredSegments;
          await expectTail(path, plain);
          await plain.close();
        },
      ),
      { numRuns: 25 },
    );
    expect(expired).toBeGreaterThan(5);
  });

  it('keeps every string that is still referred to, under a number of its own', async () => {
    const writer = await createRing(optionsFor(), { span: { ps: 25_000n } });
    for (let i = 0; i < 30; i++) {
      push(writer, annotated(i, i));
      await writer.flush();
    }
    // Old strings, from segments let go long before.
    push(writer, annotated(30, 3));
    push(writer, annotated(31, 17));
    const { ring, strings } = await writer.close(CLOSED);
    expect(ring.expiredSegments).toBeGreaterThan(20);
    expect(strings).toBe(30n);
    const trace = await openTraceFile(path);
    const words = await wordsOf(trace);
    expect(words.slice(-2)).toEqual([
      '600000 core0/annotate 5 text string 3',
      '620000 core0/annotate 5 text string 17',
    ]);
    expect(await trace.strings.count()).toBeLessThan(6);
    await trace.close();
  });

  it('never takes more disk than the ring and one segment, or twice that while a file is made', async () => {
    const maxBytes = 128 * 1024;
    const spool = join(directory, 'core0.ring');
    const sizes: number[] = [];
    const watched: OpenOutput = async (...file) => {
      sizes.push(diskBytes(spool));
      return openNodeOutput(...file);
    };
    const writer = await createRing(optionsFor({ openOutput: watched, compression: 'none' }), { maxBytes });
    let largest = 0;
    for (let i = 0; i < 300; i++) {
      push(writer, noise(i, 60));
      if (i % 20 === 0) await writer.flush();
      if (i === 150) writer.trigger('by hand');
      largest = Math.max(largest, 4096 + 60 * 17 * 20);
    }
    const { ring } = await writer.close(CLOSED);
    expect(sizes.length).toBeGreaterThan(30);
    expect(Math.max(...sizes)).toBeGreaterThan(maxBytes / 2);
    expect(Math.max(...sizes, ring.peakBytes)).toBeLessThanOrEqual(2 * maxBytes + 2 * largest);
    expect(Math.max(...sizes.slice(0, 20))).toBeLessThanOrEqual(maxBytes + largest);
    expect(ring.expiredSegments).toBeGreaterThan(5);
    expect(ring.files).toHaveLength(1);
    expect(ring.firstTimePs).toBeGreaterThan(0n);
  });

  it('makes files no larger than the ring and one segment, however late, and though every text is new', async () => {
    const maxBytes = 192 * 1024;
    const spool = join(directory, 'core0.ring');
    const writer = await createRing(optionsFor(), { maxBytes });
    const used = (ordinal: number): number => (ordinal % 10 === 9 ? ordinal % 4 : ordinal);
    const late = 40_000_000_000; // frames: nothing of the summary's beginning is kept
    const text = (index: number): string => `${index} ${'é'.repeat(40 + (index % 300))}`;
    let strings = 0;
    let largest = 0;
    for (let i = 0; i < 2000; i++) {
      const batch = new RecordBatch();
      while (strings <= i) batch.string(strings, new TextEncoder().encode(text(strings++)));
      batch.begin(BigInt(i + late) * 1000n);
      const { view, offset } = batch.event(ANNOTATE, 8);
      view.setUint32(offset, 5, true);
      view.setUint32(offset + 4, used(i), true);
      batch.op(Action.ADD, 3, 0, 0, 1, 0);
      batch.end(2, i);
      push(writer, batch);
      if (i % 50 === 49) {
        await writer.flush();
        largest = Math.max(largest, diskBytes(spool));
      }
    }
    writer.trigger('here');
    const { ring } = await writer.close(CLOSED);
    const segment = 64 * 1024;
    expect(largest).toBeGreaterThan(maxBytes / 4);
    expect(largest).toBeLessThanOrEqual(maxBytes + segment);
    expect(ring.failures).toEqual([]);
    for (const file of [path, ring.files[0].path]) {
      expect(statSync(file).size).toBeLessThanOrEqual(maxBytes + segment);
      const source = await fileSource(file);
      const { findings } = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
      await source.close?.();
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
      const trace = await openTraceFile(file);
      const words = (await wordsOf(trace)).filter((word) => word.includes('annotate'));
      expect(words.length).toBeGreaterThan(90);
      words.forEach((word, at) => {
        expect(word).toContain(` text ${text(used(2000 - words.length + at))}`);
      });
      await trace.close();
    }
  });

  it('says of a text that was let go, and is named again, that it is', async () => {
    const maxBytes = 64 * 1024;
    const writer = await createRing(optionsFor(), { maxBytes });
    const long = 'x'.repeat(500);
    for (let i = 0; i < 500; i++) {
      const batch = new RecordBatch();
      batch.string(i, new TextEncoder().encode(`${i} ${long}`));
      batch.begin(BigInt(i) * 20_000n);
      const { view, offset } = batch.event(ANNOTATE, 8);
      view.setUint32(offset + 4, i === 499 ? 250 : i, true);
      batch.end(1, i);
      push(writer, batch);
      if (i % 30 === 0) await writer.flush();
    }
    await writer.flush();
    const image = join(directory, 'image.ring');
    cpSync(join(directory, 'core0.ring'), image, { recursive: true });
    await writer.close(CLOSED);
    const saved = join(directory, 'saved.uscope');
    await recoverSpool(image, saved, createCpuSummarizer);
    for (const file of [path, saved]) {
      const source = await fileSource(file);
      const { findings } = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
      await source.close?.();
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
      const trace = await openTraceFile(file);
      const words = await wordsOf(trace);
      expect(words.at(-1)).toBe('9980000 core0/annotate 0 text (text no longer kept)');
      expect(words.at(-2)).toBe(`9960000 core0/annotate 0 text 498 ${long}`);
      await trace.close();
    }
    const again = await resumeRing(optionsFor({ path: join(directory, 'image.uscope') }), { maxBytes });
    expect(again).toMatchObject({ nextFrame: 500n, nextString: 500n });
    await again!.close(CLOSED);
  });

  it('replaces finalized files of its name, and sets a spool that was left aside', async () => {
    const first = await createRing(optionsFor(), { span: { ps: 1n } });
    push(first, annotated(0, 0));
    first.trigger('one');
    await first.close(CLOSED);
    expect(existsSync(join(directory, 'core0.trigger-1.uscope'))).toBe(true);
    const left = await createRing(optionsFor(), { span: { ps: 1n } });
    expect(readdirSync(directory)).toEqual(['core0.ring']);
    push(left, annotated(0, 0));
    await left.flush();
    const next = await createRing(optionsFor({ sessionId: sessionId.map((byte) => byte + 1) }), {});
    expect(readdirSync(directory).sort()).toEqual(['core0.01020304.unfinished.ring', 'core0.ring']);
    await next.close(CLOSED);
    const output = join(directory, 'saved.uscope');
    const saved = await recoverSpool(
      join(directory, 'core0.01020304.unfinished.ring'),
      output,
      createCpuSummarizer,
    );
    expect(saved).toMatchObject({ segments: 1, frames: 1n, damaged: 0, torn: 0 });
    const trace = await openTraceFile(output);
    expect(trace.session?.status).toBe(SessionStatus.RECOVERED);
    await trace.close();
  });
});

describe('triggers', () => {
  const trigger = { eventType: ANNOTATE, tests: [{ offset: 0, size: 4, lo: 7, hi: 0 }], label: 'seven' };
  const byText = {
    eventType: ANNOTATE,
    tests: [{ offset: 4, size: 4, text: 'string 2' }],
    label: { stringAt: 4 },
  };

  it('make files that end with their frame, whatever the messages are like', async () => {
    for (const chunk of [1, 1000]) {
      const files = await triggered({ triggers: () => [trigger] }, chunk);
      expect(files).toEqual([
        { name: 'core0.trigger-1.uscope', label: 'seven', lastPs: 200_000n },
        { name: 'core0.trigger-2.uscope', label: 'seven', lastPs: 260_000n },
      ]);
    }
  });

  it('record for a time after, and are found by text', async () => {
    const files = await triggered({ triggers: () => [byText], afterPs: 55_000n }, 3);
    expect(files).toEqual([{ name: 'core0.trigger-1.uscope', label: 'string 2', lastPs: 80_000n }]);
  });

  it('beyond the limit are counted; those that wait at the end get their file', async () => {
    const files = await triggered(
      { triggers: () => [trigger], triggerFiles: 1, afterPs: 1_000_000_000n },
      5,
      1,
    );
    expect(files).toEqual([{ name: 'core0.trigger-1.uscope', label: 'seven', lastPs: 380_000n }]);
  });

  /** Twenty frames, of which those at 200 and 260 ns carry entity 7; what files became of them. */
  async function triggered(ring: RingOptions, chunk: number, skipped = 0) {
    const writer = await createRing(optionsFor(), { span: { ps: 60_000n }, ...ring });
    const frames = Array.from({ length: 20 }, (_, i) => annotated(i, i, i === 10 || i === 13 ? 7 : 5));
    const words = frames.flatMap((batch) => [...batch.words.subarray(0, batch.length)]);
    const records = new Uint32Array(words);
    for (const [from, to] of cuts(records, chunk)) writer.push(records, from, to);
    const { ring: report } = await writer.close(CLOSED);
    expect(report.failures).toEqual([]);
    expect(report.triggersWithoutFile).toBe(skipped);
    const plain = await plainOf(frames);
    const files = [];
    for (const file of report.files) {
      const trace = await openTraceFile(file.path);
      files.push({ name: basename(file.path), label: file.label, lastPs: trace.totalTimePs });
      expect(new Map(trace.dut).get('uscope.trigger')).toBe(file.label);
      await trace.close();
      await expectTail(file.path, plain, trace.totalTimePs + 1n);
    }
    await plain.close();
    return files;
  }
});

describe('a recorder whose daemon was killed', () => {
  it('goes on from every state its disk can be in, with all that was promised', async () => {
    const images: { image: string; promised: bigint }[] = [];
    const spool = join(directory, 'core0.ring');
    let promised = 0n;
    let calls = 0;
    const snapshot = (file?: string): void => {
      if (!existsSync(spool) || images.length >= 30 || calls++ % 3 !== 0) return;
      const image = join(directory, `image-${images.length}`);
      cpSync(spool, join(image, 'core0.ring'), { recursive: true });
      // What is written and not synced may be torn.
      const torn = file && join(image, 'core0.ring', basename(file));
      if (torn && existsSync(torn) && torn.endsWith('.segment'))
        truncateSync(torn, Math.floor(statSync(torn).size * 0.7));
      images.push({ image, promised });
    };
    const watched: OpenOutput = async (...target) => {
      const file = await openNodeOutput(...target);
      return new Proxy(file, {
        get: (object, key: keyof OutputFile) => {
          const member = object[key];
          if (typeof member !== 'function') return member;
          return (...args: never[]) => {
            if (key === 'sync') snapshot(file.path);
            if (key === 'close') snapshot();
            return (member as (...args: never[]) => unknown).apply(object, args);
          };
        },
      });
    };
    const onDurable = (frames: bigint): void => {
      promised = frames;
    };
    const options = optionsFor({ openOutput: watched, onDurable });
    const writer = await createRing(options, { span: { ps: 50_000n }, triggers: () => [] });
    for (let i = 0; i < 20; i++) {
      push(writer, annotated(i, i));
      if (i % 3 === 0) await writer.flush();
    }
    await writer.close(CLOSED);
    const frames = Array.from({ length: 20 }, (_, i) => annotated(i, i));
    const plain = await plainOf(frames);
    expect(images.length).toBeGreaterThan(15);
    for (const [index, { image, promised: durable }] of images.entries()) {
      const at = join(image, 'core0.uscope');
      const again = await resumeRing(optionsFor({ path: at, openOutput: unsynced }), {
        span: { ps: 50_000n },
      });
      if (again === null) {
        expect(durable).toBe(0n);
        continue;
      }
      expect(again.nextFrame).toBeGreaterThanOrEqual(durable);
      for (const batch of frames) push(again, batch); // the client sends all it has
      const stats = await again.close(CLOSED);
      expect(stats).toMatchObject({ frames: 20n, items: 20n, strings: 20n });
      if (index % 5 === 0) await expectTail(at, plain);
    }
    await plain.close();
  });

  it('makes the files of triggers that were under way, once', async () => {
    const wanted = {
      eventType: ANNOTATE,
      tests: [{ offset: 0, size: 4, lo: 7, hi: 0 }],
      label: { stringAt: 4 },
    };
    const ring: RingOptions = { span: { ps: 100_000n }, triggers: () => [wanted], afterPs: 70_000n };
    const left = await createRing(optionsFor(), ring);
    for (let i = 0; i < 12; i++) push(left, annotated(i, i, i === 10 ? 7 : 5));
    await left.flush(); // the trigger at 200 ns waits for 270 ns
    const again = await resumeRing(optionsFor(), ring);
    again!.restartStream();
    for (let i = 8; i < 20; i++) push(again!, annotated(i, i, i === 10 ? 7 : 5));
    const { ring: report } = await again!.close(CLOSED);
    expect(report).toMatchObject({ triggers: 1, triggersWithoutFile: 0, failures: [] });
    expect(report.files).toMatchObject([{ label: 'string 10', timePs: 200_000n }]);
    const trace = await openTraceFile(report.files[0].path);
    expect(trace.totalTimePs).toBe(260_000n);
    await trace.close();
  });

  it('drops what is older than a damaged segment, and only that', async () => {
    const left = await createRing(optionsFor(), { span: { ps: 1_000_000n } });
    for (let i = 0; i < 12; i++) {
      push(left, annotated(i, i));
      await left.flush();
    }
    const spool = join(directory, 'core0.ring');
    const segments = readdirSync(spool).filter((name) => name.endsWith('.segment'));
    expect(segments.length).toBe(12);
    truncateSync(join(spool, segments[4]), 100);
    truncateSync(join(spool, segments[11]), 100);
    const output = join(directory, 'saved.uscope');
    const saved = await recoverSpool(spool, output, createCpuSummarizer);
    expect(saved).toMatchObject({ segments: 6, frames: 6n, damaged: 1, torn: 1 });
    const again = await resumeRing(optionsFor(), { span: { ps: 1_000_000n } });
    expect(again!.nextFrame).toBe(11n);
    push(again!, annotated(11, 11));
    expect(await again!.close(CLOSED)).toMatchObject({ segments: 7, frames: 12n });
  });
});

/** Frame `ordinal` at ordinal * 20 ns: string `text`, if it is new, and an annotation of `entity` with it. */
function annotated(ordinal: number, text: number, entity = 5): RecordBatch {
  const batch = new RecordBatch();
  if (text === ordinal) batch.string(text, new TextEncoder().encode(`string ${text}`));
  batch.begin(BigInt(ordinal) * 20_000n);
  const { view, offset } = batch.event(ANNOTATE, 8);
  view.setUint32(offset, entity, true);
  view.setUint32(offset + 4, text, true);
  batch.end(1, ordinal);
  return batch;
}

function noise(ordinal: number, items: number): RecordBatch {
  const batch = new RecordBatch();
  batch.begin(BigInt(ordinal) * 1000n);
  for (let i = 0; i < items; i++) batch.op(Action.SET, 0, i % 12, 1, (ordinal * 2654435761 + i) >>> 0, i);
  batch.end(items, ordinal);
  return batch;
}

/** Parts of so many records, none of which ends inside a string. */
function* cuts(words: Uint32Array, records: number): Generator<[number, number]> {
  const BEGIN = 0x10;
  const starts = Array.from({ length: words.length / 4 }, (_, i) => i * 4).filter(
    (at) => (words[at] & 0xff) !== 0x12,
  );
  const safe = starts.filter(
    (at) => at === 0 || (words[at] & 0xff) === BEGIN || (words[at - 4] & 0xff) === BEGIN,
  );
  let from = 0;
  for (let i = records; i < safe.length; i += records) {
    yield [from, safe[i]];
    from = safe[i];
  }
  yield [from, words.length];
}

async function plainOf(frames: readonly RecordBatch[]): Promise<Trace> {
  const plain = join(directory, 'plain.uscope');
  const writer = await RecordWriter.create(optionsFor({ path: plain }));
  for (const batch of frames) push(writer, batch);
  await writer.close(CLOSED);
  return openTraceFile(plain);
}

/** What the files of the directory take, in blocks. */
function diskBytes(of: string): number {
  if (!existsSync(of)) return 0;
  const size = (name: string): number => statSync(join(of, name), { throwIfNoEntry: false })?.size ?? 0;
  return readdirSync(of).reduce((sum, name) => sum + Math.ceil(size(name) / 4096) * 4096, 0);
}
