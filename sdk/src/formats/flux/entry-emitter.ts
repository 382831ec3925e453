/** Entries of flux as events of a µScope trace. */
import { qualifiedName, type Schema } from '../../format/types.js';
import type { FluxCursor } from './cursor.js';
import type { EventPacker, PackedValue } from './event-packer.js';
import type { SignalPlan } from './import-schema.js';
import { hex } from './listing.js';
import {
  ALL_ONE,
  ALL_ZERO,
  DYNAMIC,
  Form,
  HEX_BYTES,
  META_EVENTS,
  META_SCOPE,
  type MetaEvent,
  Tag,
  UNIFORM,
} from './mapping.js';
import { putBytes } from './number-bytes.js';
import { sintToBigInt } from './numbers.js';
import { StructEmitter } from './struct-emitter.js';
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
    const { tag, numbers: n } = cursor;
    const trace = cursor.trace!.id;
    const text = (field: number): string => cursor.text(field);
    switch (tag) {
      case FluxTag.HEAD:
        this.say('head', trace, n[1], n[5], text(3), text(4), n[6], n[7]);
        return;
      case FluxTag.SCPD:
        this.item(trace, tag, n[0], 0, n[1], text(2), text(3), 0, '', 0, 0);
        return;
      case FluxTag.SIGD:
        this.item(trace, tag, n[0], 0, n[1], text(2), text(3), n[4], text(5), 0, 0);
        return;
      case FluxTag.MSGD:
        this.item(trace, tag, n[0], n[1], n[2], text(3), text(4), n[5], text(6), 0, 0);
        return;
      case FluxTag.SIRD:
        this.item(trace, tag, n[0], 0, n[1], text(2), text(3), 0, '', 0, 0);
        return;
      case FluxTag.SSGD:
        this.item(trace, tag, n[0], 0, n[1], text(2), text(3), n[4], text(5), n[6], n[7]);
        return;
      case FluxTag.SSRD:
        this.item(trace, tag, n[0], 0, n[1], text(2), text(3), 0, '', n[4], n[5]);
        return;
      case FluxTag.CLOS:
        this.say('close', trace, n[0], cursor.sint(1));
        return;
      case FluxTag.DOMD:
        this.say('domain', trace, text(0));
        return;
      case FluxTag.CURR:
        this.say('current', trace, n[0], cursor.sint(1));
        return;
      case FluxTag.ENMD: {
        const value = (BigInt(cursor.highs[3]) << 32n) | BigInt(n[3]);
        this.say('enumeration', trace, n[0], n[1], text(2), value);
        return;
      }
      case FluxTag.MEMD:
        this.say('member', trace, n[0], n[1], n[2], text(3), n[4], text(5));
        return;
      case FluxTag.ATRE:
        this.say('relation', trace, n[0], n[1], n[2], n[3], String(cursor.sint(4)), n[5]);
        return;
      case FluxTag.ATLA:
        this.say('label', trace, n[0], n[1], String(cursor.sint(2)), String(cursor.sint(3)));
        return;
      case FluxTag.CREQ:
      case FluxTag.CRES: {
        const event = this.meta.get('control')!;
        this.inParts(cursor.field(2), 0, (part, parts) =>
          this.packer.emit(event, trace, tag, n[0], n[1], parts, part),
        );
        return;
      }
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

  private item(...values: readonly PackedValue[]): void {
    this.say('item', ...values);
  }

  private say(event: MetaEvent, ...values: readonly PackedValue[]): void {
    this.packer.emit(this.meta.get(event)!, ...values);
  }

  private inParts(bytes: Uint8Array, tag: number, emit: (hex: string, tag: number) => void): void {
    let at = 0;
    do {
      const end = Math.min(bytes.length, at + HEX_BYTES);
      emit(hex(bytes.subarray(at, end)), end < bytes.length ? tag | Tag.GOES_ON : tag);
      at = end;
    } while (at < bytes.length);
  }
}

const absent = ({ form }: SurveyedMember): PackedValue[] =>
  form === Form.INTEGER ? [0] : form === Form.FLOAT ? [0, 0] : [''];
