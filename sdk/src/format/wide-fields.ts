/**
 * Fields wider than 64 bits (docs/reference/format.md#wide-fields): in the file they are several fields of 64 bits, whose names say what they belong to.
 *
 *     data.bits512.0 ... data.bits512.7     the bits 0..63, ..., 448..511
 *     data.bits512.x0 ... data.bits512.x7   of a four-state field, after these: which of the bits are x (value bit 1) or z (value bit 0)
 */
import { type FieldDef, FieldType } from './types.js';

/** One value: of one field of the schema, or of several that belong together. */
export interface LogicalField {
  readonly name: string;
  /** Above 64 for a wide field; 0 for any other, whose type says it. */
  readonly bits: number;
  /** Indices of the schema's fields with the value's bits, the lowest first. */
  readonly pieces: readonly number[];
  /** Indices of those that say which bits are unknown; empty for two states. */
  readonly unknown: readonly number[];
}

const PIECE_BITS = 64;
/** Fewer bits fit a field. */
export const MIN_WIDE_BITS = 65;
/** A value of more bits has more pieces than a slot or a payload has room for. */
export const MAX_WIDE_BITS = 65_536;
const PIECE_NAME = /^(.+)\.bits(\d{1,5})\.(x?)(\d{1,4})$/;

/** Names of the fields that hold a value of `bits` bits. */
export function wideFieldNames(name: string, bits: number, isFourState = false): string[] {
  const count = Math.ceil(bits / PIECE_BITS);
  const names = (mark: string): string[] =>
    Array.from({ length: count }, (_, index) => `${name}.bits${bits}.${mark}${index}`);
  return isFourState ? [...names(''), ...names('x')] : names('');
}

/** Fields of a storage or an event as a reader shows them. A row of pieces that is not whole is shown as the fields that are there. */
export function logicalFields(fields: readonly Pick<FieldDef, 'name' | 'type'>[]): LogicalField[] {
  const found: LogicalField[] = [];
  for (let at = 0; at < fields.length; ) {
    const wide = wideAt(fields, at);
    const one = wide ?? { name: fields[at].name, bits: 0, pieces: [at], unknown: [] };
    found.push(one);
    at += one.pieces.length + one.unknown.length;
  }
  return found;
}

function wideAt(fields: readonly Pick<FieldDef, 'name' | 'type'>[], at: number): LogicalField | null {
  const [, name, bitsText, mark, index] = PIECE_NAME.exec(fields[at].name) ?? [];
  const bits = Number(bitsText);
  if (name === undefined || mark !== '' || index !== '0' || bits < MIN_WIDE_BITS || bits > MAX_WIDE_BITS)
    return null;
  const two = wideFieldNames(name, bits);
  if (!isRow(fields, at, two)) return null;
  const pieces = two.map((_, piece) => at + piece);
  const unknown = wideFieldNames(name, bits, true).slice(two.length);
  const isFourState = isRow(fields, at + two.length, unknown);
  return {
    name,
    bits,
    pieces,
    unknown: isFourState ? unknown.map((_, piece) => at + two.length + piece) : [],
  };
}

function isRow(
  fields: readonly Pick<FieldDef, 'name' | 'type'>[],
  at: number,
  names: readonly string[],
): boolean {
  return names.every((name, index) => {
    const field = fields[at + index];
    return field?.name === name && field.type === FieldType.U64;
  });
}

/** The value of pieces of 64 bits, the lowest first. */
export function joinPieces(pieces: readonly bigint[]): bigint {
  let value = 0n;
  for (let index = pieces.length - 1; index >= 0; index--)
    value = (value << 64n) | BigInt.asUintN(64, pieces[index]);
  return value;
}

/** Pieces of 64 bits of a value, the lowest first. Bits above `bits` are left out. */
export function splitPieces(value: bigint, bits: number): bigint[] {
  const whole = BigInt.asUintN(bits, value);
  return Array.from({ length: Math.ceil(bits / PIECE_BITS) }, (_, index) =>
    BigInt.asUintN(PIECE_BITS, whole >> BigInt(index * PIECE_BITS)),
  );
}

/** `0x…` with all digits of the width; a digit with an unknown bit is x, or z where all its unknown bits are z. */
export function wideText(bits: number, value: bigint, unknown = 0n): string {
  const digits = Math.ceil(bits / 4);
  if (unknown === 0n) return `0x${value.toString(16).padStart(digits, '0')}`;
  let text = '';
  for (let digit = digits - 1; digit >= 0; digit--) {
    const [bit, mask] = [
      Number((value >> BigInt(4 * digit)) & 0xfn),
      Number((unknown >> BigInt(4 * digit)) & 0xfn),
    ];
    text += mask === 0 ? bit.toString(16) : (bit & mask) === 0 ? 'z' : 'x';
  }
  return `0x${text}`;
}
