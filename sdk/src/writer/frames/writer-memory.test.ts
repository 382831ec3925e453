/** Memory of writers that are over is used again, and no writer sees anything of the one before it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { framesFrom } from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { parseSchema } from '../../schema/index.js';
import { RecordWriter } from '../record-writer.js';
import { WriterMemory } from './writer-memory.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-memory-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const schemaOf = (slots: number) =>
  parseSchema(
    `uscope: 1\nclocks: {clk: 1000 ps}\nstorages:\n  regs: {slots: ${slots}, kind: dense, fields: {value: u64}}\n`,
  ).schema;

async function write(name: string, slots: number, frames: number): Promise<string> {
  const path = join(directory, `${name}.uscope`);
  const writer = await RecordWriter.create({
    path,
    schema: schemaOf(slots),
    checkpointIntervalPs: 1_000_000,
  });
  writer.push(new Uint32Array(framesFrom(0, frames, 8).buffer));
  await writer.close({ status: SessionStatus.CLOSED });
  expect(writer.windows).toEqual([]);
  return path;
}

describe('the memory of a writer', () => {
  it('is that of one before it, all zeros where it must be', () => {
    const memory = WriterMemory.create()!;
    const block = memory.take(100_000).fill(0xff);
    const address = memory.place(4000);
    new Uint8Array(memory.memory.buffer, address, 4000).fill(0xff);
    expect(memory.retire()).toEqual([]);
    const again = WriterMemory.create()!;
    expect(again).toBe(memory);
    const placed = again.place(300_000);
    expect(placed).toBeLessThanOrEqual(block.byteOffset);
    expect(new Uint8Array(again.memory.buffer, placed, 300_000).every((byte) => byte === 0)).toBe(true);
    expect(again.take(5000).byteOffset).toBeGreaterThanOrEqual(placed + 300_000);
    again.retire();
  });

  it('goes to nobody else while it is used, and is given up beyond a limit', () => {
    const memories = Array.from({ length: 40 }, () => WriterMemory.create()!);
    expect(new Set(memories).size).toBe(40);
    const dropped = memories.flatMap((memory) => memory.retire());
    expect(dropped.length).toBeGreaterThanOrEqual(8);
    const next = Array.from({ length: 40 }, () => WriterMemory.create()!);
    for (const memory of dropped) expect(next).not.toContain(memory);
    for (const memory of next) memory.retire();
  });

  it('holds checkpoints only until their segments are durable: many commits take no more of it than a few', async () => {
    const path = join(directory, 'checkpoints.uscope');
    const options = { path, schema: schemaOf(1024), checkpointIntervalPs: 1_000_000n };
    const writer = await RecordWriter.create(options);
    const taken = vi.spyOn(WriterMemory.prototype, 'take');
    const addresses = new Set<number>();
    for (let round = 0; round < 50; round++) {
      writer.push(new Uint32Array(framesFrom(round * 10, round * 10 + 10, 8).buffer));
      await writer.flush();
    }
    for (const { value } of taken.mock.results) addresses.add((value as Uint8Array).byteOffset);
    expect(taken.mock.calls.filter(([size]) => size >= 8192 && size < 16_384).length).toBeGreaterThanOrEqual(
      50,
    );
    expect(addresses.size).toBeLessThan(10);
    taken.mockRestore();
    await writer.close({ status: SessionStatus.CLOSED });
  });

  it('of many traces, several at a time, is that of as many as there were at once', async () => {
    await Promise.all([write('warm0', 16, 10), write('warm1', 16, 10), write('warm2', 16, 10)]);
    const made = vi.spyOn(WebAssembly, 'Memory');
    for (let round = 0; round < 4; round++) {
      await Promise.all([0, 1, 2].map((i) => write(`${round}-${i}`, 16 << (round + i), 2000)));
    }
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  it('leaves nothing of one trace in the next', async () => {
    const alone = decodeFile(await write('first', 16, 3000));
    await write('other', 4096, 5000);
    const after = decodeFile(await write('second', 16, 3000));
    expect(after.segments).toEqual(alone.segments);
  });
});
