/** A write or sync that fails once, at any moment: nothing after it is committed or acknowledged, and the numbers are the file's. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { NOTE, UscopeError } from '../base/errors.js';
import { SessionStatus } from '../format/session-chunk.js';
import { openTraceFile } from '../reader/node.js';
import { recoverTrace } from '../tools/recover/index.js';
import type { TraceStats, WriterOptions } from './contract/options.js';
import { ioError, type OpenOutput, openNodeOutput } from './output/output-file.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';
import { createRing, MIN_RING_BYTES } from './ring/index.js';
import { spoolDirectory } from './ring/layout.js';
import { recoverSpool } from './ring/recover.js';
import { createCpuSummarizer } from './summary/cpu-summarizer.js';
import { TraceWriter } from './trace-writer.js';

// Some two hundred traces are written, each with its syncs.
limitOfFile(MANY_CASES_MS);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-failed-'));
});
afterAll(() => rm(directory, { recursive: true }));

const FRAMES = 24;
const CALLS = 60;
/** Of the event loop, between frames. */
const TURNS = 20;

/** A disk on which one call fails; what a failing write has written before is there. */
class FailingDisk {
  calls = 0;
  failed: string | null = null;
  /** What the model does while a call is under way. */
  meanwhile: () => void = () => {};

  constructor(
    private readonly nth: number,
    private readonly code: 'EIO' | 'ENOSPC',
  ) {}

  readonly open: OpenOutput = async (path, mode) => {
    this.mayFail('open', path);
    const file = await openNodeOutput(path, mode);
    const { write, sync, syncDirectory, truncate } = file;
    return Object.assign(file, {
      write: async (chunks: readonly Uint8Array[], position: number) => {
        const some = chunks.slice(0, Math.ceil(chunks.length / 2));
        await this.attempt('write', path, () => write.call(file, some, position));
        const written = some.reduce((sum, { length }) => sum + length, 0);
        await write.call(file, chunks.slice(some.length), position + written);
      },
      sync: () => this.attempt('sync', path, () => sync.call(file)),
      syncDirectory: () => this.attempt('sync', path, () => syncDirectory.call(file)),
      truncate: (size: number) => this.attempt('truncate', path, () => truncate.call(file, size)),
    });
  };

  private async attempt(what: string, path: string, action: () => Promise<void>): Promise<void> {
    await action();
    this.meanwhile();
    this.mayFail(what, path);
  }

  private mayFail(what: string, path: string): void {
    if (++this.calls !== this.nth) return;
    this.failed = what;
    throw ioError(Object.assign(new Error(this.code), { code: this.code }), path);
  }
}

function frame(index: number): Uint32Array {
  const batch = new RecordBatch();
  batch.begin(BigInt(index) * 1000n);
  batch.end(0, index);
  return batch.words.slice(0, batch.length);
}

type Writer = Pick<RecordWriter, 'push' | 'close' | 'stats'>;

interface Outcome {
  readonly acknowledged: bigint;
  readonly error: unknown;
  readonly stats: TraceStats;
}

/** Every frame is a segment. One is cut during each call, so that some wait when a call fails. */
async function record(disk: FailingDisk, path: string, create: (options: WriterOptions) => Promise<Writer>) {
  let acknowledged = 0n;
  let isOver = false;
  const options: WriterOptions = {
    ...{ path, schema: coreSchema, openOutput: disk.open, checkpointIntervalPs: 1000n, maxDelayMs: 0 },
    onDurable: (frames) => {
      acknowledged = frames;
      if (isOver) throw new Error('acknowledged after the failure');
    },
  };
  const outcome = async (error: unknown, writer: Writer): Promise<Outcome> => {
    isOver = true;
    return { acknowledged, error, stats: writer.stats };
  };
  const writer = await create(options);
  let error: unknown = null;
  let next = 0;
  const record = (): void => {
    if (next === FRAMES || error !== null) return;
    try {
      writer.push(frame(next));
      next++;
    } catch (failure) {
      error = failure;
    }
  };
  disk.meanwhile = record;
  while (next < FRAMES && error === null) {
    record();
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
  }
  disk.meanwhile = () => {};
  // Without regard to an error: so does a session, whose writer keeps what it can.
  await writer.close({ status: SessionStatus.CLOSED }).catch((failure: unknown) => {
    error ??= failure;
  });
  return outcome(error, writer);
}

/** Frames of a file, which must be those from `first` on. */
async function framesOf(path: string, first = 0): Promise<number> {
  const trace = await openTraceFile(path);
  const times: bigint[] = [];
  await trace.scan({}, { frame: ({ timePs }) => times.push(timePs) });
  await trace.close();
  expect(times).toEqual(times.map((_, index) => BigInt(first + index) * 1000n));
  return times.length;
}

