/** The frames of a trace that is written from logs of instructions: one per time at which something happens, whichever core it concerns. */

import type { Action, Schema } from '../../format/types.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import type { TraceStats } from '../../writer/index.js';
import { upperBits } from '../../writer/records/field-plan.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { TraceFrames, writeFrames } from '../common/trace-frames.js';
import type { SlotPool } from './core-records.js';
import { type PipelineShape, pipelineSchema } from './shape.js';
import { TraceStrings } from './trace-strings.js';

/** A frame that is this large is pushed before its cycle ends. */
const MOST_WAITING_WORDS = 2 * 1024 * 1024;

export class PipelineFrames extends TraceFrames {
  readonly strings: TraceStrings;
  private readonly pools: SlotPool[] = [];

  constructor(batch: RecordBatch, output: TraceOutput) {
    super(batch, output);
    this.strings = new TraceStrings(batch);
  }

  /** Slots of this pool that were given back are free when time moves on. */
  follow(pool: SlotPool): void {
    this.pools.push(pool);
  }

  override get isFull(): boolean {
    return this.output.isFull && (!this.hasOpenFrame || this.batch.length >= MOST_WAITING_WORDS);
  }

  /** Whether `push` is due before something happens at `timePs`: a frame of an earlier time is closed, which leaves all of it to be pushed. */
  isFullBefore(timePs: number | bigint): boolean {
    if (!this.output.isFull) return false;
    if (timePs !== this.timePs) this.closeFrame();
    return this.isFull;
  }

  override moveTo(timePs: number | bigint): void {
    if (timePs === this.timePs) return;
    for (const pool of this.pools) pool.settle();
    super.moveTo(timePs);
  }

  /** An op with a value of 64 bits. */
  change(action: Action, storage: number, slot: number, field: number, value: number | bigint): void {
    if (typeof value === 'number') this.op(action, storage, slot, field, value >>> 0, upperBits(value));
    else this.op(action, storage, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
  }

  /** After the last record; an empty frame represents time that passed after it. */
  finish(): void {
    if (!this.hasOpenFrame) this.openFrame();
  }
}

/** A trace of the shape, filled by `fill`. @throws UscopeError WRITER_*, SCHEMA_*, and what `fill` throws; then nothing is kept */
export async function writePipeline(
  shape: PipelineShape,
  target: TraceTarget,
  { signal }: ConversionContext,
  fill: (frames: PipelineFrames, schema: Schema) => Promise<void>,
): Promise<TraceStats> {
  const { schema, dut } = pipelineSchema(shape);
  return writeFrames(
    target,
    { schema, dut, summarizer: createCpuSummarizer },
    signal,
    (batch, output) => new PipelineFrames(batch, output),
    async (frames) => {
      await fill(frames, schema);
      frames.finish();
    },
  );
}

export function putU64(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    view.setBigUint64(at, value, true);
    return;
  }
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, upperBits(value), true);
}
