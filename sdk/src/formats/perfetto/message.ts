/** A protobuf message as it is written: fields after each other in a buffer that grows. */
import { lebSize, putLeb128 } from '../../base/leb128.js';
import { putVarint } from '../common/varint.js';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
/** Bytes of UTF-8 that a unit of a string takes at most. */
const UNIT_BYTES = 3;
/** A key of five bytes and a number of ten. */
const FIELD_BYTES = 15;
/** Of a length below 2^32. */
const LENGTH_BYTES = 5;
const BITS_32 = 2 ** 32;
const encoder = new TextEncoder();

export class Message {
  /** What is not used may hold anything. */
  bytes: Uint8Array;
  /** Bytes used. */
  length = 0;
  private view: DataView;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
  }

  clear(): this {
    this.length = 0;
    return this;
  }

  /** A whole number: a safe integer. Negative ones as 64 bits in two's complement. */
  number(field: number, value: number): this {
    this.reserve(FIELD_BYTES);
    this.key(field, VARINT);
    if (value < 0) this.wide(BigInt.asUintN(64, BigInt(value)));
    else this.varint(value);
    return this;
  }

  double(field: number, value: number): this {
    this.reserve(FIELD_BYTES);
    this.key(field, FIXED64);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
    return this;
  }

  /** Of a safe integer, not negative. */
  fixed64(field: number, value: number): this {
    this.reserve(FIELD_BYTES);
    this.key(field, FIXED64);
    this.view.setUint32(this.length, value >>> 0, true);
    this.view.setUint32(this.length + 4, Math.floor(value / BITS_32), true);
    this.length += 8;
    return this;
  }

  string(field: number, text: string): this {
    const { length } = text;
    this.reserve(FIELD_BYTES + UNIT_BYTES * length);
    this.key(field, BYTES);
    const at = this.length;
    // The length is a byte, as nearly always; otherwise the text moves.
    if (UNIT_BYTES * length < 0x80 && this.letters(text, at + 1)) {
      this.bytes[at] = length;
      this.length = at + 1 + length;
      return this;
    }
    const start = at + LENGTH_BYTES;
    const { written } = encoder.encodeInto(text, this.bytes.subarray(start));
    this.varint(written);
    this.bytes.copyWithin(this.length, start, start + written);
    this.length += written;
    return this;
  }

  message(field: number, { bytes, length }: Message): this {
    this.reserve(FIELD_BYTES + length);
    this.key(field, BYTES);
    this.varint(length);
    const at = this.length;
    const own = this.bytes;
    for (let i = 0; i < length; i++) own[at + i] = bytes[i];
    this.length = at + length;
    return this;
  }

  /** Begins a message inside this one. Returns what `close` is given. */
  open(field: number): number {
    this.reserve(FIELD_BYTES);
    this.key(field, BYTES);
    return ++this.length;
  }

  /** Ends the message that `open` began. */
  close(start: number): this {
    const size = this.length - start;
    if (size < 0x80) this.bytes[start - 1] = size;
    else this.closeLong(start, size);
    return this;
  }

  /** The length takes more than the byte that was left for it. */
  private closeLong(start: number, size: number): void {
    this.reserve(LENGTH_BYTES);
    const { bytes } = this;
    const more = lebSize(size) - 1;
    bytes.copyWithin(start + more, start, this.length);
    putVarint(bytes, start - 1, size);
    this.length += more;
  }

  private reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.length + size, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  /** False: not ASCII; what it left behind is not counted. */
  private letters(text: string, from: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[from + i] = code;
    }
    return true;
  }

  private key(field: number, type: number): void {
    this.varint(field * 8 + type);
  }

  private varint(value: number): void {
    this.length = putVarint(this.bytes, this.length, value);
  }

  private wide(value: bigint): void {
    const [lo, hi] = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
    this.length = putLeb128(this.bytes, this.length, lo, hi);
  }
}
