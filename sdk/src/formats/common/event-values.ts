/** Events whose payload follows their schema: written from lists of values, read by the number of a field. */
import type { FrameCursor } from '../../format/frame.js';
import { FieldType, isSigned, packedSize, type Schema } from '../../format/types.js';
import { payloadLayout } from '../../reader/index.js';
import { StringOutput } from '../../stream/string-remap.js';
import type { EventShape, TraceFrames } from './trace-frames.js';

export type PackedValue = number | bigint | boolean | string;

export class EventPacker {
  private readonly shapes: readonly EventShape[];
  private readonly strings: StringOutput;
  private readonly scratch: (number | bigint | boolean)[] = [];

  constructor(
    private readonly schema: Schema,
    private readonly frames: TraceFrames,
  ) {
    this.shapes = schema.events.map(({ eventTypeId: id, fields }) => ({ id, size: packedSize(fields) }));
    this.strings = new StringOutput(frames.batch);
  }

  /** Number of a string. New ones become separate records: before `open`. */
  string(text: string): number {
    return this.strings.add(text);
  }

  /** The payload of an event, all 0, which the caller fills. */
  open(type: number): { view: DataView; offset: number } {
    return this.frames.event(this.shapes[type]);
  }

  /** One value per field of the event, in their order; signed numbers are stored as they are. */
  emit(type: number, ...values: readonly PackedValue[]): void {
    const { fields } = this.schema.events[type];
    // New strings become separate records, so they come first.
    for (let i = 0; i < fields.length; i++) {
      const value = values[i];
      this.scratch[i] = typeof value === 'string' ? this.strings.add(value) : value;
    }
    const { view, offset } = this.open(type);
    let at = offset;
    for (let i = 0; i < fields.length; i++) at = put(view, at, fields[i].type, this.scratch[i]);
  }
}

function put(view: DataView, at: number, type: FieldType, value: number | bigint | boolean): number {
  switch (type) {
    case FieldType.U8:
    case FieldType.I8:
    case FieldType.BOOL:
    case FieldType.ENUM:
      view.setUint8(at, Number(value));
      return at + 1;
    case FieldType.U16:
    case FieldType.I16:
      view.setUint16(at, Number(value), true);
      return at + 2;
    case FieldType.U64:
    case FieldType.I64:
      view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
      return at + 8;
    default:
      view.setUint32(at, Number(value), true);
      return at + 4;
  }
}

/** Fields of the events of a trace: whole numbers, 64-bit numbers, strings. */
export class EventFields {
  private readonly layouts: readonly (readonly number[])[];
  private cursor!: FrameCursor;
  private view: DataView = new DataView(new ArrayBuffer(0));

  constructor(
    private readonly schema: Schema,
    /** Text by its index. */
    private readonly textAt: (index: number) => string,
  ) {
    this.layouts = schema.events.map(({ fields }) => payloadLayout(fields).offsets);
  }

  /** The event that the cursor is at. */
  at(cursor: FrameCursor): this {
    this.cursor = cursor;
    if (this.view.buffer !== cursor.bytes.buffer || this.view.byteOffset !== cursor.bytes.byteOffset) {
      this.view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
    }
    return this;
  }

  text(field: number): string {
    return this.textAt(this.view.getUint32(this.place(field), true));
  }

  /** A number of at most 32 bits. */
  number(field: number): number {
    const at = this.place(field);
    switch (this.typeOf(field)) {
      case FieldType.I8:
        return this.view.getInt8(at);
      case FieldType.U16:
        return this.view.getUint16(at, true);
      case FieldType.I16:
        return this.view.getInt16(at, true);
      case FieldType.I32:
        return this.view.getInt32(at, true);
      case FieldType.U32:
      case FieldType.STRING_REF:
        return this.view.getUint32(at, true);
      default:
        return this.view.getUint8(at);
    }
  }

  wide(field: number): bigint {
    const at = this.place(field);
    const type = this.typeOf(field);
    if (type !== FieldType.U64 && type !== FieldType.I64) return BigInt(this.number(field));
    return isSigned(type) ? this.view.getBigInt64(at, true) : this.view.getBigUint64(at, true);
  }

  typeOf(field: number): FieldType {
    return this.schema.events[this.cursor.eventType].fields[field].type;
  }

  private place(field: number): number {
    return this.cursor.payloadOffset + this.layouts[this.cursor.eventType][field];
  }
}

/** The first four of `size` bytes as an unsigned number; 0 where there are none. */
export function wordAt(bytes: Uint8Array, at: number, size: number): number {
  let word = 0;
  for (let i = Math.min(size, 4) - 1; i >= 0; i--) word = (word << 8) | bytes[at + i];
  return word >>> 0;
}
