/** The trace that an import writes: its items gathered into frames, one per time at which something happens. */
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { type Action, packedSize, type Schema } from '../../format/types.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS, type TraceStats, type WriterOptions } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import type { TraceTarget } from './foreign-format.js';

/** A segment holds at least about this number of items, where the default interval would hold fewer. */
const ITEMS_PER_CHECKPOINT = 20_000n;
const MAX_INTERVAL_PS = (1n << 63n) - 1n;

/**
 * How far apart the checkpoints of an imported trace are. Foreign times may be of any scale, so the distance follows the data: the default
 * interval, or a longer one in which the trace has enough items on the average.
 * @param spanPs length of the trace in ps
 * @param items about how many items it gets
 */
export function checkpointIntervalFor(spanPs: bigint, items: number): bigint {
  const sparse = (spanPs * ITEMS_PER_CHECKPOINT) / BigInt(Math.max(1, Math.floor(items)));
  if (sparse < DEFAULT_CHECKPOINT_INTERVAL_PS) return DEFAULT_CHECKPOINT_INTERVAL_PS;
  return sparse < MAX_INTERVAL_PS ? sparse : MAX_INTERVAL_PS;
}

export interface EventShape {
  readonly id: number;
  /** Bytes of the payload. */
  readonly size: number;
}

/** Ids of what a scope of the schema has, by name; -1 for what it lacks. */
export function scopeIds({ scopes, storages, events }: Schema, scope: string) {
  const scopeId = scopes.findIndex(({ name }) => name === scope);
  const isNamed = (name: string) => (def: { readonly name: string; readonly scopeId: number }) =>
    def.scopeId === scopeId && def.name === name;
  return {
    storage: (name: string): number => storages.findIndex(isNamed(name)),
    event(name: string): EventShape {
      const found = events.find(isNamed(name));
      return found ? { id: found.eventTypeId, size: packedSize(found.fields) } : { id: -1, size: 0 };
    },
  };
}

export class TraceFrames {
  private items = 0;
  private isOpen = false;
  /** Below 0: no time is known yet. */
  protected timePs: number | bigint = -1;

  constructor(
    readonly batch: RecordBatch,
    protected readonly output: TraceOutput,
  ) {}

  get hasOpenFrame(): boolean {
    return this.isOpen;
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.output.isFull;
  }

  /** Hands over what is there; items that follow at the same time are in another frame. */
  async push(): Promise<void> {
    this.closeFrame();
    await this.output.push();
  }

  /** Items that follow are of this time. @param timePs as a number a safe integer */
  moveTo(timePs: number | bigint): void {
    this.closeFrame();
    this.timePs = timePs;
  }

  /** The same with a frame that is there even if nothing follows. */
  beginFrame(timePs: number | bigint): void {
    this.moveTo(timePs);
    this.openFrame();
  }

  op(action: Action, storage: number, slot: number, field: number, lo: number, hi: number): void {
    this.count();
    this.batch.op(action, storage, slot, field, lo, hi);
  }

  /** The caller fills the payload before the next item. */
  event({ id, size }: EventShape): { view: DataView; offset: number } {
    this.count();
    return this.batch.event(id, size);
  }

  /** An event whose payload has at most 8 bytes. */
  shortEvent({ id, size }: EventShape, lo: number, hi: number): void {
    this.count();
    this.batch.shortEvent(id, size, lo, hi);
  }

  /** Makes room for an item. A frame that holds no more continues in another one of the same time. */
  count(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME) this.closeFrame();
    if (!this.isOpen) this.openFrame();
    this.items++;
  }

  closeFrame(): void {
    if (!this.isOpen) return;
    this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
    this.items = 0;
  }

  protected openFrame(): void {
    if (this.timePs < 0) this.timePs = 0;
    this.batch.begin(this.timePs);
    this.isOpen = true;
  }
}

export type TraceContent = Pick<WriterOptions, 'schema' | 'dut' | 'checkpointIntervalPs' | 'summarizer'>;

/** Writes a trace of what `fill` puts into its frames. @throws as `writeFrames` */
export function writeTrace(
  target: TraceTarget,
  content: TraceContent,
  signal: AbortSignal | undefined,
  fill: (frames: TraceFrames) => Promise<void>,
): Promise<TraceStats> {
  return writeFrames(target, content, signal, (batch, output) => new TraceFrames(batch, output), fill);
}

/**
 * The same with frames of another class. Checkpoints are as far apart as the target says, else as the content does.
 * @throws UscopeError WRITER_*, SCHEMA_*, and what `fill` throws; then nothing is kept
 */
export function writeFrames<F extends TraceFrames>(
  { path, compression, checkpointIntervalPs }: TraceTarget,
  content: TraceContent,
  signal: AbortSignal | undefined,
  framesOf: (batch: RecordBatch, output: TraceOutput) => F,
  fill: (frames: F) => Promise<void>,
): Promise<TraceStats> {
  const batch = new RecordBatch();
  const options = {
    ...{ path, compression, ...content, index: createSegmentIndexer },
    checkpointIntervalPs: checkpointIntervalPs ?? content.checkpointIntervalPs,
  };
  return withOutput(options, batch, signal, async (output) => {
    const frames = framesOf(batch, output);
    await fill(frames);
    frames.closeFrame();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
}
