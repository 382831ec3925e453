/**
 * The writer for models in TypeScript: the calls of the format (docs/reference/format.md#names-of-calls) in this language's idiom. Everything ends up as records in a
 * RecordWriter, the same way as what arrives from a simulator.
 */
import { maxOf } from '../base/arrays.js';
import { UscopeError } from '../base/errors.js';
import { MAX_ITEMS_PER_FRAME, MAX_STRING_BYTES } from '../format/record.js';
import { SessionStatus } from '../format/session-chunk.js';
import { Action, FieldType, type Schema } from '../format/types.js';
import type { TraceStats, WriterOptions } from './contract/options.js';
import { RecordWriter } from './record-writer.js';
import { type FieldPlan, fitsPlan, putNumber, upperBits } from './records/field-plan.js';
import { type NamedEvent, type NamedStorage, NameIndex } from './records/name-index.js';
import { RecordBatch } from './records/record-batch.js';
import { StringCache } from './records/string-cache.js';
import { type FieldValue, toFieldBits, toU64 } from './records/values.js';

const BATCH_WORDS = 32 * 1024;
/** Leave room in a frame for the item being added. */
const SPLIT_WORDS = 2 * 1024 * 1024;

/** Offered to a checkpoint callback: whole-storage snapshots for the checkpoint about to be taken. */
export interface CheckpointSnapshot {
  /** Time of the checkpoint in ps. */
  readonly timePs: bigint;
  /**
   * Replaces a storage's slots. `data` holds, packed as in a checkpoint block without properties (docs/reference/format.md#checkpoints): the slots in order;
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
  private timePs: number | bigint = -1;
  /** An event's values as numbers, before it is known that all of them fit. */
  private readonly values: Float64Array;

  private constructor(
    private readonly writer: RecordWriter,
    readonly schema: Schema,
  ) {
    this.names = new NameIndex(schema);
    this.values = new Float64Array(
      maxOf(
        schema.events.map(({ fields }) => fields.length),
        0,
      ),
    );
    this.ordinal = Number(writer.nextFrame);
    this.nextString = Number(writer.nextString);
  }

  /** Gives the trace up: what waits is not written. Resolves when the file is let go of; the caller removes it. */
  async discard(): Promise<void> {
    this.writer.discard();
    await this.writer.close({ status: SessionStatus.OPEN }).catch(() => undefined);
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
      throw new UscopeError(
        'OP_NESTED_CYCLE',
        `beginCycle(${timePs}) inside the cycle at ${this.timePs} ps, for which endCycle is missing`,
      );
    const now = Number.isSafeInteger(timePs) ? timePs : toU64('time', timePs);
    if (now < this.timePs || timePs < 0) {
      throw new UscopeError(
        'OP_TIME',
        `beginCycle(${timePs}) is earlier than the cycle before, ${this.timePs} ps`,
      );
    }
    if (this.callback) this.offerCheckpoint(BigInt(now), this.callback);
    this.timePs = now;
    this.openFrame();
    this.inCycle = true;
  }

  /** Sets a field; the slot becomes valid. @throws UscopeError OP_* */
  slotSet(storage: number | string, slot: number, field: number | string, value: FieldValue): void {
    const target = this.target(storage, slot);
    const index = this.names.field(target, field);
    const number = plain(value);
    if (typeof number === 'number' && this.fits(target.fieldPlans[index], number))
      this.opNumber(Action.SET, target.id, slot, index, number);
    else this.op(Action.SET, target.id, slot, index, this.bits(target.name, target.def.fields[index], value));
  }

  /** Adds to a field, wrapping at its width; the slot becomes valid. @throws UscopeError OP_* */
  slotAdd(storage: number | string, slot: number, field: number | string, value: number | bigint): void {
    const target = this.target(storage, slot);
    const index = this.names.field(target, field);
    if (typeof value === 'number' && Number.isSafeInteger(value))
      this.opNumber(Action.ADD, target.id, slot, index, value);
    else this.op(Action.ADD, target.id, slot, index, toU64(`${target.name}.${field}`, value));
  }

