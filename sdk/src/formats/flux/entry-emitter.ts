/** Entries of flux as events of a µScope trace. */
import { toHex } from '../../base/hex.js';
import { qualifiedName, type Schema } from '../../format/types.js';
import type { EventPacker, PackedValue } from '../common/event-values.js';
import { Words } from '../text/columns.js';
import type { FluxCursor } from './cursor.js';
import { decodeEntry } from './entries.js';
import type { SignalPlan } from './import-schema.js';
import {
  ALL_ONE,
  ALL_ZERO,
  DYNAMIC,
  ENTRY_EVENTS,
  Form,
  HEX_BYTES,
  META_EVENTS,
  META_SCOPE,
  type MetaEvent,
  Tag,
  UNIFORM,
  valuesOf,
} from './mapping.js';
import { MemberCursor, putBytes, sintToBigInt } from './numbers.js';
import { mappedMembers, type SurveyedMember } from './survey.js';
import { CONFLICT, FluxTag } from './types.js';
import { decodeValue } from './values.js';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

interface Target {
  readonly struct: StructEmitter;
  readonly event: number;
  readonly form: Form;
  readonly type: number;
  readonly members: readonly SurveyedMember[];
}

export class EntryEmitter {
  private readonly meta = new Map<string, number>();
  private readonly targets = new Map<number, Map<number, Target>>();
  private lastTrace = -1;
  private lastTargets: ReadonlyMap<number, Target> = new Map();

  constructor(
    schema: Schema,
    private readonly plans: readonly SignalPlan[],
    private readonly packer: EventPacker,
  ) {
    const ids = new Map(schema.events.map((event) => [qualifiedName(schema, event), event.eventTypeId]));
    for (const name of Object.keys(META_EVENTS)) this.meta.set(name, ids.get(`${META_SCOPE}/${name}`)!);
    for (const { signal, event } of plans) {
      if (!event) continue;
      const { form, type, members, trace, id } = signal;
      const ofTrace = this.targets.get(trace) ?? new Map<number, Target>();
      this.targets.set(trace, ofTrace);
      const number = ids.get(event)!;
      const struct = new StructEmitter(number, members, packer);
      ofTrace.set(id, { event: number, form, type, members, struct });
    }
  }

  /** Says which event holds which signal, and how. */
  begin(): void {
    for (const { signal, event } of this.plans) {
      if (!event) continue;
      const members = signal.form === Form.STRUCT ? JSON.stringify(mappedMembers(signal.members)) : '';
      this.say('mapping', signal.trace, signal.id, signal.form, event, members);
    }
  }

  /** Says where the group of an item is. */
  position(trace: number, id: number, position: bigint): void {
    this.say('position', trace, id, position);
  }

  open(cursor: FluxCursor, origin: bigint): void {
    const { trace, group, numbers } = cursor;
    const rate = String(cursor.sint(3));
    this.say('open', trace!.id, numbers[0], cursor.text(1), group!.domain, cursor.sint(2), rate, origin);
  }

  /** Any other entry. */
  entry(cursor: FluxCursor): void {
    const { tag, numbers } = cursor;
    const trace = cursor.trace!.id;
    const event = ENTRY_EVENTS.get(tag);
    if (event) {
      const entry = decodeEntry(cursor) as unknown as Readonly<Record<string, PackedValue>>;
      this.say(event, trace, ...valuesOf(event, entry));
    } else if (tag === FluxTag.HEAD) {
      const [, version, , , , mode, maxItemId, maxEntrySize] = numbers;
      this.say('head', trace, version, mode, cursor.text(3), cursor.text(4), maxItemId, maxEntrySize);
    } else if (tag === FluxTag.CREQ || tag === FluxTag.CRES) {
      const control = this.meta.get('control')!;
      this.inParts(cursor.field(2), 0, (part, parts) =>
        this.packer.emit(control, trace, tag, numbers[0], numbers[1], parts, part),
      );
    }
  }

  /** A value. */
  sample(cursor: FluxCursor): void {
    const trace = cursor.trace!.id;
    const { id, flags, df, xdf, valueSize } = cursor;
    const tag = flags & CONFLICT ? Tag.CONFLICT : 0;
    const target = this.targetOf(trace, id);
    if (!target) {
      const event = this.meta.get('sample')!;
      const format = (xdf << 2) | df;
      this.inParts(cursor.value, tag, (part, parts) =>
        this.packer.emit(event, trace, id, parts, format, part),
      );
    } else if (df === 0 && valueSize === 0) this.none(target, tag);
    else this.value(target, cursor, tag);
  }

