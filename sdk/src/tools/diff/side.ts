/** One of two traces being compared: its items that the other one can have too, one after the other, in comparable form. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type FieldDef } from '../../format/types.js';
import { payloadLayout, type TimeRange, type Trace } from '../../reader/index.js';
import { errorIn, ItemStream } from '../../stream/item-stream.js';
import { readU32, StringRefs } from '../../stream/string-refs.js';
import { CanonValue, type FieldCanon, fieldCanon, hash53 } from './canon.js';
import type { FieldPair, SchemaMatch } from './match.js';

/** A trace and what messages call it. */
export interface DiffInput {
  readonly trace: Trace;
  readonly name: string;
}

export type SideName = 'a' | 'b';

/** A field of an event in the payload. */
interface PayloadField {
  readonly offset: number;
  readonly canon: FieldCanon;
}

interface FieldTable {
  /** Index among the common fields by own index; -1: the other trace has none. */
  readonly common: Int16Array;
  readonly canon: readonly FieldCanon[];
}

const NOTHING = hash53('\0nothing');
const MAX_HASHES = 1 << 18;
/** Multiplier of the FNV hash. */
const FNV = 0x01000193;

export class Side {
  isDone = false;
  /** Time of the present item in ps, as u32 halves. */
  timeLo = 0;
  timeHi = 0;
  /** Number of the present item's storage or event among those of both: storages first. */
  target = 0;
  /** Ops only: an `Action`, slot, and number of the field among those of both. */
  action = 0;
  slot = 0;
  field = 0;
  /** Ops: the value in comparable form. */
  readonly value = new CanonValue();
  /** Items seen, by target. */
  readonly counts: Float64Array;
  private readonly stream: ItemStream;
  private readonly refs: StringRefs;
  private readonly storageTarget: Int32Array;
  private readonly eventTarget: Int32Array;
  private readonly slotFields: readonly FieldTable[];
  private readonly properties: readonly FieldTable[];
  /** By event type, in the order of the common fields. */
  private readonly payloads: readonly (readonly PayloadField[])[];
  private readonly hashes = new Map<number, number>();
  private readonly text = (index: number): number => this.hashOf(index);

  constructor(
    readonly input: DiffInput,
    match: SchemaMatch,
    readonly name: SideName,
    range: TimeRange,
    /** The texts of a segment are to be in memory (`TraceStrings.peek`) while it is looked at, not only their hashes. */
    private readonly keepsTexts = false,
  ) {
    const { trace } = input;
    const { schema } = trace;
    this.stream = new ItemStream(trace, range);
    this.refs = new StringRefs(schema);
    this.counts = new Float64Array(match.storages.length + match.events.length);
    this.storageTarget = new Int32Array(schema.storages.length).fill(-1);
    this.eventTarget = new Int32Array(schema.events.length).fill(-1);
    const slotFields: FieldTable[] = [];
    const properties: FieldTable[] = [];
    const payloads: PayloadField[][] = [];
    match.storages.forEach((pair, target) => {
      const def = pair[name];
      this.storageTarget[def.storageId] = target;
      slotFields[def.storageId] = this.table(def.fields, pair.fields);
      properties[def.storageId] = this.table(def.properties, pair.properties);
    });
    match.events.forEach((pair, index) => {
      const def = pair[name];
      const { offsets } = payloadLayout(def.fields);
      this.eventTarget[def.eventTypeId] = match.storages.length + index;
      payloads[def.eventTypeId] = pair.fields.map((field) => ({
        offset: offsets[field[name]],
        canon: fieldCanon(schema, def.fields[field[name]], field.as),
      }));
    });
    this.slotFields = slotFields;
    this.properties = properties;
    this.payloads = payloads;
  }

  private table(fields: readonly FieldDef[], pairs: readonly FieldPair[]): FieldTable {
    const common = new Int16Array(fields.length).fill(-1);
    const { schema } = this.input.trace;
    const canon = fields.map((field) => fieldCanon(schema, field, 'number'));
    pairs.forEach((pair, index) => {
      const own = pair[this.name];
      common[own] = index;
      canon[own] = fieldCanon(schema, fields[own], pair.as);
    });
    return { common, canon };
  }

  /** The item itself, as the file has it. */
  get cursor(): FrameCursor {
    return this.stream.cursor;
  }

  get timePs(): bigint {
    return (BigInt(this.timeHi) << 32n) | BigInt(this.timeLo);
  }

  get isEvent(): boolean {
    return this.stream.cursor.kind === CursorItem.EVENT;
  }

  /** To the next item within the segment; false at its end: then `fill`. */
  advance(): boolean {
    const { stream } = this;
    try {
      while (stream.next()) if (this.accept(stream.cursor)) return true;
      return false;
    } catch (error) {
      throw errorIn(error, this.input.name);
    }
  }

  /** To the next item in the segments that follow, or `isDone`. */
  async fill(): Promise<void> {
    try {
      while (await this.stream.nextSegment()) {
        await this.loadStrings();
        if (this.advance()) return;
      }
    } catch (error) {
      throw errorIn(error, this.input.name);
    }
    this.isDone = true;
  }

  async close(): Promise<void> {
    await this.stream.close();
  }

  /** Part of the segments that have been begun, 0 to 1. */
  get progress(): number {
    return this.stream.segmentsRead / Math.max(1, this.input.trace.segmentCount);
  }

