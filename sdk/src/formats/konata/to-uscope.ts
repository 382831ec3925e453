/** Kanata to µScope: two passes, the first for what the schema has to know. */
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { TraceStats } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { MAX_IN_FLIGHT } from '../pipeline/errors.js';
import { createPipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { coreOption, periodOption } from '../pipeline/options.js';
import { KANATA, LOG_FORMAT, type PipelineShape } from '../pipeline/shape.js';
import { PipelineSink, writePipeline, writePipelineRecords } from '../pipeline/sink.js';
import type { TextBytes } from '../text/text-bytes.js';
import { CompiledCopy, hasRoomFor } from './compiled-copy.js';
import type { KanataReader } from './reader.js';
import type { KanataSummary } from './scan.js';
import { beyondTimes, CycleCount, type KanataVisitor, MAX_TIME_PS, runsBackwards } from './visitor.js';

/** DUT property: the log's cycle at time 0, where that is not cycle 0. */
export const CYCLE_AT_ZERO = 'kanata.cycle_at_zero';

/**
 * @param kernel compiled code that has done nothing yet; null: without it
 * @throws UscopeError CONVERT_*, WRITER_*
 */
export async function kanataToUscope(
  reader: KanataReader,
  summary: KanataSummary,
  target: TraceTarget,
  context: ConversionContext,
  kernel = createPipelineKernel(),
): Promise<TraceStats> {
  const shape = shapeOf(summary, context.options);
  const zero = Number(zeroOf(summary));
  const checkpointIntervalPs = target.checkpointIntervalPs ?? intervalOf(summary, shape);
  const options = { ...target, checkpointIntervalPs };
  if (kernel && hasRoomFor(kernel, shape))
    return writePipelineRecords(shape, options, context, kernel, async (output, schema) => {
      const copy = new CompiledCopy(kernel, schema, shape, zero, output, context.report);
      await visit(reader, copy, context);
      copy.finish();
    });
  return writePipeline(shape, options, context, async (frames, schema) => {
    const sink = new PipelineSink(schema, frames, shape, context.report);
    await visit(reader, new Copy(sink, zero, shape.periodPs), context);
    sink.finish();
  });
}

/** All that the log holds before it was cut, if it was. */
async function visit(
  reader: KanataReader,
  copy: KanataVisitor,
  { signal, onWarning }: ConversionContext,
): Promise<void> {
  try {
    await reader.visit(copy, signal);
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    onWarning?.(error.message);
  }
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
    cores: [coreOption(options)],
    isKanata: true,
    dut: [[LOG_FORMAT, KANATA], ...(zero === 0n ? [] : [[CYCLE_AT_ZERO, String(zero)] as const])],
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

/** Commands of the log into the trace, each at its time. */
class Copy implements KanataVisitor {
  private readonly clock = new CycleCount();
  private last: number;

  constructor(
    private readonly sink: PipelineSink,
    /** Cycle at time 0. */
    private readonly zero: number,
    private readonly periodPs: number,
  ) {
    this.last = zero;
  }

  get isFull(): boolean {
    return this.sink.isFull;
  }

  push(): Promise<void> {
    return this.sink.push();
  }

  cycle(cycle: number): void {
    this.clock.set(cycle);
    this.move();
  }

  advance(cycles: number): void {
    this.clock.advance(cycles);
    this.move();
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    this.arrive();
    this.sink.begin(id, gid, tid);
  }

  label(id: number, type: number, text: TextBytes): void {
    this.arrive();
    this.sink.label(id, type, text);
  }

  start(id: number, lane: number, stage: string): void {
    this.arrive();
    this.sink.start(id, lane, stage);
  }

  end(id: number, lane: number, stage: string): void {
    this.arrive();
    this.sink.end(id, lane, stage);
  }

  retire(id: number, rid: number | bigint, type: number): void {
    this.arrive();
    this.sink.retire(id, rid, type);
  }

  dependency(consumer: number, producer: number, type: number): void {
    this.arrive();
    this.sink.dependency(consumer, producer, type);
  }

  private arrive(): void {
    if (this.clock.first !== null) return;
    this.clock.begin();
    this.move();
  }

  private move(): void {
    const { clock } = this;
    // Before the first instruction any cycle may be set: that is where the log begins.
    if (clock.first === null) return;
    if (clock.cycle < this.last) throw runsBackwards(clock.cycle, this.last);
    this.last = clock.cycle;
    this.sink.moveTo(this.timeOf(clock.cycle - this.zero));
  }

  private timeOf(cycles: number): number | bigint {
    const product = cycles * this.periodPs;
    if (Number.isSafeInteger(product)) return product;
    const timePs = BigInt(cycles) * BigInt(this.periodPs);
    if (timePs <= MAX_TIME_PS) return timePs;
    throw beyondTimes(this.last);
  }
}
