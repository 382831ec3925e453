/** Kanata to µScope: two passes, the first for what the schema has to know. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { createCpuSummarizer } from '../../semantics/cpu/index.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { type TraceStats, TraceWriter } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { coreOption, periodOption } from '../pipeline/options.js';
import { type PipelineShape, pipelineSchema } from '../pipeline/shape.js';
import { PipelineSink } from '../pipeline/sink.js';
import type { KanataReader } from './reader.js';
import { KanataClock, type KanataSummary } from './scan.js';
import type { KanataRecord } from './types.js';

/** DUT property: the log's cycle at time 0, where that is not cycle 0. */
export const CYCLE_AT_ZERO = 'kanata.cycle_at_zero';
const MAX_IN_FLIGHT = 65_535;
const MAX_TIME_PS = (1n << 63n) - 1n;

/** @throws UscopeError CONVERT_*, WRITER_* */
export async function kanataToUscope(
  reader: KanataReader,
  summary: KanataSummary,
  target: TraceTarget,
  context: ConversionContext,
): Promise<TraceStats> {
  const shape = shapeOf(summary, context.options);
  const writer = await TraceWriter.create({
    ...target,
    checkpointIntervalPs: target.checkpointIntervalPs ?? intervalOf(summary, shape),
    ...pipelineSchema(shape),
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
    signal: context.signal,
  });
  const sink = new PipelineSink(writer, shape, context.report);
  const zero = zeroOf(summary);
  try {
    await copy(reader, writer, sink, { zero, periodPs: BigInt(shape.periodPs) }, context);
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') {
      await sink.abandon();
      throw error;
    }
    context.onWarning?.(error.message);
  }
  sink.finish();
  return writer.close();
}

function shapeOf(summary: KanataSummary, options: ReadonlyMap<string, string>): PipelineShape {
  if (summary.maxInFlight > MAX_IN_FLIGHT) {
    throw new UscopeError(
      'CONVERT_UNSUPPORTED',
      `${summary.maxInFlight} instructions are in flight at once; a trace follows ${MAX_IN_FLIGHT} (a log that retires nothing?)`,
    );
  }
  const zero = zeroOf(summary);
  return {
    stages: summary.stages,
    slots: summary.maxInFlight,
    maxThread: summary.threads.at(-1) ?? 0,
    periodPs: periodOption(options),
    core: coreOption(options),
    isKanata: true,
    dut: [['log.format', 'kanata'], ...(zero === 0n ? [] : [[CYCLE_AT_ZERO, String(zero)] as const])],
  };
}

function intervalOf({ counts, firstCycle, lastCycle }: KanataSummary, { periodPs }: PipelineShape): bigint {
  const { begin, label, stage, dependency } = counts;
  const items = begin + label + stage + dependency;
  return checkpointIntervalFor((lastCycle - (firstCycle ?? lastCycle)) * BigInt(periodPs), items);
}

/** Cycles before 0 are moved: times begin at 0. */
function zeroOf({ firstCycle }: KanataSummary): bigint {
  return firstCycle !== null && firstCycle < 0n ? firstCycle : 0n;
}

async function copy(
  reader: KanataReader,
  writer: TraceWriter,
  sink: PipelineSink,
  { zero, periodPs }: { zero: bigint; periodPs: bigint },
  { signal }: ConversionContext,
): Promise<void> {
  const clock = new KanataClock();
  let cycle = zero;
  for await (const batch of reader.batches()) {
    signal?.throwIfAborted();
    for (const { record, offset } of batch) {
      try {
        const isTime = clock.take(record);
        // Before the first instruction any cycle may be set: that is where the log begins.
        if (isTime && clock.first === null) continue;
        if (clock.cycle < cycle)
          throw new UscopeError('CONVERT_FORMAT', `cycle ${clock.cycle} follows cycle ${cycle}`);
        cycle = clock.cycle;
        const timePs = (cycle - zero) * periodPs;
        if (timePs > MAX_TIME_PS)
          throw new UscopeError('CONVERT_LIMIT', `cycle ${cycle} lies beyond the times of a trace`);
        if (!sink.moveTo(timePs)) await writer.ready();
        if (!isTime) put(sink, record);
      } catch (error) {
        throw isUscopeError(error) ? error.at({ offset }) : error;
      }
    }
  }
}

function put(sink: PipelineSink, record: KanataRecord): void {
  switch (record.kind) {
    case 'begin':
      sink.begin(record.id, record.gid, record.tid);
      return;
    case 'label':
      sink.label(record.id, record.type, record.text);
      return;
    case 'start':
      sink.start(record.id, record.lane, record.stage);
      return;
    case 'end':
      sink.end(record.id, record.lane, record.stage);
      return;
    case 'retire':
      sink.retire(record.id, record.rid, record.type);
      return;
    case 'dependency':
      sink.dependency(record.consumer, record.producer, record.type);
      return;
  }
}
