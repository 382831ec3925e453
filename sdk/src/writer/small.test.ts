import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import { openTraceFile } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { smallInterval, TraceWriter, type WriterOptions } from './index.js';

// Threads compress with ZSTD.
limitOfFile(THREADS_MS);

const { schema } = parseSchema(
  'uscope: 1\ndut: {dut_name: t}\nclocks: {clk: 1000}\nscopes: {top: {clock: clk, storages: {r: {kind: dense, slots: 64, fields: {v: u32}}}}}\n',
);
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-small-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function write(name: string, options: Partial<WriterOptions>) {
  const path = join(directory, name);
  const writer = await TraceWriter.create({ path, schema, ...options });
  for (let cycle = 0; cycle < 100_000; cycle++) {
    writer.beginCycle(cycle * 1000);
    writer.slotSet(0, cycle % 64, 0, (cycle * 7) & 0xffff);
    writer.endCycle();
    if (cycle % 4096 === 0) await writer.ready();
  }
  await writer.close();
  return path;
}

describe('small files', () => {
  it('double the checkpoint interval, as long as it stays a u64', () => {
    expect(smallInterval(10_000_000n)).toBe(20_000_000n);
    expect(smallInterval(1n << 63n)).toBe(1n << 63n);
  });

  it.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))('are smaller, and hold the same', async () => {
    const [plain, small] = [await write('plain.uscope', {}), await write('small.uscope', { small: true })];
    expect(statSync(small).size).toBeLessThan(statSync(plain).size * 0.8);
    const contents = [];
    for (const path of [plain, small]) {
      const trace = await openTraceFile(path);
      const seen: unknown[] = [];
      await trace.scan({}, { op: (op) => void seen.push(`${op.slot}=${op.value}`) });
      contents.push(seen.join());
      if (path === small) expect(trace.config.checkpointIntervalPs).toBe(20_000_000n);
      await trace.close();
    }
    expect(contents[1]).toBe(contents[0]);
  });

  it.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))('keep an interval that is given', async () => {
    const trace = await openTraceFile(
      await write('given.uscope', { small: true, checkpointIntervalPs: 5_000_000 }),
    );
    expect(trace.config.checkpointIntervalPs).toBe(5_000_000n);
    await trace.close();
  });

  it('contradict another compression', async () => {
    await expect(write('none.uscope', { small: true, compression: 'lz4' })).rejects.toThrow(
      /^WRITER_COMPRESSION.*not "lz4"/,
    );
  });
});
