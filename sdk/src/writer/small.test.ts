import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import type { TraceSummary } from '../format/tsum.js';
import { fileSource, openTraceFile } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { verifyTrace } from '../tools/verify/index.js';
import { smallInterval, TraceWriter, type WriterOptions } from './index.js';
import { createCpuSummarizer } from './summary/cpu-summarizer.js';

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

/** Counters alone: less is in the segments than in the summary of them. */
async function count(name: string, options: Partial<WriterOptions>): Promise<TraceSummary> {
  const counters = Array.from({ length: 8 }, (_, i) => `n${i}: counter`).join(', ');
  const counting = parseSchema(
    `uscope: 1\ndut: {dut_name: t}\nclocks: {clk: 1000}\nscopes: {top: {clock: clk, storages: {${counters}}}}\n`,
  );
  const path = join(directory, name);
  const writer = await TraceWriter.create({
    path,
    schema: counting.schema,
    summarizer: createCpuSummarizer,
    ...options,
  });
  for (let cycle = 0; cycle < 400_000; cycle += 4) {
    writer.beginCycle(cycle * 1000);
    writer.slotAdd((cycle / 4) % 8, 0, 0, 1);
    writer.endCycle();
    if (cycle % 4096 === 0) await writer.ready();
  }
  await writer.close();
  const trace = await openTraceFile(path);
  const summary = await trace.summary();
  await trace.close();
  return summary!;
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

  it.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))(
    'have a summary of at most a sixteenth, whose sums are those of the whole one',
    async () => {
      const counting = await Promise.all([
        count('counted.uscope', {}),
        count('coarse.uscope', { small: true }),
      ]);
      const [whole, coarse] = counting as [TraceSummary, TraceSummary];
      expect(coarse.baseIntervalCycles).toBeGreaterThan(whole.baseIntervalCycles);
      const bytes = statSync(join(directory, 'coarse.uscope')).size;
      const buckets = coarse.counters
        .flatMap(({ levels }) => levels)
        .reduce((sum, level) => sum + level.sum.length, 0);
      expect(buckets * 24).toBeLessThan(bytes / 16);
      expect(statSync(join(directory, 'counted.uscope')).size).toBeGreaterThan(2 * bytes);
      const total = ({ counters }: TraceSummary) => counters.map(({ levels }) => levels.at(-1)!.sum[0]);
      expect(total(coarse)).toEqual(total(whole));
      const source = await fileSource(join(directory, 'coarse.uscope'));
      expect((await verifyTrace(source)).findings).toEqual([]);
      await source.close?.();
    },
  );

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
