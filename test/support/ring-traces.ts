/** What tests of the flight recorder need: frames as records, the same trace without a ring, and how the one is held against the other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect } from 'vitest';
import { Action, type Item, SessionStatus } from '../../sdk/src/format/index.js';
import type { Trace } from '../../sdk/src/reader/index.js';
import { fileSource, nodeCodec, openTraceFile } from '../../sdk/src/reader/node.js';
import { verifyTrace } from '../../sdk/src/tools/verify/index.js';
import { DIRECTORY_SECTION } from '../../sdk/src/trace-index/directory/format.js';
import { openIndex } from '../../sdk/src/trace-index/index.js';
import { createSegmentIndexer } from '../../sdk/src/trace-index/recording/segment-indexer.js';
import type { WriterOptions } from '../../sdk/src/writer/contract/options.js';
import { type OpenOutput, type OutputFile, openNodeOutput } from '../../sdk/src/writer/output/output-file.js';
import { RecordWriter } from '../../sdk/src/writer/record-writer.js';
import { RecordBatch } from '../../sdk/src/writer/records/record-batch.js';
import type { RingWriter } from '../../sdk/src/writer/ring/index.js';
import { createCpuSummarizer } from '../../sdk/src/writer/summary/cpu-summarizer.js';
import { coreSchema } from './build-trace.js';
import { anyItem, stateInWords, wordsOf } from './random-trace.js';

export const CLOSED = { status: SessionStatus.CLOSED };
export const sessionId = Uint8Array.from({ length: 16 }, (_, i) => i + 1);

/** Each test of a file has an empty directory, which is removed after it. All that recorders opened must be closed then. */
export function eachInNewDirectory(begin: (directory: string) => void): void {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-ring-'));
    begin(directory);
  });
  afterEach(async () => {
    const left = openFiles();
    await killRecorders();
    rmSync(directory, { recursive: true, force: true });
    expect(left).toEqual([]);
  });
}

const opened = new Set<OutputFile>();

/** Paths of the files that recorders have open. */
export const openFiles = (): string[] => [...opened].map(({ path }) => path);

/** The file layer of recorders here: it knows which files are open. */
export const watchedOutput: OpenOutput = async (...target) => {
  const file = await openNodeOutput(...target);
  const close = (): Promise<void> => {
    opened.delete(file);
    return file.close();
  };
  opened.add(file);
  return withMembers(file, { close });
};

/** Recorders that were not closed end as in a killed process: their files are closed as they are. */
export async function killRecorders(): Promise<void> {
  const files = [...opened];
  opened.clear();
  await Promise.all(files.map((file) => file.close()));
}

/** The file, with other members instead of its own. */
export function withMembers(file: OutputFile, members: Partial<OutputFile>): OutputFile {
  return new Proxy(file, {
    get: (object, key: keyof OutputFile) => {
      const member = members[key] ?? object[key];
      return typeof member === 'function' ? member.bind(object) : member;
    },
  });
}

export const ringOptions = (path: string, more: Partial<WriterOptions> = {}): WriterOptions => ({
  path,
  schema: coreSchema,
  checkpointIntervalPs: 10_000,
  maxDelayMs: 0,
  sessionId,
  openOutput: unsynced,
  summarizer: createCpuSummarizer,
  index: createSegmentIndexer,
  ...more,
});

export interface Step {
  readonly delta: number;
  readonly items: readonly Item[];
  /** A new string comes before the frame. */
  readonly text: boolean;
}

export const anySteps = fc.array(
  fc.record({
    delta: fc.constantFrom(0, 1000, 1000, 3000, 9000),
    items: fc.array(anyItem, { maxLength: 5 }),
    text: fc.boolean(),
  }),
  { minLength: 5, maxLength: 120 },
);

/** Frames `from`..`to` of the steps as records; references are spread over all strings there are so far, and one beyond. */
export function records(steps: readonly Step[], from: number, to: number): RecordBatch {
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
export const ANNOTATE = 1;

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
export const unsynced: OpenOutput = async (...target) => {
  const none = async (): Promise<void> => {};
  return withMembers(await watchedOutput(...target), { sync: none, syncDirectory: none });
};

export const push = (writer: RingWriter | RecordWriter, batch: RecordBatch): void =>
  writer.push(batch.words, 0, batch.length);

/** The file passes verification and says, from its first segment on, what the whole trace says. */
export async function expectTail(file: string, plain: Trace, to?: bigint): Promise<void> {
  const source = await fileSource(file);
  const report = await verifyTrace(source, { codec: nodeCodec, summarizer: createCpuSummarizer });
  await source.close?.();
  // References to no string are part of the random traces.
  const isExpected = ({ code, detail }: { code: string; detail: string }) =>
    code === 'FORMAT_ID' && detail.includes('names string');
  const findings = report.findings.filter((finding) => finding.severity !== 'info' && !isExpected(finding));
  expect(findings).toEqual([]);
  const trace = await openTraceFile(file);
  try {
    if (trace.segmentCount > 0) {
      expect((await openIndex(trace))?.origin).toBe('trace');
      expect(trace.section(DIRECTORY_SECTION)).not.toBeNull();
    }
    const starts = (await trace.segments()).map(({ timeStartPs }) => timeStartPs);
    const first = starts[0] ?? 0n;
    const tail = await wordsOf(plain, first, to);
    const kept = await wordsOf(trace);
    // Frames of the very first instant may be on both sides of a boundary.
    expect(kept.length).toBeLessThanOrEqual(tail.length);
    expect(kept).toEqual(tail.slice(tail.length - kept.length));
    for (const start of [...starts.slice(1), trace.totalTimePs]) {
      expect(await stateInWords(trace, start)).toEqual(await stateInWords(plain, start));
    }
  } finally {
    await trace.close();
  }
}

/** The trace without a ring, in the directory. */
export async function plainOf(directory: string, batches: readonly RecordBatch[]): Promise<Trace> {
  const plain = join(directory, 'plain.uscope');
  rmSync(plain, { force: true });
  const writer = await RecordWriter.create(ringOptions(plain));
  for (const batch of batches) push(writer, batch);
  await writer.close(CLOSED);
  return openTraceFile(plain);
}

/** Frame `ordinal` at ordinal * 20 ns: string `text`, if it is new, and an annotation of `entity` with it. */
export function annotated(ordinal: number, text: number, entity = 5): RecordBatch {
  const batch = new RecordBatch();
  if (text === ordinal) batch.string(text, new TextEncoder().encode(`string ${text}`));
  batch.begin(BigInt(ordinal) * 20_000n);
  const { view, offset } = batch.event(ANNOTATE, 8);
  view.setUint32(offset, entity, true);
  view.setUint32(offset + 4, text, true);
  batch.end(1, ordinal);
  return batch;
}
