/** A trace of a small core, written by `TraceWriter` as a model would: instructions, stalls, a counter and a buffer, of any length. */
import { parseSchema } from '../../sdk/src/schema/index.js';
import type { SegmentIndexerFactory } from '../../sdk/src/writer/contract/segment-indexer.js';
import { TraceWriter } from '../../sdk/src/writer/index.js';

const { schema } = parseSchema(`
uscope: 1
dut: {cpu.protocol_version: "0.1", cpu.isa: RV32, cpu.pipeline_stages: "fetch,execute"}
clocks: {clk: 1000}
enums: {stage: [fetch, execute], stall_reason: [dcache_miss, full]}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 16, kind: sparse, fields: {entity_id: u32, pc: u64}}
      done: counter
      queue: {slots: 8, kind: buffer, fields: {entity_id: u32}}
    events:
      stage_transition: {entity_id: u32, stage: stage}
      stall: {reason: stall_reason}
`);
/** Cycles between two instructions. */
export const PIPELINE_STEP = 20;
const SLOTS = 16;

interface Written {
  readonly path: string;
  /** null: none. */
  readonly index: SegmentIndexerFactory | null;
  readonly segmentCycles: number;
}

/** All but the last 16 instructions retire. */
export async function writePipeline(
  { path, index, segmentCycles }: Written,
  instructions: number,
): Promise<void> {
  const checkpointIntervalPs = BigInt(segmentCycles) * 1000n;
  const writer = await TraceWriter.create({ path, schema, index, checkpointIntervalPs });
  for (let id = 0; id < instructions; id++) {
    writer.beginCycle(id * PIPELINE_STEP * 1000);
    const slot = id % SLOTS;
    if (id >= SLOTS) {
      writer.slotClear('core0/entities', slot);
      writer.slotAdd('core0/done', 0, 'count', 1);
    }
    writer.slotSet('core0/entities', slot, 'entity_id', id);
    writer.slotSet('core0/entities', slot, 'pc', 0x8000_0000 + (id % 4096) * 4);
    writer.event('core0/stage_transition', { entity_id: id, stage: 'fetch' });
    if (id % 3 === 0) writer.slotSet('core0/queue', id % 8, 'entity_id', id);
    else writer.slotClear('core0/queue', (id * 5) % 8);
    if (id % 11 === 0) writer.event('core0/stall', { reason: id % 2 === 0 ? 'dcache_miss' : 'full' });
    if (!writer.endCycle()) await writer.ready();
  }
  await writer.close();
}
