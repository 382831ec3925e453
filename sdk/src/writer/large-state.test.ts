/**
 * A writer with a large state: what is in its file does not depend on whether it saved the state in turns or at once, and what others of its
 * thread have to do comes between.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeFile } from '../../../test/support/decode-file.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { SessionStatus } from '../format/session-chunk.js';
import { Action } from '../format/types.js';
import { openTraceFile } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { BlockLoad, LoadSteps } from '../state/checkpoint-load.js';
import { CheckpointSteps } from '../state/checkpoint-state.js';
import { stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import type { WriterOptions } from './contract/options.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';
import { resumeTrace } from './resume.js';
import { createRing, resumeRing } from './ring/index.js';

// States of megabytes are written many times.
limitOfFile(MANY_CASES_MS);

const FIELDS = 20;
const SLOTS = 30_000;
const NAMES = Array.from({ length: FIELDS }, (_, i) => `f${i}`);
/** 4.8 MB of words, besides mixed fields of which some slots are valid. */
const { schema } = parseSchema(`uscope: 1
clocks: {clk: 1 ns}
storages:
  words: {slots: ${SLOTS}, kind: dense, fields: {${NAMES.map((name) => `${name}: u64`).join(', ')}}}
  mixed: {slots: 9000, kind: sparse, fields: {a: u8, b: u16, c: u32, d: u64}}
  small: {slots: 4, kind: dense, fields: {a: u8}}
events:
  tick: {}
`);
const layout = stateLayout(schema);
/** Frames between two checkpoints. */
const PER_SEGMENT = 10;
const FRAMES = 27;
/** Messages of 11 records, which end in the middle of frames: those have 4 or 5. */
const CUT_WORDS = 44;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-large-'));
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function frames(): RecordBatch {
  const batch = new RecordBatch();
  for (let i = 0; i < FRAMES; i++) {
    batch.begin(BigInt(i) * 1000n);
    batch.op(Action.SET, 0, (i * 7919) % SLOTS, i % FIELDS, i + 1, i);
    batch.op(Action.SET, 1, (i * 191) % 9000, i % 4, i + 1, 0);
    if (i % 3 === 0) batch.op(Action.CLEAR, 1, (i * 191) % 9000, 0, 0, 0);
    batch.end(i % 3 === 0 ? 3 : 2, i);
  }
  return batch;
}

const optionsOf = (name: string, more: Partial<WriterOptions> = {}): WriterOptions => ({
  path: join(directory, `${name}.uscope`),
  schema,
  checkpointIntervalPs: PER_SEGMENT * 1000,
  maxDelayMs: 0,
  sessionId: new Uint8Array(16).fill(1),
  ...more,
});

type Sink = Pick<RecordWriter, 'pushSome' | 'ready'>;

/** In messages of `size` words. Returns how often others had a turn. */
async function pushInTurns(writer: Sink, { words, length }: RecordBatch, size: number): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  for (let first = 0; first < length; first += size) {
    const end = Math.min(first + size, length);
    for (let at = first; at < end; ) {
      at = writer.pushSome(words, at, end);
      await writer.ready();
    }
  }
  isOver = true;
  return turns;
}

/** What is in the segments, at any offset: a hash of their bytes, as there are many. */
function contentOf(path: string): unknown {
  return decodeFile(path).segments.map(({ frames: items, checkpoint }) => ({
    items,
    checkpoint: createHash('sha1').update(checkpoint).digest('hex'),
  }));
}

async function writtenAtOnce(name: string, more: Partial<WriterOptions> = {}): Promise<string> {
  const writer = await RecordWriter.create(optionsOf(name, more));
  const { words, length } = frames();
  writer.push(words, 0, length);
  await writer.close({ status: SessionStatus.CLOSED });
  return writer.path;
}

