/** Event payloads (docs/reference/format.md#packing): where each field lies, and reading one. */
import {
  type EnumDef,
  type EventDef,
  type FieldDef,
  FieldType,
  fieldSize,
  isSigned,
} from '../format/types.js';

/** Byte offset of each field of a payload, packed in definition order, and the size of the whole. */
export function payloadLayout(fields: readonly FieldDef[]): { offsets: readonly number[]; size: number } {
  let size = 0;
  const offsets = fields.map((field) => {
    const offset = size;
    size += fieldSize(field.type);
    return offset;
  });
  return { offsets, size };
}

/** Raw value of a field at `offset`: unsigned, as wide as its type. */
export function readRaw(bytes: Uint8Array, offset: number, type: FieldType): bigint {
  const size = fieldSize(type);
  let low = 0;
  for (let i = Math.min(size, 4) - 1; i >= 0; i--) low = low * 256 + bytes[offset + i];
  if (size < 8) return BigInt(low);
  let high = 0;
  for (let i = 7; i >= 4; i--) high = high * 256 + bytes[offset + i];
  return (BigInt(high) << 32n) | BigInt(low);
}

/** The number that `raw` represents: sign-extended from the type's width for signed types, unchanged for all others. */
export function interpret(type: FieldType, raw: bigint): bigint {
  return isSigned(type) ? BigInt.asIntN(fieldSize(type) * 8, raw) : raw;
}

/** True where a value is an index into the trace's strings. */
export function isStringRef(field: FieldDef): boolean {
  return field.type === FieldType.STRING_REF;
}

/** An event of a trace. The payload is a view into the decompressed segment: copy it to keep it for long. */
export class TraceEvent {
  constructor(
    readonly timePs: bigint,
    readonly def: EventDef,
    /** Scope path without the root, then the event's name. */
    readonly name: string,
    readonly payload: Uint8Array,
    private readonly offsets: readonly number[],
    private readonly enums: readonly EnumDef[],
  ) {}

  get eventTypeId(): number {
    return this.def.eventTypeId;
  }

  /** Value of a field by name or index, signed types as signed numbers; undefined when the event has no such field. */
  field(nameOrIndex: string | number): bigint | undefined {
    const index =
      typeof nameOrIndex === 'number'
        ? nameOrIndex
        : this.def.fields.findIndex((field) => field.name === nameOrIndex);
    const field = this.def.fields[index];
    return field && interpret(field.type, readRaw(this.payload, this.offsets[index], field.type));
  }

  /** Label of an enum's field, such as `mispredict`; undefined: it is not an enum, or the value has no label. */
  label(name: string): string | undefined {
    const field = this.def.fields.find((one) => one.name === name);
    if (field?.type !== FieldType.ENUM) return undefined;
    const number = Number(this.field(name));
    return this.enums[field.enumId]?.values.find(({ value }) => value === number)?.name;
  }

  /** All fields by name, those of enums as numbers: `label` has their names. */
  fields(): Record<string, bigint> {
    return Object.fromEntries(this.def.fields.map((field, index) => [field.name, this.field(index)!]));
  }
}
