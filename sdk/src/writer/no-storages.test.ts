/** A trace of events alone: no storage, so every checkpoint is empty. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileSource, openTraceFile } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { verifyTrace } from '../tools/verify/index.js';
import { TraceWriter } from './index.js';

const SCHEMA = `
uscope: 1
clocks: { clk: 1 ns }
scopes:
  top:
    clock: clk
    events: { tick: { n: u32 } }
`;
const directory = mkdtempSync(join(tmpdir(), 'uscope-no-storages-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(['native', 'wasm', 'typescript'] as const)('a schema without storages (%s)', (kernel) => {
  it('is written with checksums that hold, over several segments', async () => {
    const path = join(directory, `${kernel}.uscope`);
    const { schema, dut } = parseSchema(SCHEMA);
    const writer = await TraceWriter.create({
      path,
      schema,
      dut,
      kernel,
      checkpointIntervalPs: 10_000,
      maxDelayMs: 0,
    });
    for (let cycle = 0; cycle < 100; cycle++) {
      writer.beginCycle(cycle * 1000);
      writer.event('top/tick', [cycle]);
      writer.endCycle();
    }
    expect((await writer.close()).segments).toBeGreaterThan(5);
    const trace = await openTraceFile(path);
    let events = 0;
    await trace.scan({}, { event: () => void events++ });
    expect(events).toBe(100);
    await trace.close();
    const source = await fileSource(path);
    expect((await verifyTrace(source)).findings).toEqual([]);
    await source.close?.();
  });
});
