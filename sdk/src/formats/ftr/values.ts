/** Between the bits of attributes and their values. */
import { UscopeError } from '../../base/errors.js';
import {
  FtrForm,
  type FtrText,
  FtrType,
  type FtrValue,
  IS_FLOAT,
  IS_TEXT,
  OLD_STRING,
  TYPE_NAMES,
} from './types.js';

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

// The texts of a file by their numbers, kept as the bytes they are.

/** All texts together; far more than any recording has been seen to hold. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Numbers that do not follow on: the format's usual writers have none. */
const MAX_STRAY = 1 << 20;
const MAX_DECODED = 1 << 16;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text that these bytes are; a copy of them when they are none. */
export function textOf(bytes: Uint8Array): FtrText {
  try {
    return decoder.decode(bytes);
  } catch {
    return bytes.slice();
  }
}

const looseDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The string to show: what is not UTF-8 becomes U+FFFD. */
export function shownText(text: FtrText): string {
  return typeof text === 'string' ? text : looseDecoder.decode(text);
}

export class Dictionary {
  private bytes = new Uint8Array(4096);
  private length = 0;
  /** Beginning and size of text `id`, for 0 <= id < count. */
  private starts = new Uint32Array(256);
  private sizes = new Uint32Array(256);
  private count = 0;
  private readonly stray = new Map<number, Uint8Array>();
  private readonly decoded = new Map<number, FtrText>();

  /** Texts there are. */
  get size(): number {
    return this.count + this.stray.size;
  }

  /** A number that is given again has its newer text from then on. @throws UscopeError CONVERT_LIMIT */
  add(id: number, text: Uint8Array): void {
    if (id > this.count) this.addStray(id, text);
    else {
      this.append(text);
      if (id === this.count) this.extend();
      this.starts[id] = this.length - text.length;
      this.sizes[id] = text.length;
    }
    this.decoded.delete(id);
  }

  /** Undefined for a number without text. */
  get(id: number): FtrText | undefined {
    const known = this.decoded.get(id);
    if (known !== undefined) return known;
    const bytes = this.bytesOf(id);
    if (!bytes) return undefined;
    const text = textOf(bytes);
    if (this.decoded.size >= MAX_DECODED) this.decoded.clear();
    this.decoded.set(id, text);
    return text;
  }

  bytesOf(id: number): Uint8Array | undefined {
    const stray = this.stray.get(id);
    if (stray || id >= this.count) return stray;
    return this.bytes.subarray(this.starts[id], this.starts[id] + this.sizes[id]);
  }

  private addStray(id: number, text: Uint8Array): void {
    if (this.stray.size >= MAX_STRAY)
      throw new UscopeError('CONVERT_LIMIT', `more than ${MAX_STRAY} texts whose numbers do not follow on`);
    this.stray.set(id, text.slice());
  }

  private extend(): void {
    this.stray.delete(this.count);
    this.count++;
    if (this.count < this.starts.length) return;
    const [starts, sizes] = [this.starts, this.sizes];
    this.starts = new Uint32Array(starts.length * 2);
    this.sizes = new Uint32Array(starts.length * 2);
    this.starts.set(starts);
    this.sizes.set(sizes);
  }

  private append(text: Uint8Array): void {
    const needed = this.length + text.length;
    if (needed > MAX_BYTES)
      throw new UscopeError('CONVERT_LIMIT', `the texts of the file take more than ${MAX_BYTES} bytes`);
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.min(MAX_BYTES, Math.max(needed, this.bytes.length * 2)));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(text, this.length);
    this.length = needed;
  }
}
