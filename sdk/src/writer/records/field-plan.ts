/** What a field takes as a plain number, so that a model's values need not become BigInts on their way into a record. */
import { type FieldDef, FieldType, fieldSize, isSigned } from '../../format/types.js';

const BITS_32 = 2 ** 32;

export interface FieldPlan {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Integers from `min` to `max` fit; of texts none, their indices must be looked at. */
  readonly min: number;
  readonly max: number;
  readonly isText: boolean;
}

export function planOf({ name, type }: FieldDef): FieldPlan {
  const size = fieldSize(type);
  if (type === FieldType.STRING_REF) return { name, size, min: 0, max: -1, isText: true };
  const signed = isSigned(type);
  return { name, size, min: signed ? smallest(size) : 0, max: largest(type, size), isText: false };
}

function smallest(size: number): number {
  return size === 8 ? Number.MIN_SAFE_INTEGER : -(2 ** (8 * size - 1));
}

/** Of signed types too: N-bit patterns are taken. */
function largest(type: FieldType, size: number): number {
  if (type === FieldType.BOOL) return 1;
  return size === 8 ? Number.MAX_SAFE_INTEGER : 2 ** (8 * size) - 1;
}

export function fitsPlan({ min, max }: FieldPlan, value: number): boolean {
  return value >= min && value <= max && Number.isInteger(value);
}

/** Upper 32 bits of a safe integer in two's complement; the lower ones are `value >>> 0`. */
export function upperBits(value: number): number {
  return value >= 0 && value < BITS_32 ? 0 : Math.floor(value / BITS_32) >>> 0;
}

/** Writes a safe integer in `size` bytes, little-endian; returns the offset after it. */
export function putNumber(view: DataView, at: number, size: number, value: number): number {
  if (size === 1) view.setUint8(at, value);
  else if (size === 2) view.setUint16(at, value, true);
  else view.setUint32(at, value >>> 0, true);
  if (size === 8) view.setUint32(at + 4, upperBits(value), true);
  return at + size;
}
