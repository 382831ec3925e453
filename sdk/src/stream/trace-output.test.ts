import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cpuSchema } from '../../../test/support/schemas.js';
import { HEADER_SIZE } from '../format/header.js';
import { SessionStatus } from '../format/session-chunk.js';
import { openTraceFile } from '../reader/node.js';
import { type OpenOutput, openNodeOutput } from '../writer/index.js';
import { RecordBatch } from '../writer/records/record-batch.js';
import { withOutput } from './trace-output.js';

const SEGMENTS = 40;

/** Notes what is done: `write` behind the header, `head` in it, `sync`. */
function watched(operations: string[]): OpenOutput {
  return async (...target) => {
    const file = await openNodeOutput(...target);
    return {
      path: file.path,
      write: (chunks, position) => {
        operations.push(position >= HEADER_SIZE ? 'write' : 'head');
        return file.write(chunks, position);
      },
      read: (...range) => file.read(...range),
      sync: () => {
        operations.push('sync');
        return file.sync();
      },
      syncDirectory: () => file.syncDirectory(),
      size: () => file.size(),
      truncate: (size) => file.truncate(size),
      close: () => file.close(),
    };
  };
}

it('waits for the disk only when the trace is whole, and then before it says so', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-output-'));
  const path = join(directory, 'a.uscope');
  const operations: string[] = [];
  const batch = new RecordBatch();
  let before: string[] = [];
  await withOutput(
    { path, schema: cpuSchema(), checkpointIntervalPs: 1000, openOutput: watched(operations) },
    batch,
    undefined,
    async (output) => {
      for (let frame = 0; frame < SEGMENTS; frame++) {
        batch.begin(1000 * frame);
        batch.end(0, output.frames++);
        await output.push();
      }
      while (!operations.includes('write')) await new Promise((resolve) => setImmediate(resolve));
      before = [...operations];
      return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
    },
  );
  expect(before).not.toContain('sync');
  // Tail sections, the header without F_COMPLETE, the flags: each is durable before the next.
  const phases = operations.join(' ').split('sync').slice(-4);
  expect(phases.map((phase) => phase.trim().split(' ')[0])).toEqual(['write', 'head', 'head', '']);
  const trace = await openTraceFile(path);
  expect(trace.isComplete).toBe(true);
  expect((await trace.segments()).length).toBe(SEGMENTS);
  await trace.close();
  rmSync(directory, { recursive: true });
});
