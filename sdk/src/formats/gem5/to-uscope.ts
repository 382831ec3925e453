/** gem5's O3PipeView to µScope. Three passes: what is there, how much of it at a time, and the copy. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { TraceStats } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { pcText } from '../pipeline/code-text.js';
import { coreOption, periodOption } from '../pipeline/options.js';
import { RetireType } from '../pipeline/retire-type.js';
import type { PipelineShape } from '../pipeline/shape.js';
import { type PipelineSink, writePipeline } from '../pipeline/sink.js';
import { TextBytes } from '../text/text-bytes.js';
import { type Gem5Event, type Gem5Summary, inOrder } from './order.js';
import type { Gem5Reader } from './reader.js';
import { GEM5_STAGES } from './types.js';

const RETIRE = GEM5_STAGES.length - 1;
const MAX_IN_FLIGHT = 65_535;
const MAX_PERIOD = 0xffff_ffff;

/** @throws UscopeError CONVERT_*, WRITER_* */
export async function gem5ToUscope(
  reader: Gem5Reader,
  summary: Gem5Summary,
  target: TraceTarget,
  context: ConversionContext,
): Promise<TraceStats> {
  const shape = await shapeOf(reader, summary, context.options);
  const checkpointIntervalPs = target.checkpointIntervalPs ?? intervalOf(summary);
  return writePipeline(shape, { ...target, checkpointIntervalPs }, context, (sink) =>
    tolerateCut(async () => {
      for await (const batch of inOrder(reader, summary)) {
        context.signal?.throwIfAborted();
        for (const event of batch) {
          sink.moveTo(event.time);
          if (sink.isFull) await sink.push();
          put(sink, event, context);
        }
      }
    }),
  );
}

/** An instruction is about as many items as it has stages. */
function intervalOf({ instructions, firstTick, lastTick }: Gem5Summary): bigint {
  return checkpointIntervalFor(BigInt(Math.max(0, lastTick - firstTick)), instructions * GEM5_STAGES.length);
}

/** The summary has told of the cut. */
async function tolerateCut(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
  }
}

async function shapeOf(
  reader: Gem5Reader,
  summary: Gem5Summary,
  options: ReadonlyMap<string, string>,
): Promise<PipelineShape> {
  const { tickStep } = summary;
  const found = tickStep > 0 && tickStep <= MAX_PERIOD ? `${tickStep} ps` : undefined;
  const periodPs = periodOption(options, found);
  const core = coreOption(options);
  const slots = await mostInFlight(reader, summary);
  const dut = [['log.format', 'gem5-o3pipeview']] as const;
  return { stages: GEM5_STAGES, slots, maxThread: 0, periodPs, core, isKanata: false, dut };
}

/** Those that end count until time moves on. */
async function mostInFlight(reader: Gem5Reader, summary: Gem5Summary): Promise<number> {
  let [now, most, ended, time] = [0, 0, 0, -1];
  await tolerateCut(async () => {
    for await (const batch of inOrder(reader, summary)) {
      for (const event of batch) {
        if (event.time !== time) {
          now -= ended;
          ended = 0;
          time = event.time;
        }
        if (event.stage === 0) most = Math.max(most, ++now);
        else if (isEnd(event)) ended++;
      }
    }
  });
  if (most <= MAX_IN_FLIGHT) return most;
  throw new UscopeError(
    'CONVERT_UNSUPPORTED',
    `${most} instructions are in flight at once; a trace follows ${MAX_IN_FLIGHT}`,
  );
}

function isEnd({ stage }: Gem5Event): boolean {
  return stage === -1 || stage === RETIRE;
}

const text = new TextBytes();

function put(sink: PipelineSink, { id, stage, instruction }: Gem5Event, { report }: ConversionContext): void {
  const { seq, pc, microPc, disassembly, storeTick } = instruction;
  if (stage === -1) {
    sink.retire(id, 0n, RetireType.FLUSHED);
    report.approximated('times of squashes', 'the log has none: when the last stage was entered').count++;
    return;
  }
  if (stage === 0) {
    sink.begin(id, seq, 0);
    sink.setPc(id, pc);
    sink.label(id, 0, text.set(`${pcText(pc, null)}: ${disassembly}`));
    if (microPc > 0) sink.label(id, 1, text.set(`micro-op ${microPc}`));
  }
  sink.start(id, 0, GEM5_STAGES[stage] ?? '');
  if (stage !== RETIRE) return;
  if (storeTick > 0) {
    sink.label(id, 1, text.set(`store written at ${storeTick} ps`));
    report.approximated('completion of stores', 'an annotation: it comes after the end').count++;
  }
  sink.retire(id, 0n, RetireType.RETIRED);
}