describe('a large state', () => {
  it('is saved in steps of any size as it is at once', () => {
    const state = new StorageState(layout);
    for (let i = 0; i < 3000; i++) {
      state.apply(Action.SET, 0, (i * 7919) % SLOTS, i % FIELDS, i + 1, i);
      state.apply(Action.SET, 1, (i * 3) % 9000, i % 4, i + 1, i);
    }
    const whole = state.encodeCheckpoint();
    for (const cells of [1, 1000, 77_777, 1e9]) {
      const bytes = new Uint8Array(whole.length).fill(0xff);
      const steps = new CheckpointSteps(state, bytes);
      let count = 0;
      while (!steps.isDone) {
        steps.step(cells === 1 && count > 3000 ? 1e6 : cells);
        count++;
      }
      expect(count > 1).toBe(cells < 1e9);
      expect(Buffer.compare(bytes, whole)).toBe(0);
    }
  });

  it.each(['native', 'wasm', 'typescript'] as const)(
    'pushed in turns gives the file that it gives at once, and lets others have theirs (%s)',
    async (kernel) => {
      const expected = contentOf(await writtenAtOnce('once', { kernel }));
      for (const size of [frames().length, CUT_WORDS]) {
        const writer = await RecordWriter.create(optionsOf(`turns-${kernel}`, { kernel }));
        expect(writer.isLarge).toBe(true);
        const turns = await pushInTurns(writer, frames(), size);
        await writer.close({ status: SessionStatus.CLOSED });
        expect(turns).toBeGreaterThan(2 * Math.floor(FRAMES / PER_SEGMENT));
        expect(contentOf(writer.path)).toEqual(expected);
      }
    },
  );

  it('of a writer before it leaves nothing in the next', async () => {
    const expected = contentOf(await writtenAtOnce('first'));
    for (let i = 0; i < 3; i++) expect(contentOf(await writtenAtOnce(`next${i}`))).toEqual(expected);
  });

  it('is not waited for by flush, and at the end not saved at all', async () => {
    const writer = await RecordWriter.create(optionsOf('flush'));
    const { words, length } = frames();
    await writer.ready();
    expect(writer.pushSome(words, 0, length)).toBeLessThan(length);
    expect(writer.congested).toBe(true);
    await writer.flush();
    await writer.close({ status: SessionStatus.CLOSED });
    const { segments } = decodeFile(writer.path);
    expect(segments.map(({ frames: items }) => items.length)).toEqual([PER_SEGMENT]);
  });

  it('may be pushed at once in the middle of being saved', async () => {
    const expected = contentOf(await writtenAtOnce('once-more'));
    const writer = await RecordWriter.create(optionsOf('mixed'));
    const { words, length } = frames();
    for (let at = 0; at < length; ) {
      at = writer.pushSome(words, at, length);
      if (at < length) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = Math.min(length, at + 4 * 5);
        writer.push(words, at, next);
        at = next;
      }
    }
    await writer.close({ status: SessionStatus.CLOSED });
    expect(contentOf(writer.path)).toEqual(expected);
  });

  it('is resumed from its last checkpoint', async () => {
    const expected = contentOf(await writtenAtOnce('whole'));
    const options = optionsOf('resumed');
    const writer = await RecordWriter.create(options);
    const batch = frames();
    await pushInTurns(writer, batch, batch.length);
    await writer.flush();
    writer.discard();
    await writer.close({ status: SessionStatus.CLOSED }).catch(() => {});
    const again = await resumeTrace(options);
    expect(again?.nextFrame).toBe(BigInt(FRAMES));
    again?.restartStream();
    await pushInTurns(again as RecordWriter, batch, batch.length);
    await again?.close({ status: SessionStatus.CLOSED });
    expect(contentOf(options.path)).toEqual(expected);
  });

  it('of a flight recorder is saved in turns too', async () => {
    const expected = contentOf(await writtenAtOnce('plain'));
    const recorder = await createRing(optionsOf('ring'), { span: { cycles: 1_000_000n } });
    const turns = await pushInTurns(recorder, frames(), frames().length);
    expect(turns).toBeGreaterThan(2 * Math.floor(FRAMES / PER_SEGMENT));
    await recorder.close({ status: SessionStatus.CLOSED });
    expect(contentOf(recorder.path)).toEqual(expected);
  });

  it('is loaded in steps of any size as it is at once', () => {
    const state = new StorageState(layout);
    for (let i = 0; i < 3000; i++) {
      state.apply(Action.SET, 0, (i * 7919) % SLOTS, i % FIELDS, i + 1, i);
      state.apply(Action.SET, 1, (i * 3) % 9000, i % 4, i + 1, i);
    }
    const bytes = state.encodeCheckpoint();
    for (const cells of [1, 1000, 77_777, 1e9]) {
      const loaded = new StorageState(layout);
      for (let i = 0; i < 3000; i++) loaded.apply(Action.SET, 1, i, i % 4, 7, 7);
      const steps = new LoadSteps(loaded, bytes);
      let count = 0;
      while (!steps.isDone) {
        steps.step(cells === 1 && count > 3000 ? 1e6 : cells);
        count++;
      }
      expect(count > 1).toBe(cells < 1e9);
      expect([loaded.cells, loaded.mask, loaded.occupied].map(digest)).toEqual(
        [state.cells, state.mask, state.occupied].map(digest),
      );
    }
  });

  it.each(['native', 'wasm', 'typescript'] as const)(
    'is replaced by snapshots in turns as it is at once (%s)',
    async (kernel) => {
      const writer = await RecordWriter.create(optionsOf('snapshots-once', { kernel }));
      const { words, length } = withSnapshots();
      writer.push(words, 0, length);
      await writer.close({ status: SessionStatus.CLOSED });
      const expected = contentOf(writer.path);

      const again = await RecordWriter.create(optionsOf(`snapshots-${kernel}`, { kernel }));
      const steps = vi.spyOn(BlockLoad.prototype, 'step');
      await pushInTurns(again, withSnapshots(), length);
      expect(steps.mock.calls.length).toBeGreaterThan(4);
      expect(steps.mock.calls.every(([cells]) => Number.isFinite(cells))).toBe(true);
      await again.close({ status: SessionStatus.CLOSED });
      expect(contentOf(again.path)).toEqual(expected);
    },
  );

  it('is rebuilt in turns where a frame is taken back, also when a cut comes between', async () => {
    const expected = contentOf(await writtenAtOnce('straight'));
    const { words, length } = frames();
    for (const cutAfter of [Number.POSITIVE_INFINITY, 3]) {
      const writer = await RecordWriter.create(optionsOf(`back-${cutAfter}`));
      const loads = vi.spyOn(LoadSteps.prototype, 'step');
      let pauses = 0;
      for (let first = 0; first < length; first += CUT_WORDS) {
        const end = Math.min(first + CUT_WORDS, length);
        for (let at = first; at < end; ) {
          writer.kernel!.margin = 0;
          at = writer.pushSome(words, at, end);
          if (writer.congested && loads.mock.calls.length > 0 && ++pauses === cutAfter) writer.endSegment();
          await writer.ready();
        }
      }
      expect(writer.kernel!.rollbacks).toBeGreaterThan(3);
      if (cutAfter === Number.POSITIVE_INFINITY)
        expect(loads.mock.calls.every(([cells]) => Number.isFinite(cells))).toBe(true);
      await writer.close({ status: SessionStatus.CLOSED });
      const items = (content: unknown) => (content as { items: unknown[] }[]).flatMap((one) => one.items);
      expect(items(contentOf(writer.path)).length).toBe(items(expected).length);
      expect(await finalState(writer.path)).toBe(await finalState(join(directory, 'straight.uscope')));
      vi.restoreAllMocks();
    }
  });

  it.each(['trace', 'recorder'] as const)('of a %s is resumed in steps', async (kind) => {
    const expected = contentOf(await writtenAtOnce(`whole-${kind}`));
    const options = optionsOf(`resumed-${kind}`);
    const span = { span: { cycles: 1_000_000n } };
    const isTrace = kind === 'trace';
    const writer = isTrace ? await RecordWriter.create(options) : await createRing(options, span);
    const batch = frames();
    await pushInTurns(writer, batch, batch.length);
    await writer.flush();
    const loads = vi.spyOn(LoadSteps.prototype, 'step');
    const again = isTrace
      ? await resumeAgain(writer as RecordWriter, options)
      : await resumeRing(options, span);
    expect(loads.mock.calls.length).toBeGreaterThan(2);
    expect(loads.mock.calls.every(([cells]) => Number.isFinite(cells))).toBe(true);
    again?.restartStream();
    await pushInTurns(again as RecordWriter, batch, batch.length);
    await again?.close({ status: SessionStatus.CLOSED });
    expect(contentOf(options.path)).toEqual(expected);
  });
});

