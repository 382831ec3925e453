/** A writer whose memory ends keeps what it has, and notifies its owner. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { framesFrom, upTo, valuesOf } from '../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../test/support/decode-file.js';
import { UscopeError } from '../base/errors.js';
import { SessionStatus } from '../format/session-chunk.js';
import { parseSchema } from '../schema/index.js';
import type { WriterOptions } from './contract/options.js';
import type { WriterBudget } from './frames/memory-need.js';
import { dropIdleMemories } from './frames/writer-memory.js';
import { type OpenOutput, type OutputFile, openNodeOutput } from './output/output-file.js';
import { RecordWriter } from './record-writer.js';

/** A checkpoint of half a megabyte. */
const { schema } = parseSchema(
  'uscope: 1\nclocks: {clk: 1000 ps}\nstorages:\n  regs: {slots: 65535, kind: dense, fields: {value: u64}}\n',
);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-writer-'));
  dropIdleMemories(); // each of these has the memory it is granted, no larger one of a writer before
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Grants what a writer needs to begin, and nothing more. */
const meagre: WriterBudget = {
  grant: async () => {},
  extend: () => {
    throw new UscopeError('BRIDGE_NO_MEMORY', 'no more');
  },
};
const words = (first: number, end: number): Uint32Array => new Uint32Array(framesFrom(first, end).buffer);

function create(more: Partial<WriterOptions>): Promise<RecordWriter> {
  const path = join(directory, 'a.uscope');
  return RecordWriter.create({ path, schema, checkpointIntervalPs: 1000, budget: meagre, ...more });
}

it('a cut without memory for the next segment fails, and what came before is in the file', async () => {
  const writer = await create({});
  expect(() => writer.push(words(0, 200))).toThrow('BRIDGE_NO_MEMORY');
  const { frames } = await writer.close({ status: SessionStatus.CLOSED });
  expect(Number(frames)).toBeGreaterThan(0);
  expect(valuesOf(decodeFile(writer.path))).toEqual(upTo(Number(frames)));
});

it('a cut by the clock that fails is reported to the owner, and ends no process', async () => {
  // A busy machine may run the clock once between two frames: then the second frame makes the cut.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const disk = stuckDisk();
  const failures: Error[] = [];
  const writer = await create({
    checkpointIntervalPs: 10_000_000,
    maxDelayMs: 20,
    openOutput: disk.openOutput,
    onFailure: (error) => failures.push(error),
  });
  disk.isStuck = true;
  let frames = 0;
  // Every cut takes a checkpoint, and none is given back.
  while (failures.length === 0 && frames < 1000) {
    writer.push(words(frames, frames + 1));
    frames++;
    await vi.advanceTimersByTimeAsync(30);
  }
  expect(failures[0]).toMatchObject({ code: 'BRIDGE_NO_MEMORY' });
  disk.release();
  await writer.close({ status: SessionStatus.CLOSED });
  expect(valuesOf(decodeFile(writer.path))).toEqual(upTo(frames));
});

/** Files whose `sync` does not return as long as the disk is stuck. */
function stuckDisk(): { openOutput: OpenOutput; isStuck: boolean; release(): void } {
  let release!: () => void;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const disk = {
    isStuck: false,
    release,
    openOutput: async (...args: Parameters<OpenOutput>): Promise<OutputFile> => {
      const file = await openNodeOutput(...args);
      return new Proxy(file, {
        get(target, key) {
          const member = target[key as keyof OutputFile] as unknown;
          if (typeof member !== 'function') return member;
          if (key !== 'sync') return member.bind(target);
          return async () => {
            if (disk.isStuck) await released;
            return target.sync();
          };
        },
      });
    },
  };
  return disk;
}
