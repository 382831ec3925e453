/** Ops and events as lines: JSON for programs, text for people. Everything that does not depend on the item is prepared once. */

import { onOneLine } from '../../base/printable.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, FieldType, fieldSize } from '../../format/types.js';
import { joinPieces, type LogicalField } from '../../format/wide-fields.js';
import { type LoadedSegment, payloadLayout, type Trace } from '../../reader/index.js';
import { paint } from './io.js';
import { decimal, ValueFormat } from './values.js';
import { fieldsWithWide, type WideOp, wideValueText } from './wide-ops.js';

interface StorageFormat {
  readonly name: string;
  readonly nameJson: string;
  readonly fields: readonly ValueFormat[];
  readonly properties: readonly ValueFormat[];
  /** `,"field":"pc","value":` by field and by property. */
  readonly fieldParts: readonly string[];
  readonly propertyParts: readonly string[];
  readonly hasStrings: boolean;
}

interface EventFormat {
  readonly name: string;
  /** Of its scope's clock; 0: unknown. */
  readonly periodPs: bigint;
  /** `","event":"core0/flush","fields":{` */
  readonly head: string;
  readonly fields: readonly ValueFormat[];
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
  /** Null where no field is wide. */
  readonly logical: readonly LogicalField[] | null;
  /** `"entity_id":`, from the second on with a comma. */
  readonly keys: readonly string[];
  readonly hasStrings: boolean;
}

/** Which items a walk is about: event types by id; null for all items. */
export type EventFilter = ReadonlySet<number> | null;

export class ItemFormat {
  readonly events: readonly EventFormat[];
  private readonly storages: readonly StorageFormat[];
  private readonly hasStrings: boolean;

  constructor(private readonly trace: Trace) {
    const { schema, names, strings } = trace;
    this.storages = schema.storages.map((storage, id) => {
      const fields = storage.fields.map((field) => new ValueFormat(field, schema, strings));
      const properties = storage.properties.map((field) => new ValueFormat(field, schema, strings));
      const name = names.storageNames[id];
      return {
        name: onOneLine(name),
        nameJson: JSON.stringify(name),
        fields,
        properties,
        fieldParts: fields.map(fieldPart),
        propertyParts: properties.map(fieldPart),
        hasStrings: [...fields, ...properties].some((field) => field.isStringRef),
      };
    });
    this.events = schema.events.map((event, id) => {
      const fields = event.fields.map((field) => new ValueFormat(field, schema, strings));
      return {
        name: onOneLine(names.eventNames[id]),
        periodPs: BigInt(trace.clockOf(event.scopeId)?.periodPs ?? 0),
        head: `","op":"event","event":${JSON.stringify(names.eventNames[id])},"fields":{`,
        fields,
        logical: fieldsWithWide(event.fields),
        offsets: payloadLayout(event.fields).offsets,
        sizes: event.fields.map((field) => fieldSize(field.type)),
        keys: event.fields.map((field, index) => `${index > 0 ? ',' : ''}${JSON.stringify(field.name)}:`),
        hasStrings: fields.some((field) => field.isStringRef),
      };
    });
    this.hasStrings = [...this.storages, ...this.events].some((format) => format.hasStrings);
  }