async function resumeAgain(writer: RecordWriter, options: WriterOptions): Promise<RecordWriter | null> {
  writer.discard();
  await writer.close({ status: SessionStatus.CLOSED }).catch(() => {});
  return resumeTrace(options);
}

const digest = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array): string =>
  createHash('sha1')
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest('hex');

async function finalState(path: string): Promise<string> {
  const trace = await openTraceFile(path);
  const { raw } = await trace.stateAt(trace.totalTimePs);
  await trace.close();
  return [raw.cells, raw.mask].map(digest).join();
}

/** A client's own pictures of both large storages, between its frames. */
function withSnapshots(): RecordBatch {
  const batch = new RecordBatch();
  const words = new Uint8Array(SLOTS * FIELDS * 8);
  const mixed = new Uint8Array(9000 / 8 + 15 * 40).fill(3, 9000 / 8);
  mixed.fill(0xff, 100, 105);
  for (let i = 0; i < FRAMES; i++) {
    if (i % 9 === 4) {
      words.fill(i, i * 1000, i * 1000 + 900);
      batch.snapshot(0, words);
      batch.snapshot(1, mixed);
    }
    batch.begin(BigInt(i) * 1000n);
    batch.op(Action.SET, 0, (i * 7919) % SLOTS, i % FIELDS, i + 1, i);
    batch.end(1, i);
  }
  return batch;
}
