/** The frames of a trace that is written from logs of instructions: one per time at which something happens, whichever core it concerns. */
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Action, Schema } from '../../format/types.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { upperBits } from '../../writer/records/field-plan.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import { type PipelineShape, pipelineSchema } from './shape.js';
import type { SlotPool } from './slot-pool.js';
import { TraceStrings } from './trace-strings.js';

/** A frame that is this large is pushed before its cycle ends. */
const MOST_WAITING_WORDS = 2 * 1024 * 1024;

export interface EventShape {
  readonly id: number;
  /** Bytes of the payload. */
  readonly size: number;
}

export class PipelineFrames {
  readonly strings: TraceStrings;
  private readonly pools: SlotPool[] = [];
  private isOpen = false;
  private items = 0;
  private timePs: number | bigint = -1;

  constructor(
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
  ) {
    this.strings = new TraceStrings(batch);
  }

  /** Slots of this pool that were given back are free when time moves on. */
  follow(pool: SlotPool): void {
    this.pools.push(pool);
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.output.isFull && (!this.isOpen || this.batch.length >= MOST_WAITING_WORDS);
  }

  /** The same before something happens at `timePs`: a frame of an earlier time is closed, which leaves all of it to be pushed. */
  isFullBefore(timePs: number | bigint): boolean {
    if (!this.output.isFull) return false;
    if (timePs !== this.timePs) this.close();
    return this.isFull;
  }

  async push(): Promise<void> {
    this.close();
    await this.output.push();
  }

  /** Time advances to `timePs`. */
  moveTo(timePs: number | bigint): void {
    if (timePs === this.timePs) return;
    for (const pool of this.pools) pool.settle();
    this.close();
    this.timePs = timePs;
  }

  op(action: Action, storage: number, slot: number, field: number, value: number | bigint): void {
    this.room();
    if (typeof value === 'number') this.batch.op(action, storage, slot, field, value >>> 0, upperBits(value));
    else this.batch.op(action, storage, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
  }

  /** The caller fills the payload before the next item. */
  event({ id, size }: EventShape): { view: DataView; offset: number } {
    this.room();
    return this.batch.event(id, size);
  }

  /** One whose payload has at most 8 bytes. */
  shortEvent({ id, size }: EventShape, lo: number, hi: number): void {
    this.room();
    this.batch.shortEvent(id, size, lo, hi);
  }

  /** After the last record; an empty frame represents time that passed after it. */
  finish(): void {
    this.open();
    this.close();
  }

  /** One more item, in a frame that has room for it. */
  private room(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME) this.close();
    if (!this.isOpen) this.open();
    this.items++;
  }

  private open(): void {
    if (this.isOpen) return;
    if (this.timePs < 0) this.timePs = 0;
    this.batch.begin(this.timePs);
    this.isOpen = true;
    this.items = 0;
  }

  private close(): void {
    if (!this.isOpen) return;
    this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
    this.items = 0;
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
  const options = { ...target, schema, dut, summarizer: createCpuSummarizer, index: createSegmentIndexer };
  const batch = new RecordBatch();
  return withOutput(options, batch, signal, async (output) => {
    const frames = new PipelineFrames(batch, output);
    await fill(frames, schema);
    frames.finish();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
}

export function putU64(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    view.setBigUint64(at, value, true);
    return;
  }
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, upperBits(value), true);
}
