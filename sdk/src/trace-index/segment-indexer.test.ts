/** A writer stores the index of each segment behind its commit record: the one that the reference makes of what is read back. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { align8 } from '../base/bytes.js';
import { commitRecordSize } from '../format/commit-record.js';
import { decodeIndexContainer } from '../format/index-container.js';
import type { CompressionName } from '../format/types.js';
import { memorySource, openTrace, type Trace } from '../reader/index.js';
import { parseSchema } from '../schema/index.js';
import type { SegmentIndexerFactory } from '../writer/contract/segment-indexer.js';
import { TraceWriter } from '../writer/index.js';
import { indexPlan } from './plan.js';
import { FIRST, referenceContainer } from './reference/reference-pass.js';
import { addAtOnce, createSegmentIndexer } from './segment-indexer.js';
import { fitContainer } from './size-limit.js';

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

const atOnce: SegmentIndexerFactory = (given, dut, carry) => {
  const add = addAtOnce(indexPlan(given, dut), carry);
  return add && { add, fit: fitContainer };
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

/** What stands behind the commit record of each segment. */
async function containersOf(bytes: Uint8Array, trace: Trace) {
  return (await trace.segments()).map(({ offset }) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const size = 56 + view.getUint32(offset + 32, true) + view.getUint32(offset + 36, true);
    const record = align8(offset + size);
    return decodeIndexContainer(bytes.subarray(record + commitRecordSize(bytes.subarray(record))));
  });
}

describe('a trace that is written with an index', () => {
  it.each([
    ['on the threads that compress', createSegmentIndexer, 'lz4'],
    ['at once, without the addon', atOnce, 'lz4'],
    ['of segments that are not compressed', createSegmentIndexer, 'none'],
  ] as const)('has one behind each segment: %s', async (_, index, compression) => {
    const bytes = await write(12_000, compression, index);
    const trace = await openTrace(memorySource(bytes));
    const plan = indexPlan(trace.schema, trace.dut);
    const containers = await containersOf(bytes, trace);
    expect(containers.length).toBe(12);
    let carry = FIRST;
    for (const [index, container] of containers.entries()) {
      const made = referenceContainer(plan, await trace.loadSegment(index), carry);
      expect(container).toEqual(decodeIndexContainer(made.container));
      carry = made.carry;
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
});