  private accept(cursor: FrameCursor): boolean {
    if (cursor.kind === CursorItem.OP) return this.acceptOp(cursor);
    if (cursor.kind === CursorItem.EVENT) {
      this.target = this.eventTarget[cursor.eventType];
      if (this.target < 0) return false;
      this.counts[this.target]++;
      return true;
    }
    this.timeLo = cursor.timeLo;
    this.timeHi = cursor.timeHi;
    return false;
  }

  private acceptOp(cursor: FrameCursor): boolean {
    const { action, storageId } = cursor;
    this.target = this.storageTarget[storageId];
    if (this.target < 0) return false;
    this.action = action;
    this.slot = action === Action.PROP_SET ? 0 : cursor.slot;
    this.field = 0;
    this.value.lo = this.value.hi = 0;
    if (action !== Action.CLEAR) {
      const table = (action === Action.PROP_SET ? this.properties : this.slotFields)[storageId];
      this.field = table.common[cursor.field];
      if (this.field < 0) return false;
      const text = action === Action.ADD ? undefined : this.text;
      this.value.read(table.canon[cursor.field], cursor.lo, cursor.hi, text ?? identity);
    }
    this.counts[this.target]++;
    return true;
  }

  /** A value of a state into `value`. */
  readState(storage: number, field: number, isProperty: boolean, lo: number, hi: number): void {
    const { canon } = (isProperty ? this.properties : this.slotFields)[storage];
    this.value.read(canon[field], lo, hi, this.text);
  }

  /** The sum of the present ADD and a value in comparable form into `value`: it wraps at the field's width. */
  addTo(lo: number, hi: number): void {
    const { cursor } = this;
    const { canon } = this.slotFields[cursor.storageId];
    const sum = lo + cursor.lo;
    const carry = sum > 0xffff_ffff ? 1 : 0;
    this.value.read(canon[cursor.field], sum >>> 0, (hi + cursor.hi + carry) >>> 0, identity);
  }

  /** Number of fields the present event shares with its counterpart. */
  get eventFields(): number {
    return this.payloads[this.cursor.eventType].length;
  }

  /** Field `index` of the present event into `value`. */
  readEventField(index: number): void {
    const { cursor } = this;
    const { offset, canon } = this.payloads[cursor.eventType][index];
    const at = cursor.payloadOffset + offset;
    const { bytes } = cursor;
    const lo =
      canon.size >= 4 ? readU32(bytes, at) : canon.size === 2 ? bytes[at] | (bytes[at + 1] << 8) : bytes[at];
    this.value.read(canon, lo, canon.size === 8 ? readU32(bytes, at + 4) : 0, this.text);
  }

  /** A hash of the present item without its target, to be chained: `seed` is the hash of those before. */
  hash(seed: number): number {
    let hash = seed;
    if (this.isEvent) {
      for (let i = 0; i < this.eventFields; i++) {
        this.readEventField(i);
        hash = mix(mix(hash, this.value.lo), this.value.hi);
      }
      return mix(hash, 0xe);
    }
    hash = mix(mix(hash, this.action | (this.field << 8)), this.slot);
    return mix(mix(hash, this.value.lo), this.value.hi);
  }

  private async loadStrings(): Promise<void> {
    const wanted = new Set<number>();
    this.refs.collect(this.stream.segment, wanted);
    await this.loadHashes(wanted);
  }

  /** Makes `hashOf` answer for these. */
  async loadHashes(wanted: Set<number>): Promise<void> {
    if (this.hashes.size > MAX_HASHES) this.hashes.clear();
    if (!this.keepsTexts) for (const index of wanted) if (this.hashes.has(index)) wanted.delete(index);
    const { strings } = this.input.trace;
    await strings.load(wanted);
    for (const index of wanted) {
      const text = strings.peek(index);
      this.hashes.set(index, text === undefined ? NOTHING : hash53(text));
    }
  }

  /** Hash of a string's text; all that name no string are equal. */
  hashOf(index: number): number {
    return this.hashes.get(index) ?? NOTHING;
  }
}

const identity = (index: number): number => index;

/** Whether the present items of two sides say the same; their times are not looked at. */
export function sameItem(a: Side, b: Side): boolean {
  if (a.target !== b.target || a.isEvent !== b.isEvent) return false;
  if (a.isEvent) {
    for (let i = 0; i < a.eventFields; i++) {
      a.readEventField(i);
      b.readEventField(i);
      if (a.value.lo !== b.value.lo || a.value.hi !== b.value.hi) return false;
    }
    return true;
  }
  return (
    a.action === b.action &&
    a.slot === b.slot &&
    a.field === b.field &&
    a.value.lo === b.value.lo &&
    a.value.hi === b.value.hi
  );
}

/** Negative: a's item is earlier (or b has none), positive: b's, 0: the same time. */
export function compareTimes(a: Side, b: Side): number {
  if (a.isDone || b.isDone) return Number(a.isDone) - Number(b.isDone);
  return a.timeHi - b.timeHi || a.timeLo - b.timeLo;
}

/** 53 bits in a double, order-dependent. */
function mix(hash: number, word: number): number {
  const low = Math.imul((hash >>> 0) ^ word, FNV) >>> 0;
  const high = Math.imul(Math.floor(hash / 2 ** 32) ^ (word >>> 7) ^ low, 0x2c1b3c6d) >>> 11;
  return high * 2 ** 32 + ((low ^ (low >>> 15)) >>> 0);
}
