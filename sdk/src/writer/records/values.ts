/** Values of fields as callers give them -> the u64 a delta carries. */
import { UscopeError } from '../../base/errors.js';
import { type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';

/** Numbers must be safe integers; strings are enum labels (or text, for string fields); booleans are 0 and 1. */
export type FieldValue = number | bigint | boolean | string;

const MASK_64 = 0xffff_ffff_ffff_ffffn;

/**
 * The u64 form of a value for a field: negative values of signed fields sign-extended.
 * @throws UscopeError OP_VALUE when it does not fit the type or is not a label of the enum.
 */
export function toFieldBits(schema: Schema, owner: string, field: FieldDef, value: FieldValue): bigint {
  const integer = toInteger(schema, owner, field, value);
  const bits = BigInt(fieldSize(field.type) * 8);
  const max = field.type === FieldType.BOOL ? 1n : (1n << bits) - 1n;
  const min = isSigned(field.type) ? -(1n << (bits - 1n)) : 0n;
  if (integer < min || integer > max) {
    throw valueError(owner, field, `${value} does not fit ${describe(schema, field)} (${min}..${max})`);
  }
  return integer & MASK_64;
}

/** Any 64-bit integer, signed or unsigned, as u64 (deltas of ADD). */
export function toU64(owner: string, value: number | bigint): bigint {
  const integer = typeof value === 'bigint' ? value : safeInteger(owner, value);
  if (integer < -(1n << 63n) || integer > MASK_64)
    throw new UscopeError('OP_VALUE', `${owner}: ${value} does not fit 64 bits`);
  return integer & MASK_64;
}

function toInteger(schema: Schema, owner: string, field: FieldDef, value: FieldValue): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return enumValue(schema, owner, field, value);
  return safeInteger(`${owner}.${field.name}`, value);
}

function safeInteger(owner: string, value: number): bigint {
  if (!Number.isSafeInteger(value))
    throw new UscopeError('OP_VALUE', `${owner}: ${value} is not an exact integer; use a bigint`);
  return BigInt(value);
}

function enumValue(schema: Schema, owner: string, field: FieldDef, label: string): bigint {
  const labels = field.type === FieldType.ENUM ? schema.enums[field.enumId].values : [];
  const found = labels.find(({ name }) => name === label);
  if (found) return BigInt(found.value);
  throw valueError(owner, field, `"${label}" is not a value of ${describe(schema, field)}`);
}

function describe(schema: Schema, field: FieldDef): string {
  if (field.type === FieldType.ENUM) {
    const { name, values } = schema.enums[field.enumId];
    return `enum ${name} {${values.map((v) => v.name).join(', ')}}`;
  }
  const name = Object.entries(FieldType).find(([, type]) => type === field.type)?.[0] ?? 'unknown';
  return name.toLowerCase();
}

function valueError(owner: string, field: FieldDef, detail: string): UscopeError {
  return new UscopeError('OP_VALUE', `${owner}.${field.name}: ${detail}`);
}
