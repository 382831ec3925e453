/** A writer stores the index of each segment in its commit record: the one that the reference makes of what is read back. */
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { oracleContainer } from '../../../../test/oracle/index/index-pass.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { align8 } from '../../base/bytes.js';
import { indexOfRecord } from '../../format/commit-record.js';
import { decodeIndexContainer, isIndexContainer } from '../../format/index-container.js';
import { Action, type CompressionName } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import type { SegmentIndexerFactory } from '../../writer/contract/segment-indexer.js';
import { RecordWriter, resumeTrace, TraceWriter } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { appendDirectory } from '../directory/append-directory.js';
import { DIRECTORY_SECTION } from '../directory/format.js';
import { FIRST } from '../pass/index-pass.js';
import { indexPlan } from '../plan.js';
import { GrowingDirectory } from './growing-directory.js';
import { addAtOnce, carryBehind, createSegmentIndexer } from './segment-indexer.js';
import { fitContainer } from './size-limit.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
enums: {why: [full, miss]}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 16, kind: sparse, fields: {entity_id: u32, pc: u64}}
      cycles: counter
    events:
      stall: {reason: why}
`);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-index-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const atOnce: SegmentIndexerFactory = (given, dut, before) => {
  const plan = indexPlan(given, dut);
  const add = addAtOnce(plan, carryBehind(plan, before));
  return {
    add,
    toStore: (made, segmentBytes) => made && fitContainer(plan, made, segmentBytes),
    directory: async (file, output) => {
      await appendDirectory(plan, file, output);
      return true;
    },
  };
};

async function write(cycles: number, compression: CompressionName, index: SegmentIndexerFactory | null) {
  const path = join(directory, 'x.uscope');
  const writer = await TraceWriter.create({ path, schema, compression, index, checkpointIntervalPs: 10_000 });
  for (let cycle = 0; cycle < cycles; cycle++) {
    writer.beginCycle(cycle * 10);
    if (cycle % 3 === 0) writer.slotSet('core0/entities', (cycle / 3) % 16, 'entity_id', (cycle / 3) % 16);
    if (cycle % 5 === 0) writer.slotClear('core0/entities', (cycle / 5) % 16);
    writer.slotAdd('core0/cycles', 0, 'count', 1);
    if (cycle % 7 < 3) writer.event('core0/stall', { reason: cycle % 2 });
    if (!writer.endCycle()) await writer.ready();
  }
  await writer.close();
  return new Uint8Array(await readFile(path));
}

/** What is in the commit record of each segment. */
async function containersOf(bytes: Uint8Array, trace: Trace) {
  return (await trace.segments()).map(({ offset }) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const size = 56 + view.getUint32(offset + 32, true) + view.getUint32(offset + 36, true);
    const record = bytes.subarray(align8(offset + size));
    return decodeIndexContainer(record.subarray(indexOfRecord(record)!.offset));
  });
}

/** The index of each segment is the one that the reference makes of it; returns how many there are. */
async function expectReference(bytes: Uint8Array): Promise<number> {
  const trace = await openTrace(memorySource(bytes));
  const plan = indexPlan(trace.schema, trace.dut);
  const containers = await containersOf(bytes, trace);
  let carry = FIRST;
  for (const [index, container] of containers.entries()) {
    const segment = await trace.loadSegment(index);
    const made = oracleContainer(plan, segment, carry);
    const { checkpointSize, deltasCompressedSize } = segment.header;
    // Small segments have room for a part of it.
    const stored = fitContainer(plan, made.container, checkpointSize + deltasCompressedSize)!;
    expect({ ...container, segmentOffset: 0n }).toEqual({
      ...decodeIndexContainer(stored, 0, null),
      segmentOffset: 0n,
    });
    carry = made.carry;
  }
  return containers.length;
}

/** Cycles in which every third one takes a slot of the catalogue, and every fifth one frees one. */
function push(writer: RecordWriter, from: number, to: number): void {
  const batch = new RecordBatch();
  for (let cycle = from; cycle < to; cycle++) {
    const [third, fifth] = [cycle % 3 === 0, cycle % 5 === 0];
    batch.begin(cycle * 10);
    if (third) batch.op(Action.SET, 0, (cycle / 3) % 16, 0, (cycle / 3) % 16, 0);
    if (fifth) batch.op(Action.CLEAR, 0, (cycle / 5) % 16, 0, 0, 0);
    batch.op(Action.ADD, 1, 0, 0, 1, 0);
    batch.end(1 + Number(third) + Number(fifth), cycle);
  }
  writer.push(batch.words, 0, batch.length);
}

describe('a trace that is written with an index', () => {
  it.each([
    ['on the threads that compress', createSegmentIndexer, 'lz4'],
    ['at once, without the addon', atOnce, 'lz4'],
    ['of segments that are not compressed', createSegmentIndexer, 'none'],
  ] as const)('has one with each segment: %s', async (_, index, compression) => {
    const bytes = await write(12_000, compression, index);
    expect(await expectReference(bytes)).toBe(12);
  });

  it('has the directory that its containers make, though it grows with them', async () => {
    const directoryOf = async (index: SegmentIndexerFactory) => {
      const bytes = await write(12_000, 'lz4', index);
      const { offset, size } = (await openTrace(memorySource(bytes))).section(DIRECTORY_SECTION)!;
      return Buffer.from(bytes.subarray(Number(offset), Number(offset) + Number(size))).toString('hex');
    };
    expect(await directoryOf(createSegmentIndexer)).toBe(await directoryOf(atOnce));
  });

  it('closes without reading what it has written', async () => {
    const trace = await openTrace(memorySource(await write(3000, 'lz4', null)));
    const indexer = createSegmentIndexer(trace.schema, trace.dut, new Uint8Array(0))!;
    for (let segment = 0; segment < trace.segmentCount; segment++) {
      const { header, checkpoint, deltas: frames } = await trace.loadSegment(segment);
      const { timeStartPs } = header;
      const made = await indexer.add({ frames, checkpoint, timeStartPs, isTransient: true });
      indexer.toStore(made, checkpoint.length + header.deltasCompressedSize);
    }
    const file = {
      segments: trace.segmentCount,
      bytes: 100_000,
      startPs: 0n,
      endPs: trace.totalTimePs,
      container: () => Promise.reject(new Error('read')),
      containerEnd: (segment: number) => 1000 * (segment + 1),
    };
    let appended = 0;
    const append = async (bytes: Uint8Array) => {
      appended += bytes.length;
    };
    await indexer.directory(file, { position: 0, append });
    expect(appended).toBeGreaterThan(0);
    // A file of other segments: its containers are read.
    const other = { ...file, segments: file.segments - 1 };
    await expect(indexer.directory(other, { position: 0, append })).rejects.toThrow('read');
  });

  it('does not keep levels that are too large: they are made again at the end', async () => {
    const trace = await openTrace(memorySource(await write(3000, 'lz4', createSegmentIndexer)));
    const plan = indexPlan(trace.schema, trace.dut);
    const end = (segment: number) => 1000 * (segment + 1);
    const { segmentCount: segments, totalTimePs: endPs } = trace;
    const file = {
      ...{ segments, bytes: 100_000, startPs: 0n, endPs },
      ...{ container: () => Promise.resolve(null), containerEnd: end },
    };
    for (const [maxBytes, isKept] of [
      [undefined, true],
      [-1, false], // a short trace puts nothing out before its end
    ] as const) {
      const growing = GrowingDirectory.open(plan, 0n, maxBytes)!;
      let carry = FIRST;
      for (let segment = 0; segment < segments; segment++) {
        const made = oracleContainer(plan, await trace.loadSegment(segment), carry);
        growing.add(made.container);
        carry = made.carry;
      }
      expect(growing.finish(file) !== null).toBe(isKept);
    }
  });

  it('is read as one without', async () => {
    const [withIndex, without] = [
      await write(5000, 'lz4', createSegmentIndexer),
      await write(5000, 'lz4', null),
    ];
    const read = async (bytes: Uint8Array) => {
      const trace = await openTrace(memorySource(bytes));
      const items = [];
      for await (const { timePs, item } of trace.items()) items.push([timePs, item]);
      return { items, warnings: trace.warnings };
    };
    expect(withIndex.length).toBeGreaterThan(without.length);
    expect(await read(withIndex)).toEqual(await read(without));
  });

  it('continues where it was when it is resumed after a kill', async () => {
    const options = { path: join(directory, 'x.uscope'), schema, sessionId: new Uint8Array(16).fill(7) };
    const more = { index: createSegmentIndexer, checkpointIntervalPs: 10_000 };
    const killed = await RecordWriter.create({ ...options, ...more });
    push(killed, 0, 5500);
    await killed.flush();
    await copyFile(options.path, `${options.path}.killed`);
    await killed.close({ status: 1 });
    await rename(`${options.path}.killed`, options.path);
    const resumed = (await resumeTrace({ ...options, ...more }))!;
    push(resumed, Number(resumed.nextFrame), 12_000);
    await resumed.close({ status: 1 });
    expect(await expectReference(new Uint8Array(await readFile(options.path)))).toBeGreaterThan(10);
  });

  it('keeps its segments where a bit of an index flips, and not where one beside it does', async () => {
    const bytes = await write(2000, 'lz4', createSegmentIndexer);
    const whole = await openTrace(memorySource(bytes));
    const { offset, deltas } = await whole.loadSegment(0);
    const view = new DataView(bytes.buffer);
    const at = align8(offset + 56 + view.getUint32(offset + 32, true) + view.getUint32(offset + 36, true));
    const { offset: inRecord, size } = indexOfRecord(bytes.subarray(at))!;
    for (let byte = at + inRecord; byte < at + inRecord + size; byte += 7) {
      const flipped = bytes.slice();
      flipped[byte]! ^= 4;
      const trace = await openTrace(memorySource(flipped));
      expect(Buffer.compare((await trace.loadSegment(0)).deltas, deltas)).toBe(0);
      expect(isIndexContainer(flipped.subarray(at + inRecord))).toBe(false);
    }
    const spoilt = bytes.slice();
    spoilt[at + 24]! ^= 4;
    const trace = await openTrace(memorySource(spoilt));
    await expect(trace.loadSegment(0)).rejects.toThrow(/FORMAT_CHECKSUM/);
  });
});
