/** Fields of the events of a trace, by their number: whole numbers, 64-bit numbers, texts. */
import type { FrameCursor } from '../../format/frame.js';
import { FieldType, isSigned, type Schema } from '../../format/types.js';
import { payloadLayout } from '../../reader/index.js';

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

  /** Of at most 32 bits. */
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
