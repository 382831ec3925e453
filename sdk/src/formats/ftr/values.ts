/** Between the bits of attributes and their values. */
import { UscopeError } from '../../base/errors.js';
import type { Dictionary } from './dictionary.js';
import { FtrForm, FtrType, type FtrValue, IS_FLOAT, IS_TEXT, OLD_STRING, TYPE_NAMES } from './types.js';

const scratch = new DataView(new ArrayBuffer(8));
const HALF_EXPONENT_BIAS = 25;

/** The type by today's numbers. */
export function typeOf(type: number): FtrType {
  return (type === OLD_STRING ? FtrType.STRING : type) as FtrType;
}

/** A number with a fraction, of whatever form it has. */
function floatOf(form: number, lo: number, hi: number): number {
  if (form === FtrForm.UNSIGNED) return hi * 2 ** 32 + lo;
  if (form === FtrForm.NEGATIVE) return -1 - (hi * 2 ** 32 + lo);
  if (form === FtrForm.FLOAT16) return halfOf(lo);
  if (form === FtrForm.FLOAT32) {
    scratch.setUint32(0, lo);
    return scratch.getFloat32(0);
  }
  scratch.setUint32(0, hi);
  scratch.setUint32(4, lo);
  return scratch.getFloat64(0);
}

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1024 + mantissa) * 2 ** (exponent - HALF_EXPONENT_BIAS) : mantissa * 2 ** -24);
}

/**
 * The 64 bits in which a value is kept elsewhere: of fractions those of an f64, of integers the two's complement, of texts 0.
 * The result is in `low` and `high`.
 */
export class Bits {
  low = 0;
  high = 0;

  set(type: number, form: number, lo: number, hi: number): void {
    if (IS_FLOAT[type] === 1 && form !== FtrForm.FLOAT64) {
      scratch.setFloat64(0, floatOf(form, lo, hi));
      this.high = scratch.getUint32(0);
      this.low = scratch.getUint32(4);
      return;
    }
    const isNegative = form === FtrForm.NEGATIVE;
    this.low = (isNegative ? ~lo : lo) >>> 0;
    this.high = (isNegative ? ~hi : hi) >>> 0;
    if (type === FtrType.BOOLEAN) {
      this.low = this.low !== 0 || this.high !== 0 ? 1 : 0;
      this.high = 0;
    }
  }
}

/** The value that 64 bits represent, of types that are not texts. Integers are taken modulo 2^64. */
export function valueOfBits(type: FtrType, bits: bigint): boolean | bigint | number {
  if (type === FtrType.BOOLEAN) return bits !== 0n;
  if (type === FtrType.INTEGER) return BigInt.asIntN(64, bits);
  if (IS_FLOAT[type] === 0) return bits;
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}

const bitsOf = new Bits();

/** The value of an attribute as a cursor gives it; a missing string is shown as `#12`. */
export function attributeValue(
  dictionary: Dictionary,
  type: number,
  form: number,
  lo: number,
  hi: number,
): FtrValue {
  if (IS_TEXT[type] === 1) return dictionary.get(lo) ?? missingText(lo);
  bitsOf.set(type, form, lo, hi);
  return valueOfBits(typeOf(type), (BigInt(bitsOf.high) << 32n) | BigInt(bitsOf.low));
}

/** What represents a text that the file does not have. */
export function missingText(id: number): string {
  return `#${id}`;
}

/** The bits of a value as `valueOfBits` takes them. @throws UscopeError CONVERT_SOURCE for a value that is none of the type */
export function bitsOfValue(type: FtrType, value: FtrValue): bigint {
  if (type === FtrType.BOOLEAN && typeof value === 'boolean') return value ? 1n : 0n;
  if (IS_FLOAT[type] === 1 && typeof value === 'number') {
    scratch.setFloat64(0, value);
    return scratch.getBigUint64(0);
  }
  if (IS_FLOAT[type] === 0 && IS_TEXT[type] === 0 && type !== FtrType.BOOLEAN && typeof value === 'bigint')
    return BigInt.asUintN(64, value);
  throw new UscopeError(
    'CONVERT_SOURCE',
    `a ${typeof value} is not a value of the type ${TYPE_NAMES[type] ?? type}`,
  );
}
