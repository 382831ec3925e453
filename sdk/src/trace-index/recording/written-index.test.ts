/** The index of a trace that the writer has finalized: containers, directory, and what they answer. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTraceFile } from '../../reader/node.js';
import { parseSchema } from '../../schema/index.js';
import { verifyTrace } from '../../tools/verify/index.js';
import { TraceWriter } from '../../writer/index.js';
import { DIRECTORY_SECTION } from '../directory/format.js';
import { ChannelKind, openIndex } from '../index.js';
import { createSegmentIndexer } from './segment-indexer.js';

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
storages:
  done: counter
events:
  mark: {x: u8}
`);
const CYCLES = 20_000;

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-written-'));
  path = join(directory, 'x.uscope');
});
afterEach(() => rm(directory, { recursive: true }));

async function write(index: typeof createSegmentIndexer | null): Promise<void> {
  const writer = await TraceWriter.create({ path, schema, index, checkpointIntervalPs: 10_000 });
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    writer.beginCycle(cycle * 10);
    writer.slotAdd('done', 0, 'count', 2);
    if (cycle % 5000 === 4321) writer.event('mark', { x: 1 });
    if (!writer.endCycle()) await writer.ready();
  }
  await writer.close();
}

describe('the index of a written trace', () => {
  it('has a directory, and answers without reading containers', async () => {
    await write(createSegmentIndexer);
    const trace = await openTraceFile(path);
    expect(trace.section(DIRECTORY_SECTION)).not.toBeNull();
    const index = await openIndex(trace);
    const { channels, length } = await index!.series(
      { kind: ChannelKind.DELTA, name: 'done' },
      { intervals: 4 },
    );
    expect(length).toBeLessThanOrEqual(4);
    expect(channels[0]!.columns[0]!.values.reduce((a, b) => a + b)).toBe(CYCLES * 2);
    const mark = { channel: { kind: ChannelKind.EVENTS, name: 'mark' } };
    expect(await index!.next(mark, 0)).toBe(4321);
    expect(await index!.next(mark, 4322)).toBe(9321);
    expect(await index!.previous(mark, CYCLES)).toBe(19_321);
    expect(trace.warnings).toEqual([]);
    await trace.close();
  });

  it('is not there without an indexer', async () => {
    await write(null);
    const trace = await openTraceFile(path);
    expect([trace.section(DIRECTORY_SECTION), await openIndex(trace)]).toEqual([null, null]);
    await trace.close();
  });

  it('passes the check of the whole file', async () => {
    await write(createSegmentIndexer);
    const { openSource } = await import('../../reader/node.js');
    const source = await openSource(path);
    const report = await verifyTrace(source);
    expect(report.findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
    await source.close?.();
  });
});
