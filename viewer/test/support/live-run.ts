/** A run of the made-up pipeline that is written while the test looks on: by the writer itself, into a file, a stretch at a time. */
import { createCpuSummarizer, TraceWriter } from 'uscope/writer';
import { createSegmentIndexer } from '../../../sdk/dist/trace-index/recording/segment-indexer.js';
import { Action, fieldSize } from '../../../sdk/src/format/types.js';
import { lockPath } from '../../../sdk/src/writer/output/path-lock.js';
import { type Model, modelSchema, PERIOD_PS, STAGES } from '../../../test/support/pipeline-model.js';

const SEGMENT_CYCLES = 200;

export interface LiveRun {
  /** Cycles up to this one, all of them in the file. */
  runTo(cycle: number): Promise<void>;
  close(): Promise<void>;
  /** As a process that is killed leaves it. */
  abandon(): Promise<void>;
}

export async function startLiveRun(path: string, model: Model): Promise<LiveRun> {
  const schema = modelSchema();
  // As the daemon holds one: without it a page soon says that nobody writes the trace any more.
  const lock = await lockPath(path);
  const writer = await TraceWriter.create({
    path,
    schema,
    dut: [['cpu.pipeline_stages', STAGES.join(',')]],
    checkpointIntervalPs: SEGMENT_CYCLES * PERIOD_PS,
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
  });
  for (const text of model.strings) writer.string(text);
  let next = 0;
  return {
    async runTo(cycle) {
      for (; next < model.frames.length; next++) {
        const { timePs, items } = model.frames[next]!;
        if (timePs > BigInt(cycle * PERIOD_PS)) break;
        writer.beginCycle(timePs);
        for (const item of items) {
          if (item.kind === 'event') writer.event(item.eventTypeId, fieldsOf(item.eventTypeId, item.payload));
          else if (item.action === Action.SET)
            writer.slotSet(item.storageId, item.slot, item.field, item.value);
          else if (item.action === Action.CLEAR) writer.slotClear(item.storageId, item.slot);
          else throw new Error(`the model has no action ${item.action}`);
        }
        if (!writer.endCycle()) await writer.ready();
      }
      await writer.flush();
    },
    async close() {
      await writer.close();
      lock.release();
    },
    async abandon() {
      await writer.flush();
      lock.release();
    },
  };

  function fieldsOf(type: number, payload: Uint8Array): number[] {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    let offset = 0;
    return schema.events[type]!.fields.map((field) => {
      const size = fieldSize(field.type);
      const value =
        size === 1
          ? view.getUint8(offset)
          : size === 2
            ? view.getUint16(offset, true)
            : view.getUint32(offset, true);
      offset += size;
      return value;
    });
  }
}