  /** Brings the strings that a segment's items name into memory, so that they can be printed without waiting. */
  async loadStrings(segment: LoadedSegment, only: EventFilter = null): Promise<void> {
    if (!this.hasStrings) return;
    const wanted = new Set<number>();
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.EVENT) {
          if (!only || only.has(cursor.eventType)) this.collectEvent(cursor, wanted);
        } else if (cursor.kind === CursorItem.OP && !only) this.collectOp(cursor, wanted);
      }
    } catch {
      // The scan that follows meets the same damage and reports it, after everything before it.
    }
    await this.trace.strings.load(wanted);
  }

  opJson(cursor: FrameCursor, time: string): string {
    const { action, slot, field, lo, hi } = cursor;
    const storage = this.storages[cursor.storageId];
    switch (action) {
      case Action.SET:
        return `{"t":"${time}","op":"set","storage":${storage.nameJson},"slot":${slot}${storage.fieldParts[field]}${storage.fields[field].json(lo, hi)}}\n`;
      case Action.CLEAR:
        return `{"t":"${time}","op":"clear","storage":${storage.nameJson},"slot":${slot}}\n`;
      case Action.ADD:
        return `{"t":"${time}","op":"add","storage":${storage.nameJson},"slot":${slot}${storage.fieldParts[field]}"${storage.fields[field].integer(lo, hi)}"}\n`;
      default:
        return `{"t":"${time}","op":"prop","storage":${storage.nameJson}${storage.propertyParts[field]}${storage.properties[field].json(lo, hi)}}\n`;
    }
  }

  wideOpJson({ time, storageId, slot, field }: WideOp, value: string): string {
    const { nameJson } = this.storages[storageId];
    const [op, place] = slot === null ? ['prop', ''] : ['set', `,"slot":${slot}`];
    return `{"t":"${time}","op":"${op}","storage":${nameJson}${place},"field":${JSON.stringify(field)},"value":"${value}"}\n`;
  }

  wideOpText({ time, storageId, slot, field }: WideOp, value: string): string {
    const { name } = this.storages[storageId];
    const target = slot === null ? `prop   ${name}` : `set    ${name}[${slot}]`;
    return `${paint('dim', `${time} ps`)}  ${target}.${onOneLine(field)} = ${value}\n`;
  }

  eventJson(cursor: FrameCursor, time: string): string {
    const event = this.events[cursor.eventType];
    let line = `{"t":"${time}${event.head}`;
    if (event.logical) return `${line}${this.logicalFields(cursor, event, true).join(',')}}}\n`;
    for (let i = 0; i < event.fields.length; i++) {
      line += event.keys[i] + event.fields[i].json(this.lo(cursor, event, i), this.hi(cursor, event, i));
    }
    return `${line}}}\n`;
  }

  opText(cursor: FrameCursor, time: string): string {
    const { action, slot, field, lo, hi } = cursor;
    const storage = this.storages[cursor.storageId];
    const at = paint('dim', `${time} ps`);
    switch (action) {
      case Action.SET: {
        const format = storage.fields[field];
        return `${at}  set    ${storage.name}[${slot}].${format.name} = ${format.text(lo, hi)}\n`;
      }
      case Action.CLEAR:
        return `${at}  clear  ${storage.name}[${slot}]\n`;
      case Action.ADD: {
        const format = storage.fields[field];
        return `${at}  add    ${storage.name}[${slot}].${format.name} += ${format.integer(lo, hi)}\n`;
      }
      default: {
        const format = storage.properties[field];
        return `${at}  prop   ${storage.name}.${format.name} = ${format.text(lo, hi)}\n`;
      }
    }
  }

  /** The same with the cycle of the clock of the event's scope. */
  eventInCycle(cursor: FrameCursor, time: string): string {
    const { periodPs } = this.events[cursor.eventType];
    return this.eventText(
      cursor,
      periodPs > 0n ? `${time} ps  cycle ${BigInt(time) / periodPs}` : `${time} ps`,
    );
  }

  /** @param at when, with its unit */
  eventText(cursor: FrameCursor, at: string): string {
    const event = this.events[cursor.eventType];
    const fields = event.logical
      ? this.logicalFields(cursor, event, false)
      : event.fields.map(
          (format, i) =>
            ` ${format.name}=${format.text(this.lo(cursor, event, i), this.hi(cursor, event, i))}`,
        );
    return `${paint('dim', at)}  event  ${paint('cyan', event.name)}${fields.join('')}\n`;
  }

  /** The fields of an event with wide ones: `"name":value`, or ` name=value`. */
  private logicalFields(cursor: FrameCursor, event: EventFormat, asJson: boolean): string[] {
    const bits = this.bitsOf(cursor, event);
    return (event.logical ?? []).map((one) => {
      const [index] = one.pieces;
      const [lo, hi] = [this.lo(cursor, event, index), this.hi(cursor, event, index)];
      if (one.bits > 0) {
        const value = wideValueText(one, bits);
        return asJson ? `${JSON.stringify(one.name)}:"${value}"` : ` ${onOneLine(one.name)}=${value}`;
      }
      const format = event.fields[index];
      return asJson
        ? `${JSON.stringify(one.name)}:${format.json(lo, hi)}`
        : ` ${onOneLine(one.name)}=${format.text(lo, hi)}`;
    });
  }

  /**
   * Field `number` of the present event, counted as `logicalFields` does, as `ValueFormat.plain` prints it. `integer` is null for a wide value
   * with unknown bits.
   */
  eventField(cursor: FrameCursor, number: number): { plain: string; integer: string | null } {
    const event = this.events[cursor.eventType];
    const logical = event.logical?.[number];
    if (logical && logical.bits > 0) {
      const bits = this.bitsOf(cursor, event);
      const isKnown = logical.unknown.every((index) => bits(index) === 0n);
      return {
        plain: wideValueText(logical, bits),
        integer: isKnown ? String(joinPieces(logical.pieces.map(bits))) : null,
      };
    }
    const index = logical ? logical.pieces[0] : number;
    const [lo, hi] = [this.lo(cursor, event, index), this.hi(cursor, event, index)];
    return { plain: event.fields[index].plain(lo, hi), integer: event.fields[index].integer(lo, hi) };
  }

  private bitsOf(cursor: FrameCursor, event: EventFormat): (index: number) => bigint {
    return (index) => (BigInt(this.hi(cursor, event, index)) << 32n) | BigInt(this.lo(cursor, event, index));
  }

  private lo(cursor: FrameCursor, event: EventFormat, index: number): number {
    const { bytes } = cursor;
    const at = cursor.payloadOffset + event.offsets[index];
    switch (event.sizes[index]) {
      case 1:
        return bytes[at];
      case 2:
        return bytes[at] | (bytes[at + 1] << 8);
      default:
        return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
    }
  }

  private hi(cursor: FrameCursor, event: EventFormat, index: number): number {
    if (event.sizes[index] !== 8) return 0;
    const { bytes } = cursor;
    const at = cursor.payloadOffset + event.offsets[index] + 4;
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
  }

  private collectEvent(cursor: FrameCursor, wanted: Set<number>): void {
    const event = this.events[cursor.eventType];
    if (!event?.hasStrings) return;
    event.fields.forEach((format, index) => {
      if (format.isStringRef) wanted.add(this.lo(cursor, event, index));
    });
  }

  private collectOp(cursor: FrameCursor, wanted: Set<number>): void {
    const storage = this.storages[cursor.storageId];
    if (!storage?.hasStrings || cursor.hi !== 0) return;
    const fields = cursor.action === Action.PROP_SET ? storage.properties : storage.fields;
    if (fields[cursor.field]?.field.type === FieldType.STRING_REF) wanted.add(cursor.lo);
  }
}

function fieldPart(format: ValueFormat): string {
  return `,"field":${JSON.stringify(format.field.name)},"value":`;
}

/** Time of the present frame, in decimal. */
export function frameTime(cursor: FrameCursor): string {
  return decimal(cursor.timeLo, cursor.timeHi);
}