  private targetOf(trace: number, id: number): Target | undefined {
    if (trace !== this.lastTrace) {
      this.lastTrace = trace;
      this.lastTargets = this.targets.get(trace) ?? new Map();
    }
    return this.lastTargets.get(id);
  }

  private number(event: number, tag: number, { bytes, valueAt, valueSize }: FluxCursor): void {
    const { view, offset } = this.packer.open(event);
    view.setUint8(offset, tag);
    putBytes(view, offset + 1, bytes, valueAt, valueSize, true);
  }

  private float(event: number, tag: number, { bytes, valueAt, valueSize }: FluxCursor): void {
    const { view, offset } = this.packer.open(event);
    view.setUint8(offset, tag);
    view.setUint8(offset + 1, valueSize * 8);
    putBytes(view, offset + 2, bytes, valueAt, valueSize, false);
  }

  private none({ event, form, members }: Target, tag: number): void {
    const { packer } = this;
    const none = tag | Tag.NONE;
    if (form === Form.INTEGER) packer.emit(event, none, 0);
    else if (form === Form.FLOAT || form === Form.LOGIC) packer.emit(event, none, 0, 0);
    else if (form === Form.STATES || form === Form.LIST) packer.emit(event, none, 0, '');
    else if (form === Form.STRUCT) packer.emit(event, none, 0, ...members.flatMap(absent));
    else packer.emit(event, none, '');
  }

  private value(target: Target, cursor: FluxCursor, tag: number): void {
    const { event, form, type } = target;
    const { bytes, valueAt, valueSize, df, xdf } = cursor;
    const { packer } = this;
    switch (form) {
      case Form.INTEGER:
        this.number(event, tag, cursor);
        return;
      case Form.DECIMAL:
        packer.emit(event, tag, String(sintToBigInt(bytes, valueAt, valueSize)));
        return;
      case Form.FLOAT:
        this.float(event, tag, cursor);
        return;
      case Form.TEXT:
        packer.emit(event, tag, decoder.decode(cursor.value));
        return;
      case Form.BINARY:
        this.inParts(cursor.value, tag, (part, parts) => packer.emit(event, parts, part));
        return;
      case Form.LOGIC: {
        if (valueSize === 0) {
          packer.emit(event, tag, xdf ? ALL_ONE : ALL_ZERO, xdf);
          return;
        }
        let value = 0n;
        for (let i = 0; i < valueSize; i++) value = (value << 8n) | BigInt(bytes[valueAt + i]);
        packer.emit(event, tag, valueSize, value);
        return;
      }
      case Form.STRUCT:
        target.struct.emit(bytes, valueAt, valueSize, tag);
        return;
    }
    const value = decodeValue(type, df, xdf, cursor.value);
    if (value.kind === 'logic') {
      packer.emit(event, tag, value.bits | (value.uniform ? UNIFORM : 0), value.states);
    } else if ('list' in value) {
      const items = value.values.map((one: bigint | number | string) =>
        typeof one === 'bigint' ? String(one) : JSON.stringify(one),
      );
      packer.emit(event, tag, value.list.width | (value.list.dynamic ? DYNAMIC : 0), `[${items.join(',')}]`);
    }
  }

  private say(event: MetaEvent, ...values: readonly PackedValue[]): void {
    this.packer.emit(this.meta.get(event)!, ...values);
  }

  private inParts(bytes: Uint8Array, tag: number, emit: (hex: string, tag: number) => void): void {
    let at = 0;
    do {
      const end = Math.min(bytes.length, at + HEX_BYTES);
      emit(toHex(bytes.subarray(at, end)), end < bytes.length ? tag | Tag.GOES_ON : tag);
      at = end;
    } while (at < bytes.length);
  }
}

const absent = ({ form }: SurveyedMember): PackedValue[] =>
  form === Form.INTEGER ? [0] : form === Form.FLOAT ? [0, 0] : [''];

// Values of a struct signal as the event that holds them: `tag`, `present`, and the members' fields (mapping.ts), without an allocation per value.

const PRESENT_AT = 1;
const MEMBERS_AT = 9;
/** Bytes of a member's fields: an integer, the bits of a float and their number, the reference of a string. */
const sizeOf = (form: Form): number => (form === Form.INTEGER ? 8 : form === Form.FLOAT ? 9 : 4);
const ABSENT = -1;

