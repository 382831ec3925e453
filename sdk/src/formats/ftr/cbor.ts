/** The part of CBOR (RFC 8949) that FTR files are made of. Numbers are u32 halves: nothing is allocated. */

export const Major = {
  UNSIGNED: 0,
  NEGATIVE: 1,
  BYTES: 2,
  TEXT: 3,
  ARRAY: 4,
  MAP: 5,
  TAG: 6,
  SIMPLE: 7,
} as const;

/** Of the number that is written. */
const halves = new DataView(new ArrayBuffer(8));
const TWO_32 = 0x1_0000_0000;
const BREAK = 0xff;
const INDEFINITE = 31;

/** Thrown where an item reaches past the bytes; the code that reads knows whether that is a cut. */
export class OutOfBytes extends Error {}
/** Thrown for a byte that begins no item. */
export class NotCbor extends Error {}

/** Reads items one by one from `bytes[at, end)`. */
export class CborReader {
  /** Of the last head: its major type, its number, and whether it states no length. */
  major = 0;
  lo = 0;
  hi = 0;
  isIndefinite = false;
  /** For major type 7: the low five bits, which give the kind of value. */
  info = 0;
  private readonly view: DataView;

  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
    readonly end = bytes.length,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Number of the last head; above 2^53 not exact. */
  get number(): number {
    return this.hi * TWO_32 + this.lo;
  }

  get value(): bigint {
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  get isAtBreak(): boolean {
    if (this.at >= this.end) throw new OutOfBytes();
    return this.bytes[this.at] === BREAK;
  }

  /** Moves after the head of the next item and returns its major type. @throws OutOfBytes, NotCbor */
  head(): number {
    const { at } = this;
    if (at >= this.end) throw new OutOfBytes();
    const byte = this.bytes[at];
    this.major = byte >>> 5;
    const info = byte & 31;
    this.info = info;
    if (info < 24) {
      this.lo = info;
      this.hi = 0;
      this.isIndefinite = false;
      this.at = at + 1;
    } else this.longHead(at, info);
    return this.major;
  }

  private longHead(at: number, info: number): void {
    this.isIndefinite = info === INDEFINITE;
    this.lo = this.hi = 0;
    if (this.isIndefinite) {
      const hasLength = this.major >= Major.BYTES && this.major <= Major.MAP;
      if (!hasLength) throw new NotCbor(`byte 0x${this.bytes[at].toString(16)} begins no item`);
      this.at = at + 1;
      return;
    }
    if (info > 27) throw new NotCbor(`byte 0x${this.bytes[at].toString(16)} begins no item`);
    const size = 1 << (info - 24);
    if (at + 1 + size > this.end) throw new OutOfBytes();
    if (size === 1) this.lo = this.bytes[at + 1];
    else if (size === 2) this.lo = this.view.getUint16(at + 1);
    else if (size === 4) this.lo = this.view.getUint32(at + 1);
    else {
      this.hi = this.view.getUint32(at + 1);
      this.lo = this.view.getUint32(at + 5);
    }
    this.at = at + 1 + size;
  }

  /** Moves over the break that is there. */
  skipBreak(): void {
    this.at++;
  }

  /** The next `size` bytes, a view. */
  take(size: number): Uint8Array {
    if (size > this.end - this.at) throw new OutOfBytes();
    const from = this.at;
    this.at += size;
    return this.bytes.subarray(from, from + size);
  }
}

/** Appends items to a buffer that grows. Heads are as long as those of the files' usual writer: 255 takes three bytes, for instance. */
export class CborWriter {
  buffer = new Uint8Array(1024);
  length = 0;
  private view = new DataView(this.buffer.buffer);

  get written(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  head(major: number, lo: number, hi = 0): void {
    this.room(9);
    const { buffer, length } = this;
    const first = major << 5;
    if (hi !== 0 || lo === 0xffff_ffff) {
      buffer[length] = first | 27;
      this.view.setUint32(length + 1, hi);
      this.view.setUint32(length + 5, lo);
      this.length += 9;
    } else if (lo < 24) {
      buffer[length] = first | lo;
      this.length += 1;
    } else if (lo < 0xff) {
      buffer[length] = first | 24;
      buffer[length + 1] = lo;
      this.length += 2;
    } else if (lo < 0xffff) {
      buffer[length] = first | 25;
      this.view.setUint16(length + 1, lo);
      this.length += 3;
    } else {
      buffer[length] = first | 26;
      this.view.setUint32(length + 1, lo);
      this.length += 5;
    }
  }

  /** @param value below 2^64 */
  big(major: number, value: bigint): void {
    halves.setBigUint64(0, value);
    this.head(major, halves.getUint32(4), halves.getUint32(0));
  }

  /** Of any sign. */
  integer(value: bigint): void {
    if (value < 0n) this.big(Major.NEGATIVE, -1n - value);
    else this.big(Major.UNSIGNED, value);
  }

  byte(value: number): void {
    this.room(1);
    this.buffer[this.length++] = value;
  }

  float32(bits: number): void {
    this.room(5);
    this.buffer[this.length] = 0xfa;
    this.view.setUint32(this.length + 1, bits);
    this.length += 5;
  }

  float64(lo: number, hi: number): void {
    this.room(9);
    this.buffer[this.length] = 0xfb;
    this.view.setUint32(this.length + 1, hi);
    this.view.setUint32(this.length + 5, lo);
    this.length += 9;
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  string(major: number, bytes: Uint8Array): void {
    this.head(major, bytes.length);
    this.raw(bytes);
  }

  private room(size: number): void {
    if (this.length + size <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(this.length + size, this.buffer.length * 2));
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
    this.view = new DataView(grown.buffer);
  }
}

export const INDEFINITE_ARRAY = 0x9f;
export const END = BREAK;
export const FALSE = 0xf4;
export const TRUE = 0xf5;
