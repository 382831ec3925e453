/** Events from lists of values: packs each field as wide as its type. */
import { FieldType, packedSize, type Schema } from '../../format/types.js';
import type { StringOutput } from '../../stream/string-remap.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';

export type PackedValue = number | bigint | string;

export class EventPacker {
  private readonly sizes: readonly number[];
  private readonly scratch: (number | bigint)[] = [];

  constructor(
    private readonly schema: Schema,
    private readonly batch: RecordBatch,
    private readonly strings: StringOutput,
    /** Called before each event: a frame holds a limited number. */
    private readonly count: () => void,
  ) {
    this.sizes = schema.events.map(({ fields }) => packedSize(fields));
  }

  /** Number of a string. New ones become separate records: before `open`. */
  string(text: string): number {
    return this.strings.add(text);
  }

  /** The payload of an event, all 0, which the caller fills. */
  open(type: number): { view: DataView; offset: number } {
    this.count();
    return this.batch.event(type, this.sizes[type]);
  }

  /** One value per field of the event, in their order; signed numbers are stored as they are. */
  emit(type: number, ...values: readonly PackedValue[]): void {
    const { fields } = this.schema.events[type];
    // New strings become separate records, so they come first.
    for (let i = 0; i < fields.length; i++) {
      const value = values[i];
      this.scratch[i] = typeof value === 'string' ? this.strings.add(value) : value;
    }
    this.count();
    const { view, offset } = this.batch.event(type, this.sizes[type]);
    let at = offset;
    for (let i = 0; i < fields.length; i++) at = put(view, at, fields[i].type, this.scratch[i]);
  }
}

function put(view: DataView, at: number, type: FieldType, value: number | bigint): number {
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