describe.each(['EIO', 'ENOSPC'] as const)('one %s', (code) => {
  it('at any call of a writer', async () => {
    let failures = 0;
    for (let nth = 1; nth <= CALLS; nth++) {
      const disk = new FailingDisk(nth, code);
      const path = join(directory, `${code}-${nth}.uscope`);
      const made = await record(disk, path, (options) => RecordWriter.create(options)).catch((error) => {
        expect(error).toBeInstanceOf(UscopeError); // it could not be created
        return null;
      });
      if (disk.failed === null) break;
      failures++;
      if (made === null) continue;
      expect(made.error, `call ${nth}`).toBeInstanceOf(UscopeError);
      expect(BigInt(await framesOf(path)), `call ${nth}, ${disk.failed}`).toBe(made.stats.frames);
      expect(made.acknowledged).toBeLessThanOrEqual(made.stats.frames);
      const output = join(directory, `${code}-${nth}-recovered.uscope`);
      if (made.stats.frames === 0n) continue; // nothing to recover
      const { saved } = await recoverTrace({ input: path, output, summarizer: createCpuSummarizer });
      expect(BigInt(saved.frames)).toBeGreaterThanOrEqual(made.stats.frames);
      expect(await framesOf(output)).toBe(saved.frames);
    }
    expect(failures).toBeGreaterThan(20);
  });

  it('at any call of a flight recorder', async () => {
    let failures = 0;
    for (let nth = 1; nth <= CALLS; nth++) {
      const disk = new FailingDisk(nth, code);
      const path = join(directory, `ring-${code}-${nth}.uscope`);
      const made = await record(disk, path, (options) =>
        createRing(options, { maxBytes: MIN_RING_BYTES }),
      ).catch((error) => {
        expect(error).toBeInstanceOf(UscopeError);
        return null;
      });
      if (disk.failed === null) break;
      failures++;
      if (made === null) continue;
      expect(made.error, `call ${nth}`).toBeInstanceOf(UscopeError);
      const output = join(directory, `ring-${code}-${nth}-recovered.uscope`);
      if (made.stats.frames === 0n) continue;
      const { frames, firstFrame } = await recoverSpool(spoolDirectory(path), output, createCpuSummarizer);
      expect(firstFrame + frames, `call ${nth}, ${disk.failed}`).toBe(made.stats.frames);
      expect(firstFrame).toBe(made.stats.firstFrame);
      expect(BigInt(await framesOf(output, Number(firstFrame)))).toBe(frames);
    }
    expect(failures).toBeGreaterThan(20);
  });
});

describe('a full disk', () => {
  /** It has room for the head of a trace, and for nothing more while `isFull`. */
  function fullDisk() {
    const disk = { isFull: false };
    const openOutput: OpenOutput = async (path, mode) => {
      const file = await openNodeOutput(path, mode);
      const write = file.write.bind(file);
      return Object.assign(file, {
        write: async (chunks: readonly Uint8Array[], position: number) => {
          if (disk.isFull) throw new UscopeError('WRITER_DISK_FULL', 'no room', { file: path });
          await write(chunks, position);
        },
      });
    };
    return { disk, openOutput };
  }

  it('is an error of a writer, at once, unless it shall wait', async () => {
    const { disk, openOutput } = fullDisk();
    const path = join(directory, 'full.uscope');
    const writer = await TraceWriter.create({ path, schema: coreSchema, openOutput });
    writer.beginCycle(0);
    writer.endCycle();
    disk.isFull = true;
    await expect(writer.close()).rejects.toMatchObject({ code: 'WRITER_DISK_FULL' });
  });

  it('is a warning of the process where a writer waits and nobody listens', async () => {
    const { disk, openOutput } = fullDisk();
    const path = join(directory, 'waiting.uscope');
    const options = { path, schema: coreSchema, openOutput, onFull: 'wait' as const };
    const writer = await TraceWriter.create(options);
    writer.beginCycle(0);
    writer.endCycle();
    const printers = process.listeners('warning');
    process.removeAllListeners('warning');
    disk.isFull = true;
    const warned = once(process, 'warning');
    const closed = writer.close();
    expect((await warned)[0]).toMatchObject({ name: NOTE, code: 'WRITER_DISK_FULL' });
    for (const printer of printers) process.on('warning', printer);
    disk.isFull = false;
    expect((await closed).frames).toBe(1n);
  });
});
