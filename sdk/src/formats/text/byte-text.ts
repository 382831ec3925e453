/** A growing buffer of text, written digit by digit: no strings are made. */

const ZERO = 48;
const SPACE = 32;
/** Most bytes that a number takes. */
const NUMBER_BYTES = 24;
const CAPACITY = 128 * 1024;
const BILLION = 1_000_000_000;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
/** Below this length a string is copied letter by letter, as long as it is ASCII. */
const SHORT = 48;
/** Bytes of UTF-8 that a unit of a string takes at most. */
const UNIT_BYTES = 3;

export class ByteText {
  bytes: Uint8Array;
  /** Bytes used. */
  length = 0;

  constructor(capacity = CAPACITY) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + size, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  get used(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** The text of the first bytes; what is not UTF-8 reads as U+FFFD. */
  text(length = this.length): string {
    return decoder.decode(this.bytes.subarray(0, length));
  }

  clear(): void {
    this.length = 0;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** Short pieces are copied faster byte by byte. */
  copy(from: Uint8Array, start = 0, end = from.length): void {
    this.reserve(end - start);
    const { bytes } = this;
    let at = this.length;
    if (end - start > 64) {
      bytes.set(from.subarray(start, end), at);
      at += end - start;
    } else for (let i = start; i < end; i++) bytes[at++] = from[i];
    this.length = at;
  }

  ascii(text: string): void {
    this.reserve(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[this.length++] = text.charCodeAt(i);
  }

  /** Any text, as UTF-8. */
  string(text: string): void {
    const { length } = text;
    this.reserve(UNIT_BYTES * length);
    if (length > SHORT || !this.letters(text)) {
      const { written } = encoder.encodeInto(text, this.bytes.subarray(this.length));
      this.length += written;
    }
  }

  /** False, and nothing was written: the text has letters that take more than a byte. */
  private letters(text: string): boolean {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    this.length = at;
    return true;
  }

  /** A whole number, in decimal. @param value as a number a safe integer */
  whole(value: number | bigint): void {
    if (typeof value === 'bigint' || value < 0) this.ascii(String(value));
    else if (value <= 0xffff_ffff) this.decimal(value);
    else this.decimal64(value >>> 0, Math.floor(value / 0x1_0000_0000));
  }

  /** The bits of a number of 64 bits, without leading zeros. */
  binary64(lo: number, hi: number): void {
    if (hi !== 0) {
      this.bits(hi, 32 - Math.clz32(hi));
      this.bits(lo, 32);
    } else this.bits(lo, Math.max(1, 32 - Math.clz32(lo)));
  }

  /** The lowest `count` bits of a word, at most 32. */
  bits(word: number, count: number): void {
    this.reserve(count);
    const { bytes } = this;
    let at = this.length;
    for (let shift = count - 1; shift >= 0; shift--) bytes[at++] = ZERO + ((word >>> shift) & 1);
    this.length = at;
  }

  /** An unsigned number of 32 bits. */
  decimal(value: number): void {
    this.reserve(NUMBER_BYTES);
    this.digits(value, countDigits(value));
  }

  /** An unsigned number of 64 bits. */
  decimal64(lo: number, hi: number): void {
    if (hi === 0) {
      this.decimal(lo);
      return;
    }
    // In three steps of 16 and 32 bits, none of which leaves the 53 bits that are exact.
    const top = Math.floor(hi / BILLION);
    const middle = (hi % BILLION) * 0x1_0000 + (lo >>> 16);
    const middleQuotient = Math.floor(middle / BILLION);
    const low = (middle % BILLION) * 0x1_0000 + (lo & 0xffff);
    const quotient = top * 0x1_0000_0000 + middleQuotient * 0x1_0000 + Math.floor(low / BILLION);
    if (quotient >= BILLION) {
      this.decimal(Math.floor(quotient / BILLION));
      this.digits(quotient % BILLION, 9);
    } else this.decimal(quotient);
    this.digits(low % BILLION, 9);
  }

  /** Right-aligned in at least `width` characters. */
  padded64(lo: number, hi: number, width: number): void {
    const at = this.length;
    this.reserve(width + NUMBER_BYTES);
    if (hi === 0) {
      const count = countDigits(lo);
      for (let i = count; i < width; i++) this.bytes[this.length++] = SPACE;
      this.digits(lo, count);
      return;
    }
    this.decimal64(lo, hi);
    const missing = at + width - this.length;
    if (missing <= 0) return;
    this.bytes.copyWithin(at + missing, at, this.length);
    this.bytes.fill(SPACE, at, at + missing);
    this.length += missing;
  }

  hex(value: number): void {
    this.reserve(NUMBER_BYTES);
    const count = value === 0 ? 1 : (35 - Math.clz32(value)) >>> 2;
    this.hexDigits(value, count);
  }

  hex64(lo: number, hi: number): void {
    if (hi === 0) {
      this.hex(lo);
      return;
    }
    this.hex(hi);
    this.hexDigits(lo, 8);
  }

  private hexDigits(value: number, count: number): void {
    const { bytes } = this;
    for (let shift = (count - 1) * 4; shift >= 0; shift -= 4) {
      const digit = (value >>> shift) & 15;
      bytes[this.length++] = digit + (digit < 10 ? ZERO : 87);
    }
  }

  /** Exactly `count` digits, with leading zeros. */
  private digits(value: number, count: number): void {
    const { bytes } = this;
    let rest = value >>> 0;
    for (let at = this.length + count - 1; at >= this.length; at--) {
      const quotient = (rest / 10) >>> 0;
      bytes[at] = ZERO + rest - quotient * 10;
      rest = quotient;
    }
    this.length += count;
  }
}

function countDigits(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1000) return 3;
  if (value < 10_000) return 4;
  if (value < 100_000) return 5;
  if (value < 1_000_000) return 6;
  if (value < 10_000_000) return 7;
  if (value < 100_000_000) return 8;
  return value < BILLION ? 9 : 10;
}