export class StructEmitter {
  private readonly walk = new MemberCursor();
  private readonly words = new Words();
  /** Number, form and field of each member. */
  private readonly numbers: Float64Array;
  private readonly forms: Uint8Array;
  private readonly offsets: Int32Array;
  /** Members that become strings. */
  private readonly texts: number[] = [];
  /** Place and size of each member's value, and the string that it has become. */
  private readonly at: Int32Array;
  private readonly sizes: Int32Array;
  private readonly strings: Uint32Array;
  /** The word of a number in `wordStrings`, by place in `words`. */
  private readonly knownWords: (string | undefined)[] = [];
  private readonly wordStrings: number[] = [];
  /** Which members the value has: halves of 64 bits. */
  private presentLo = 0;
  private presentHi = 0;

  constructor(
    private readonly event: number,
    members: readonly SurveyedMember[],
    private readonly packer: EventPacker,
  ) {
    this.numbers = Float64Array.from(members, ({ member }) => member);
    this.forms = Uint8Array.from(members, ({ form }) => form);
    this.offsets = new Int32Array(members.length);
    let offset = MEMBERS_AT;
    for (const [i, { form }] of members.entries()) {
      this.offsets[i] = offset;
      offset += sizeOf(form);
      if (form !== Form.INTEGER && form !== Form.FLOAT) this.texts.push(i);
    }
    this.at = new Int32Array(members.length);
    this.sizes = new Int32Array(members.length);
    this.strings = new Uint32Array(members.length);
  }

  /** Places of the value's members in `bytes`; those that it lacks are empty. */
  emit(bytes: Uint8Array, from: number, size: number, tag: number): void {
    this.find(bytes, from, size);
    this.nameStrings(bytes);
    const { forms, offsets, packer } = this;
    const { view, offset } = packer.open(this.event);
    view.setUint8(offset, tag);
    view.setInt32(offset + PRESENT_AT, this.presentLo, true);
    view.setInt32(offset + PRESENT_AT + 4, this.presentHi, true);
    for (let i = 0; i < forms.length; i++) {
      const to = offset + offsets[i];
      const size = this.sizes[i];
      if (forms[i] === Form.INTEGER) putBytes(view, to, bytes, this.at[i], size, true);
      else if (forms[i] === Form.FLOAT) {
        putBytes(view, to, bytes, this.at[i], size, false);
        view.setUint8(to + 8, size * 8);
      } else view.setUint32(to, this.strings[i], true);
    }
  }

  /** Places of the members' values, and which of them exist. */
  private find(bytes: Uint8Array, from: number, size: number): void {
    const { walk, numbers, at, sizes } = this;
    walk.open(bytes, from, size);
    let isFound = walk.advance();
    let presentLo = 0;
    let presentHi = 0;
    for (let i = 0; i < numbers.length; i++) {
      if (!isFound || walk.member !== numbers[i]) {
        at[i] = ABSENT;
        sizes[i] = 0;
        continue;
      }
      if (i < 32) presentLo |= 1 << i;
      else presentHi |= 1 << i;
      at[i] = walk.at;
      sizes[i] = walk.size;
      isFound = walk.advance();
    }
    this.presentLo = presentLo;
    this.presentHi = presentHi;
  }

  private nameStrings(bytes: Uint8Array): void {
    for (const i of this.texts) {
      const form = this.forms[i];
      this.strings[i] =
        form === Form.TEXT && this.at[i] !== ABSENT
          ? this.textString(bytes, this.at[i], this.sizes[i])
          : this.packer.string(this.text(form, i, bytes));
    }
  }

  /** Number of the string of a text: most are words that occur again and again. */
  private textString(bytes: Uint8Array, at: number, size: number): number {
    const { words } = this;
    const word = words.at(bytes, at, at + size);
    if (word === null) return this.packer.string(decoder.decode(bytes.subarray(at, at + size)));
    const { place } = words;
    if (this.knownWords[place] === word) return this.wordStrings[place];
    const string = this.packer.string(word);
    this.knownWords[place] = word;
    this.wordStrings[place] = string;
    return string;
  }

  private text(form: number, i: number, bytes: Uint8Array): string {
    const [at, size] = [this.at[i], this.sizes[i]];
    if (at === ABSENT) return '';
    if (form === Form.DECIMAL) return String(sintToBigInt(bytes, at, size));
    return toHex(bytes.subarray(at, at + size));
  }
}
