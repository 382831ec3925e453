/** An indexer that throws, wherever it does: the trace is whole without it, and one note says why. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coreSchema } from '../../../test/support/build-trace.js';
import { NOTE } from '../base/errors.js';
import { SessionStatus } from '../format/session-chunk.js';
import { fileSource, openTraceFile } from '../reader/node.js';
import { mergeTraces, planMerge } from '../tools/merge/index.js';
import { recoverTrace } from '../tools/recover/index.js';
import { sliceTrace } from '../tools/slice/index.js';
import { verifyTrace } from '../tools/verify/index.js';
import { openIndex } from '../trace-index/index.js';
import { createSegmentIndexer } from '../trace-index/recording/segment-indexer.js';
import type { WriterOptions } from './contract/options.js';
import type { SegmentIndexerFactory } from './contract/segment-indexer.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';
import { resumeTrace } from './resume.js';
import { createRing, MIN_RING_BYTES } from './ring/index.js';
import { createCpuSummarizer } from './summary/cpu-summarizer.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-guarded-'));
});
afterAll(() => rm(directory, { recursive: true }));

let notes: string[] = [];
const take = (warning: Error & { code?: string }): void => {
  if (warning.name === NOTE) notes.push(warning.code ?? '');
};
let printers: ((warning: Error) => void)[] = [];
beforeEach(() => {
  notes = [];
  printers = process.listeners('warning');
  process.removeAllListeners('warning').on('warning', take);
});
afterEach(() => {
  process.off('warning', take);
  for (const printer of printers) process.on('warning', printer);
});

const FRAMES = 20;
const PLACES = ['factory', 'add', 'rejected add', 'toStore', 'directory', 'late directory'] as const;

/** The real one, but for one fault, of a segment in the middle where it is one of a segment. */
function faulty(place: (typeof PLACES)[number]): SegmentIndexerFactory {
  const fault = (): never => {
    throw new RangeError('a fault of the indexer');
  };
  return (schema, dut, before) => {
    if (place === 'factory') fault();
    const indexer = createSegmentIndexer(schema, dut, before)!;
    let [added, stored] = [0, 0];
    return {
      add: async (segment) => {
        const isIt = ++added === FRAMES / 4;
        if (isIt && place === 'rejected add') fault();
        return indexer.add(segment);
      },
      ...(place === 'add' ? { add: fault } : {}),
      toStore: (made, bytes) =>
        place === 'toStore' && ++stored > 3 ? fault() : indexer.toStore(made, bytes),
      directory: async (file, output) => {
        if (place === 'directory') fault();
        await indexer.directory(file, output);
        if (place === 'late directory') {
          await output.append(new Uint8Array(600_000)); // more than the buffer, and than what follows
          fault();
        }
        return true;
      },
    };
  };
}

function frames(first: number, count: number): Uint32Array {
  const batch = new RecordBatch();
  for (let i = first; i < first + count; i++) {
    batch.begin(i * 1000);
    batch.end(0, i);
  }
  return batch.words.slice(0, batch.length);
}

const optionsOf = (name: string, index: SegmentIndexerFactory | null): WriterOptions => ({
  ...{ path: join(directory, name), schema: coreSchema, index, summarizer: createCpuSummarizer },
  ...{ checkpointIntervalPs: 1000n, maxDelayMs: 0, sessionId: new Uint8Array(16).fill(1) },
});

async function expectWhole(path: string, count = FRAMES): Promise<void> {
  await new Promise(setImmediate); // warnings come with the next turn
  const trace = await openTraceFile(path);
  let found = 0;
  await trace.scan({}, { frame: () => found++ });
  expect(found).toBe(count);
  expect(trace.isComplete).toBe(true);
  // What was made before the fault is used, segment by segment.
  const index = await openIndex(trace);
  expect(index && Reflect.get(index, 'directory')).toBeNull();
  await index?.close();
  await trace.close();
  const source = await fileSource(path);
  const { findings } = await verifyTrace(source);
  await source.close?.();
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(notes).toEqual(['WRITER_NO_INDEX']);
}

describe.each(PLACES)('an indexer that throws: %s', (place) => {
  const index = faulty(place);
  const nameOf = (kind: string): string => `${place.replace(' ', '-')}-${kind}.uscope`;

  async function input(): Promise<string> {
    const writer = await RecordWriter.create(optionsOf(nameOf('input'), null));
    writer.push(frames(0, FRAMES));
    return (await writer.close({ status: SessionStatus.CLOSED })).path;
  }

  it('a writer', async () => {
    const writer = await RecordWriter.create(optionsOf(nameOf('writer'), index));
    writer.push(frames(0, FRAMES));
    const { path } = await writer.close({ status: SessionStatus.CLOSED });
    await expectWhole(path);
  });

  it('a flight recorder', async () => {
    const writer = await createRing(optionsOf(nameOf('ring'), index), { maxBytes: 64 * MIN_RING_BYTES });
    writer.push(frames(0, FRAMES));
    const { path } = await writer.close({ status: SessionStatus.CLOSED });
    await expectWhole(path);
  });

  it('a writer that resumes', async () => {
    const path = await input();
    const writer = await resumeTrace({ ...optionsOf(nameOf('input'), index), path });
    writer!.restartStream();
    writer!.push(frames(FRAMES, FRAMES));
    await writer!.close({ status: SessionStatus.CLOSED });
    await expectWhole(path, 2 * FRAMES);
  });

  it('slice', async () => {
    const trace = await openTraceFile(await input());
    const path = join(directory, nameOf('slice'));
    await sliceTrace(trace, { path, name: 'a', fromPs: 0n, toPs: 1_000_000n, index } as never);
    await trace.close();
    await expectWhole(path);
  });

  it('merge', async () => {
    const trace = await openTraceFile(await input());
    const path = join(directory, nameOf('merge'));
    const plan = await planMerge([{ trace, name: 'a', file: 'a', scope: undefined }], 'm');
    await mergeTraces(plan, { path, index } as never);
    await trace.close();
    await expectWhole(path);
  });

  it('recover', async () => {
    const output = join(directory, nameOf('recover'));
    await recoverTrace({ input: await input(), output, index, summarizer: createCpuSummarizer });
    await expectWhole(output);
  });
});
