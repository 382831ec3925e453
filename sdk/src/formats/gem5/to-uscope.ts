/** gem5's O3PipeView to µScope. Two passes: what is there, and the copy. */
import { isUscopeError } from '../../base/errors.js';
import type { Schema } from '../../format/types.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import type { TraceStats } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport } from '../common/report.js';
import { MAX_IN_FLIGHT } from '../pipeline/errors.js';
import type { PipelineFrames } from '../pipeline/frames.js';
import { createPipelineKernel, type PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { coreOption, periodOption } from '../pipeline/options.js';
import { LOG_FORMAT, type PipelineShape } from '../pipeline/shape.js';
import { writePipeline, writePipelineRecords } from '../pipeline/sink.js';
import { CompiledOrder } from './compiled-order.js';
import { InOrder, type Order, visitInOrder } from './order.js';
import type { Gem5Reader } from './reader.js';
import { counterNames, StatsCounters } from './stats-counters.js';
import type { StatsFile } from './stats-file.js';
import type { Gem5Summary } from './summary.js';
import { talliesOf } from './tallies.js';
import { TraceCopy } from './trace-copy.js';
import { GEM5_STAGES } from './types.js';

const MAX_PERIOD = 0xffff_ffff;

/**
 * @param stats null: there is no stats.txt
 * @param kernel compiled code that has done nothing yet; null: without it
 * @throws UscopeError CONVERT_*, WRITER_*
 */
export async function gem5ToUscope(
  reader: Gem5Reader,
  summary: Gem5Summary,
  stats: StatsFile | null,
  target: TraceTarget,
  context: ConversionContext,
  kernel = createPipelineKernel(),
): Promise<TraceStats> {
  const shape = shapeOf(summary, stats, context.options);
  const checkpointIntervalPs = target.checkpointIntervalPs ?? intervalOf(summary);
  const options = { ...target, checkpointIntervalPs };
  if (kernel && summary.isPlain && !stats)
    return writePipelineRecords(shape, options, context, kernel, (output, schema) =>
      compiledCopy(reader, summary, shape, { kernel, output, schema }, context),
    );
  return writePipeline(shape, options, context, async (frames, schema) => {
    const counters = stats && new StatsCounters(stats, frames, schema);
    await copy(reader, summary, shape, { frames, schema, counters }, context);
    counters?.finish();
    if (counters)
      context.report.kept('values of stats.txt', 'counters of the scope stats').count += counters.values;
  });
}

interface Output {
  readonly frames: PipelineFrames;
  readonly schema: Schema;
  readonly counters: StatsCounters | null;
}

async function copy(
  reader: Gem5Reader,
  summary: Gem5Summary,
  shape: PipelineShape,
  { frames, schema, counters }: Output,
  { report, signal }: ConversionContext,
): Promise<void> {
  const trace = new TraceCopy(schema, frames, shape, summary.cpus, report, counters);
  const { other, early } = otherTallies(report);
  const order = new InOrder(
    summary,
    trace,
    () => other.count++,
    () => early.count++,
  );
  await visit(reader, order, frames, signal);
  const { taken, unclaimed } = order.facts;
  report.kept('lines of other debug flags', 'thread, CPU, dependencies, addresses and squashes').count +=
    taken - unclaimed;
  report.dropped(
    'lines of other debug flags about instructions without a fetch',
    'nothing they could be said of',
  ).count += unclaimed;
}

interface CompiledOutput {
  readonly kernel: PipelineKernel;
  readonly output: TraceOutput;
  readonly schema: Schema;
}

async function compiledCopy(
  reader: Gem5Reader,
  summary: Gem5Summary,
  shape: PipelineShape,
  { kernel, output, schema }: CompiledOutput,
  { report, signal }: ConversionContext,
): Promise<void> {
  const tallies = talliesOf(report);
  const { other, early } = otherTallies(report);
  const order = new CompiledOrder(
    ...([kernel, summary, schema, shape] as const),
    () => other.count++,
    () => early.count++,
  );
  const records = {
    get isFull() {
      return kernel.isFull;
    },
    async push() {
      kernel.code.frame_close();
      await output.push();
    },
  };
  await visit(reader, order, records, signal);
  kernel.code.finish();
  order.count(tallies);
}

/** All that the log holds before it was cut, if it was: the summary has told of the cut. */
async function visit(
  reader: Gem5Reader,
  order: Order,
  records: { readonly isFull: boolean; push(): Promise<void> },
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for await (const _ of visitInOrder(reader, order)) {
      signal?.throwIfAborted();
      if (records.isFull) await records.push();
    }
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
  }
}

function otherTallies(report: ConversionReport) {
  return {
    other: report.dropped('other lines', 'no lines of an instruction, or of a flag that is not read'),
    early: report.dropped(
      'lines of stages before the first fetch',
      'their instruction was fetched before the log begins',
    ),
  };
}

/** An instruction is about as many items as it has stages. */
function intervalOf({ instructions, firstTick, lastTick }: Gem5Summary): bigint {
  return checkpointIntervalFor(BigInt(Math.max(0, lastTick - firstTick)), instructions * GEM5_STAGES.length);
}

function shapeOf(
  { tickStep, inFlight, cpus, maxThread }: Gem5Summary,
  stats: StatsFile | null,
  options: ReadonlyMap<string, string>,
): PipelineShape {
  const found = tickStep > 0 && tickStep <= MAX_PERIOD ? `${tickStep} ps` : undefined;
  const periodPs = periodOption(options, found);
  const cores = coreNames(coreOption(options), cpus.length);
  return {
    ...{ stages: GEM5_STAGES, slots: Math.min(inFlight, MAX_IN_FLIGHT), maxThread, periodPs, cores },
    isKanata: false,
    ...(stats ? { counters: [...counterNames(stats).values()] } : {}),
    dut: [
      [LOG_FORMAT, 'gem5-o3pipeview'],
      ...cpus.map((cpu, index) => [`gem5.object.${cores[index]}`, cpu] as const),
    ],
  };
}

/** Several CPUs are numbered: `core0`, `core1`. */
function coreNames(name: string, cpus: number): string[] {
  if (cpus <= 1) return [name];
  const base = name.replace(/\d+$/, '') || name;
  return Array.from({ length: cpus }, (_, index) => `${base}${index}`);
}
