/** The frames of a trace that is written from logs of instructions: one per time at which something happens, whichever core it concerns. */
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import type { Action } from '../../format/types.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import { upperBits } from '../../writer/records/field-plan.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
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