  /** Makes a slot invalid and zeroes its fields. @throws UscopeError OP_* */
  slotClear(storage: number | string, slot: number): void {
    const target = this.target(storage, slot);
    this.opNumber(Action.CLEAR, target.id, slot, 0, 0);
  }

  /** Sets a storage property (docs/reference/format.md#storage-properties). @throws UscopeError OP_* */
  propSet(storage: number | string, property: number | string, value: FieldValue): void {
    const target = this.target(storage, 0);
    const index = this.names.property(target, property);
    const number = plain(value);
    if (typeof number === 'number' && this.fits(target.propertyPlans[index], number))
      this.opNumber(Action.PROP_SET, target.id, 0, index, number);
    else {
      const bits = this.bits(target.name, target.def.properties[index], value);
      this.op(Action.PROP_SET, target.id, 0, index, bits);
    }
  }

  /**
   * Records an event with its fields, by name or in schema order; all of them must be given. Text for a string field is interned.
   * @throws UscopeError OP_*
   */
  event(type: number | string, fields: EventFields = []): void {
    const event = this.names.event(type);
    this.requireCycle(event.name);
    if (this.takeNumbers(event, fields)) this.eventOfNumbers(event);
    else this.eventOfBits(event, this.eventBits(event, fields));
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
   * Closes the cycle's frame. Returns false when the disk lags: then `await ready()` before continuing.
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

  private opNumber(action: Action, storage: number, slot: number, field: number, value: number): void {
    this.splitIfFull();
    this.batch.op(action, storage, slot, field, value >>> 0, upperBits(value));
    this.items++;
  }

  private fits(plan: FieldPlan, value: number): boolean {
    if (!plan.isText) return fitsPlan(plan, value);
    return value >= 0 && value < this.nextString && Number.isInteger(value);
  }

  /** Whether an event is all there and its values are numbers that fit; then they are in `values`. */
  private takeNumbers({ plans }: NamedEvent, fields: EventFields): boolean {
    const byName = Array.isArray(fields) ? undefined : (fields as Record<string, FieldValue>);
    if ((byName ? countKeys(byName) : (fields as readonly FieldValue[]).length) !== plans.length)
      return false;
    for (let i = 0; i < plans.length; i++) {
      const plan = plans[i];
      const given = byName ? byName[plan.name] : (fields as readonly FieldValue[])[i];
      const value = plan.isText && typeof given === 'string' ? this.string(given) : plain(given);
      if (typeof value !== 'number' || !this.fits(plan, value)) return false;
      this.values[i] = value;
    }
    return true;
  }

  private eventOfNumbers({ id, payloadSize, plans }: NamedEvent): void {
    this.splitIfFull();
    const { view, offset } = this.batch.event(id, payloadSize);
    let at = offset;
    for (let i = 0; i < plans.length; i++) at = putNumber(view, at, plans[i].size, this.values[i]);
  }

  private eventOfBits({ id, payloadSize, plans }: NamedEvent, bits: readonly bigint[]): void {
    this.splitIfFull();
    const { view, offset } = this.batch.event(id, payloadSize);
    let at = offset;
    plans.forEach(({ size }, i) => {
      for (let k = 0; k < size; k++) view.setUint8(at + k, Number((bits[i] >> BigInt(8 * k)) & 0xffn));
      at += size;
    });
  }

  /** A cycle with more items than a frame may hold continues in a frame of the same time. */
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

/** Booleans are 0 and 1. */
function plain<T>(value: T): T | number {
  return typeof value === 'boolean' ? Number(value) : value;
}

function countKeys(fields: Readonly<Record<string, FieldValue>>): number {
  let count = 0;
  for (const key in fields) if (Object.hasOwn(fields, key)) count++;
  return count;
}
