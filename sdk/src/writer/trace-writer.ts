/**
 * The writer for models in TypeScript: the calls of format text §9 in this language's idiom. Everything ends up as records in a
 * RecordWriter, the same way as what arrives from a simulator.
 */
import { UscopeError } from '../base/errors.js';
import { MAX_ITEMS_PER_FRAME, MAX_STRING_BYTES } from '../format/record.js';
import { SessionStatus } from '../format/session-chunk.js';
import { Action, FieldType, fieldSize, type Schema } from '../format/types.js';
import { type NamedEvent, type NamedStorage, NameIndex } from './name-index.js';
import type { TraceStats, WriterOptions } from './options.js';
import { RecordBatch } from './record-batch.js';
import { RecordWriter } from './record-writer.js';
import { StringCache } from './string-cache.js';
import { type FieldValue, toFieldBits, toU64 } from './values.js';

const BATCH_WORDS = 32 * 1024;
/** Leave room in a frame for the item being added. */
const SPLIT_WORDS = 2 * 1024 * 1024;

/** Offered to a checkpoint callback: whole-storage snapshots for the checkpoint about to be taken. */
export interface CheckpointSnapshot {
  /** Time of the checkpoint in ps. */
  readonly timePs: bigint;
  /**
   * Replaces a storage's slots. `data` holds, packed as in a checkpoint block without properties (§8.5): the slots in order;
   * for sparse storages the mask (one bit per slot, LSB first), then the valid slots only.
   */
  storage(storage: number | string, data: Uint8Array): void;
}

export type CheckpointCallback = (snapshot: CheckpointSnapshot) => void;
export type EventFields = Readonly<Record<string, FieldValue>> | readonly FieldValue[];

export class TraceWriter {
  /** Creates the trace file. @throws UscopeError WRITER_*, SCHEMA_* */
  static async create(options: WriterOptions): Promise<TraceWriter> {
    return new TraceWriter(await RecordWriter.create(options), options.schema);
  }

  private readonly names: NameIndex;
  private readonly batch = new RecordBatch();
  private readonly cache = new StringCache();
  private callback: CheckpointCallback | null = null;
  private inCycle = false;
  private items = 0;
  private frameStart = 0;
  private ordinal: number;
  private nextString: number;
  private timePs = -1n;

  private constructor(
    private readonly writer: RecordWriter,
    readonly schema: Schema,
  ) {
    this.names = new NameIndex(schema);
    this.ordinal = Number(writer.nextFrame);
    this.nextString = Number(writer.nextString);
  }

  get stats(): TraceStats {
    return this.writer.stats;
  }

  /**
   * Opens the frame of one cycle at `timePs` (ps, never decreasing; equal times are separate frames).
   * @throws UscopeError OP_TIME, OP_NESTED_CYCLE
   */
  beginCycle(timePs: number | bigint): void {
    if (this.inCycle)
      throw new UscopeError('OP_NESTED_CYCLE', `beginCycle(${timePs}) inside the cycle at ${this.timePs} ps`);
    const now = toU64('time', timePs);
    if (now < this.timePs || timePs < 0) {
      throw new UscopeError(
        'OP_TIME',
        `beginCycle(${timePs}) is earlier than the cycle before, ${this.timePs} ps`,
      );
    }
    if (this.callback) this.offerCheckpoint(now, this.callback);
    this.timePs = now;
    this.openFrame();
    this.inCycle = true;
  }

  /** Sets a field; the slot becomes valid. @throws UscopeError OP_* */
  slotSet(storage: number | string, slot: number, field: number | string, value: FieldValue): void {
    const target = this.target(storage, slot);
    const index = this.names.field(target, field);
    const bits = this.bits(target.name, target.def.fields[index], value);
    this.op(Action.SET, target.id, slot, index, bits);
  }

  /** Adds to a field, wrapping at its width; the slot becomes valid. @throws UscopeError OP_* */
  slotAdd(storage: number | string, slot: number, field: number | string, value: number | bigint): void {
    const target = this.target(storage, slot);
    const index = this.names.field(target, field);
    this.op(Action.ADD, target.id, slot, index, toU64(`${target.name}.${field}`, value));
  }

  /** Makes a slot invalid and zeroes its fields. @throws UscopeError OP_* */
  slotClear(storage: number | string, slot: number): void {
    const target = this.target(storage, slot);
    this.op(Action.CLEAR, target.id, slot, 0, 0n);
  }

  /** Sets a storage property (§4.6.2). @throws UscopeError OP_* */
  propSet(storage: number | string, property: number | string, value: FieldValue): void {
    const target = this.target(storage, 0);
    const index = this.names.property(target, property);
    this.op(
      Action.PROP_SET,
      target.id,
      0,
      index,
      this.bits(target.name, target.def.properties[index], value),
    );
  }

  /**
   * Records an event with its fields, by name or in schema order; all of them must be given. Text for a string field is interned.
   * @throws UscopeError OP_*
   */
  event(type: number | string, fields: EventFields = []): void {
    const event = this.names.event(type);
    this.requireCycle(event.name);
    const bits = this.eventBits(event, fields);
    this.splitIfFull();
    const { view, offset } = this.batch.event(event.id, event.payloadSize);
    let at = offset;
    event.def.fields.forEach((field, i) => {
      const size = fieldSize(field.type);
      for (let k = 0; k < size; k++) view.setUint8(at + k, Number((bits[i] >> BigInt(8 * k)) & 0xffn));
      at += size;
    });
    this.items++;
  }

