/** Bounds-checked reading and growing writing of little-endian bytes. For headers and tables; hot loops index their arrays themselves. */
import type { ErrorCode } from './codes.js';
import { UscopeError } from './errors.js';

/** Reads little-endian values from `data[offset, end)`. Every read past `end` throws FORMAT_TRUNCATED with the file offset. */
export class ByteReader {
  private readonly view: DataView;

  /** @param base file offset of `data[0]`: it only serves error messages */
  constructor(
    readonly data: Uint8Array,
    public offset = 0,
    readonly end = data.length,
    readonly base = 0,
  ) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  /** File offset of the next byte. */
  get fileOffset(): number {
    return this.base + this.offset;
  }

  /** The next `size` bytes must be there: call it before allocating for them. */
  need(size: number, what = 'structure'): void {
    if (size > this.end - this.offset) {
      throw this.error(
        'FORMAT_TRUNCATED',
        `${what} needs ${size} more bytes, only ${this.remaining} are left`,
        this.offset,
      );
    }
  }

  /** An error placed at `at` (index into `data`; by default the next byte). */
  error(code: ErrorCode, detail: string, at = this.offset): UscopeError {
    return new UscopeError(code, detail, { offset: this.base + at });
  }

  u8(): number {
    this.need(1);
    return this.data[this.offset++];
  }

  u16(): number {
    this.need(2);
    const value = this.view.getUint16(this.offset, true);
    this.offset += 2;
    return value;
  }

  u32(): number {
    this.need(4);
    const value = this.view.getUint32(this.offset, true);
    this.offset += 4;
    return value;
  }

  u64(): bigint {
    this.need(8);
    const value = this.view.getBigUint64(this.offset, true);
    this.offset += 8;
    return value;
  }

  /** The next `size` bytes as a view, not a copy. */
  bytes(size: number): Uint8Array {
    this.need(size);
    const start = this.offset;
    this.offset += size;
    return this.data.subarray(start, start + size);
  }

  skip(size: number): void {
    this.need(size);
    this.offset += size;
  }
}

const MAX_U64 = 0xffff_ffff_ffff_ffffn;

/** Appends little-endian values to a buffer that grows. A value that does not fit its width throws FORMAT_VALUE instead of wrapping. */
export class ByteWriter {
  private buffer: Uint8Array;
  private view: DataView;
  private size = 0;

  constructor(capacity = 256) {
    this.buffer = new Uint8Array(Math.max(capacity, 16));
    this.view = new DataView(this.buffer.buffer);
  }

  get length(): number {
    return this.size;
  }

  u8(value: number): this {
    const at = this.extend(1);
    this.buffer[at] = checkUnsigned(value, 0xff);
    return this;
  }

  u16(value: number): this {
    const at = this.extend(2);
    this.view.setUint16(at, checkUnsigned(value, 0xffff), true);
    return this;
  }

  u32(value: number): this {
    const at = this.extend(4);
    this.view.setUint32(at, checkUnsigned(value, 0xffff_ffff), true);
    return this;
  }

  u64(value: number | bigint): this {
    const at = this.extend(8);
    this.view.setBigUint64(at, toU64(value), true);
    return this;
  }

  bytes(source: Uint8Array): this {
    const at = this.extend(source.length);
    this.buffer.set(source, at);
    return this;
  }

  zeros(count: number): this {
    this.extend(count);
    return this;
  }

  /** Zero bytes up to the next multiple of `alignment` (a power of two). */
  align(alignment: number): this {
    return this.zeros(-this.size & (alignment - 1));
  }

  /** Overwrites two bytes written before, for sizes known only at the end. */
  patchU16(at: number, value: number): void {
    this.view.setUint16(at, checkUnsigned(value, 0xffff), true);
  }

  /** What was written, as its own array. */
  finish(): Uint8Array {
    return this.buffer.slice(0, this.size);
  }

  private extend(count: number): number {
    const at = this.size;
    const size = at + count;
    if (size > this.buffer.length) {
      const grown = new Uint8Array(Math.max(size, this.buffer.length * 2));
      grown.set(this.buffer);
      this.buffer = grown;
      this.view = new DataView(grown.buffer);
    }
    this.size = size;
    return at;
  }
}

/** A `number | bigint` argument as an unsigned 64-bit bigint; FORMAT_VALUE when it is not one. */
export function toU64(value: number | bigint): bigint {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new UscopeError(
      'FORMAT_VALUE',
      `${value} is not an integer that a number holds exactly: pass a bigint`,
    );
  }
  const wide = BigInt(value);
  if (wide < 0n || wide > MAX_U64) {
    throw new UscopeError('FORMAT_VALUE', `${value} does not fit an unsigned 64-bit field`);
  }
  return wide;
}

/** The bytes of all pieces, one after the other, in their own array. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** The next multiple of 8. */
export function align8(size: number): number {
  return size + (-size & 7);
}

function checkUnsigned(value: number, max: number): number {
  if (!(value >= 0 && value <= max && Number.isInteger(value))) {
    throw new UscopeError('FORMAT_VALUE', `${value} does not fit an unsigned field with maximum ${max}`);
  }
  return value;
}

/** Below this number a loop is faster than a view and a copy. */
const FEW_BYTES = 64;

/** Copies `length` bytes from `source[from]` on to `target[at]` on; both have them. */
export function copyBytes(
  source: Uint8Array,
  from: number,
  length: number,
  target: Uint8Array,
  at: number,
): void {
  if (length > FEW_BYTES) target.set(source.subarray(from, from + length), at);
  else for (let i = 0; i < length; i++) target[at + i] = source[from + i];
}
