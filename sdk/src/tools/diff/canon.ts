/** Values of two traces in a form in which equal means the same: masked to the field's width, sign-extended, texts and labels as hashes. */
import { type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';
import type { FieldPair } from './match.js';

/** How the values of one field are brought into that form. */
export interface FieldCanon {
  readonly size: number;
  readonly signedBits: number;
  readonly isText: boolean;
  /** By value 0 to 255: hash of the label; null where numbers are compared. */
  readonly labels: Float64Array | null;
}

export function fieldCanon(schema: Schema, field: FieldDef, as: FieldPair['as']): FieldCanon {
  const isEnum = as === 'label' && field.type === FieldType.ENUM;
  return {
    size: fieldSize(field.type),
    signedBits: isSigned(field.type) ? fieldSize(field.type) * 8 : 0,
    isText: as === 'text',
    labels: isEnum ? labelHashes(schema, field.enumId) : null,
  };
}

/** Values without a label keep their number, which no hash equals: hashes lie above 2^32. */
function labelHashes(schema: Schema, enumId: number): Float64Array {
  const hashes = Float64Array.from({ length: 256 }, (_, value) => value);
  for (const { value, name } of [...(schema.enums[enumId]?.values ?? [])].reverse())
    hashes[value] = hash53(name);
  return hashes;
}

const TWO_32 = 2 ** 32;

/** A hash of 53 bits, never below 2^32. */
export function hash53(text: string): number {
  let first = 0x811c9dc5;
  let second = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
    second ^= second >>> 13;
  }
  first ^= first >>> 16;
  const high = ((second ^ (second >>> 15)) >>> 0) & 0x1f_ffff;
  return (high === 0 ? 1 : high) * TWO_32 + (first >>> 0);
}

/** The present value after `read`, as u32 halves: a register, so that nothing is allocated per value. */
export class CanonValue {
  lo = 0;
  hi = 0;

  /** @param text hash of the text that a reference names, asked for only where it is one */
  read(field: FieldCanon, lo: number, hi: number, text: (index: number) => number): void {
    if (field.isText) this.set(text(lo));
    else if (field.labels) this.set(field.labels[lo & 0xff]);
    else if (field.signedBits !== 0) this.extend(field.signedBits, lo, hi);
    else if (field.size === 8) {
      this.lo = lo;
      this.hi = hi;
    } else {
      this.lo = field.size === 4 ? lo : field.size === 2 ? lo & 0xffff : lo & 0xff;
      this.hi = 0;
    }
  }

  private extend(bits: number, lo: number, hi: number): void {
    if (bits === 64) {
      this.lo = lo;
      this.hi = hi;
      return;
    }
    const value = (lo << (32 - bits)) >> (32 - bits);
    this.lo = value >>> 0;
    this.hi = value < 0 ? 0xffff_ffff : 0;
  }

  private set(hash: number): void {
    this.lo = hash % TWO_32;
    this.hi = Math.floor(hash / TWO_32);
  }
}