  /** Interns a string; returns its index for a STRING_REF field. Equal strings usually get equal indices. @throws UscopeError OP_STRING */
  string(text: string): number {
    const known = this.cache.get(text);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > MAX_STRING_BYTES) {
      throw new UscopeError(
        'OP_STRING',
        `a string of ${bytes.length} bytes; at most ${MAX_STRING_BYTES} are allowed`,
      );
    }
    const index = this.nextString++;
    this.batch.string(index, bytes);
    this.cache.set(text, index);
    return index;
  }

  /**
   * Closes the cycle's frame. Returns false when the disk lags: then `await ready()` before going on.
   * @throws UscopeError OP_OUTSIDE_CYCLE, WRITER_*
   */
  endCycle(): boolean {
    this.requireCycle('endCycle');
    this.closeFrame();
    this.inCycle = false;
    if (this.batch.length >= BATCH_WORDS) this.pushBatch();
    return !this.writer.congested;
  }

  /** Asked at each checkpoint, before the cycle that starts a new segment; the model's state is then that before the cycle. */
  onCheckpoint(callback: CheckpointCallback | null): void {
    this.callback = callback;
  }

  /** Resolves when the disk has caught up. @throws UscopeError when writing failed */
  ready(): Promise<void> {
    return this.writer.ready();
  }

  /** Makes all complete cycles durable. */
  async flush(): Promise<void> {
    this.requireNoCycle('flush');
    this.pushBatch();
    await this.writer.flush();
  }

  /** Finalizes the file. An open cycle is an error; further calls give the same answer. */
  async close(): Promise<TraceStats> {
    this.requireNoCycle('close');
    this.pushBatch();
    return this.writer.close({ status: SessionStatus.CLOSED });
  }

  private openFrame(): void {
    this.frameStart = this.batch.length;
    this.batch.begin(this.timePs);
    this.items = 0;
  }

  private closeFrame(): void {
    this.batch.end(this.items, this.ordinal++);
  }

  private pushBatch(): void {
    if (this.batch.length === 0) return;
    this.writer.push(this.batch.words, 0, this.batch.length);
    this.batch.clear();
  }

  private op(action: Action, storage: number, slot: number, field: number, bits: bigint): void {
    this.splitIfFull();
    this.batch.op(action, storage, slot, field, Number(bits & 0xffff_ffffn), Number(bits >> 32n));
    this.items++;
  }

  /** A cycle with more items than a frame may hold goes on in a frame of the same time. */
  private splitIfFull(): void {
    if (this.items < MAX_ITEMS_PER_FRAME && this.batch.length - this.frameStart < SPLIT_WORDS) return;
    this.closeFrame();
    this.pushBatch();
    this.openFrame();
  }

  private target(key: number | string, slot: number): NamedStorage {
    const storage = this.names.storage(key);
    this.requireCycle(storage.name);
    if (!Number.isInteger(slot) || slot < 0 || slot >= storage.def.numSlots) {
      throw new UscopeError(
        'OP_SLOT',
        `slot ${slot} of ${storage.name} is not below ${storage.def.numSlots}`,
      );
    }
    return storage;
  }

  private bits(owner: string, field: NamedStorage['def']['fields'][number], value: FieldValue): bigint {
    if (field.type === FieldType.STRING_REF && typeof value === 'string') return BigInt(this.string(value));
    const bits = toFieldBits(this.schema, owner, field, value);
    if (field.type === FieldType.STRING_REF && bits >= BigInt(this.nextString)) {
      throw new UscopeError(
        'OP_STRING',
        `${owner}.${field.name}: string ${bits} was never defined; there are ${this.nextString}`,
      );
    }
    return bits;
  }

  private eventBits(event: NamedEvent, fields: EventFields): bigint[] {
    const given = Array.isArray(fields) ? fields.length : Object.keys(fields).length;
    if (given !== event.def.fields.length) {
      throw new UscopeError(
        'OP_PAYLOAD',
        `event ${event.name} has ${event.def.fields.length} fields, ${given} were given`,
      );
    }
    return event.def.fields.map((field, i) => {
      const value = Array.isArray(fields) ? fields[i] : (fields as Record<string, FieldValue>)[field.name];
      if (value === undefined)
        throw new UscopeError('OP_FIELD', `event ${event.name} needs field "${field.name}"`);
      return this.bits(event.name, field, value);
    });
  }

  private offerCheckpoint(timePs: bigint, callback: CheckpointCallback): void {
    this.pushBatch();
    if (!this.writer.cutDue(timePs)) return;
    callback({
      timePs,
      storage: (key, data) => this.batch.snapshot(this.names.storage(key).id, data),
    });
  }

  private requireCycle(what: string): void {
    if (!this.inCycle) throw new UscopeError('OP_OUTSIDE_CYCLE', `${what}: call beginCycle first`);
  }

  private requireNoCycle(what: string): void {
    if (this.inCycle)
      throw new UscopeError(
        'OP_NESTED_CYCLE',
        `${what} inside the cycle at ${this.timePs} ps: call endCycle first`,
      );
  }
}
