/** A writer that is cancelled writes nothing more of what waits, and ends without its disk having caught up. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { coreSchema } from '../../../test/support/build-trace.js';
import { UscopeError } from '../base/errors.js';
import { SessionStatus } from '../format/session-chunk.js';
import { type OpenOutput, openNodeOutput } from './output/output-file.js';
import { RecordWriter } from './record-writer.js';
import { RecordBatch } from './records/record-batch.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-discard-'));
});
afterAll(() => rm(directory, { recursive: true }));

const end = { status: SessionStatus.CLOSED };

/** A disk that counts its writes, and whose next sync waits until it is let go, or fails. */
function slowDisk() {
  const disk = { writes: 0, syncs: 0, isSlow: false, letGo: () => {}, full: false };
  const openOutput: OpenOutput = async (path, mode) => {
    const file = await openNodeOutput(path, mode);
    const { write, sync } = file;
    return Object.assign(file, {
      async write(chunks: readonly Uint8Array[], position: number) {
        disk.writes++;
        if (disk.full) throw new UscopeError('WRITER_DISK_FULL', 'no room', { file: path });
        await write.call(file, chunks, position);
      },
      async sync() {
        disk.syncs++;
        if (disk.isSlow) await new Promise<void>((resolve) => Object.assign(disk, { letGo: resolve }));
        await sync.call(file);
      },
    });
  };
  return { disk, openOutput };
}

/** `count` frames, each a segment. */
function frames(first: number, count: number): Uint32Array {
  const batch = new RecordBatch();
  for (let i = first; i < first + count; i++) {
    batch.begin(BigInt(i) * 1000n);
    batch.end(0, i);
  }
  return batch.words.slice(0, batch.length);
}

async function writerOn(openOutput: OpenOutput, name: string, controller: AbortController) {
  return RecordWriter.create({
    ...{ path: join(directory, name), schema: coreSchema, openOutput, signal: controller.signal },
    ...{ checkpointIntervalPs: 1000n, maxDelayMs: 0 },
  });
}

it('writes nothing of the segments that wait, and fails with the reason of the signal', async () => {
  const { disk, openOutput } = slowDisk();
  const controller = new AbortController();
  const writer = await writerOn(openOutput, 'waiting.uscope', controller);
  disk.isSlow = true;
  const before = disk.syncs;
  writer.push(frames(0, 1));
  writer.push(frames(1, 500));
  while (disk.syncs === before) await new Promise(setImmediate);
  writer.push(frames(501, 500));
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(writer.ready()).rejects.toBe(reason);
  expect(() => writer.push(frames(1001, 1))).toThrow(reason);
  const { writes, syncs } = disk;
  const closed = writer.close(end);
  disk.isSlow = false;
  disk.letGo();
  await expect(closed).rejects.toBe(reason);
  // the group under way ends: its second half, and no other group, nor the file's end
  expect(disk.writes - writes).toBeLessThanOrEqual(2);
  expect(disk.syncs - syncs).toBeLessThanOrEqual(1);
});

it('does not wait for room on a full disk', async () => {
  const { disk, openOutput } = slowDisk();
  const controller = new AbortController();
  const writer = await writerOn(openOutput, 'full.uscope', controller);
  disk.full = true;
  writer.push(frames(0, 10));
  const closed = writer.close(end);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(closed).rejects.toBe(reason);
});

it('is given up when the signal was raised before', async () => {
  const { openOutput } = slowDisk();
  const controller = new AbortController();
  controller.abort(new Error('before'));
  const writer = await writerOn(openOutput, 'before.uscope', controller);
  expect(() => writer.push(frames(0, 1))).toThrow('before');
  await expect(writer.close(end)).rejects.toThrow('before');
});
