/** Unsigned LEB128 of 64-bit values (docs/reference/format.md#leb128): 1..10 bytes, 7 bits each, least significant first. */
import { type ByteReader, type ByteWriter, toU64 } from './bytes.js';

const MAX_LEB128_BYTES = 10;
/** Weight of the last group of seven bits that a number holds exactly: the eighth. */
const MAX_EXACT_SCALE = 2 ** 49;

/** Reads one value. FORMAT_VALUE when it exceeds 64 bits or 10 bytes; redundant zero groups are accepted. */
export function readLeb128(reader: ByteReader): bigint {
  const start = reader.offset;
  let low = 0; // bits 0..27
  let middle = 0; // bits 28..55
  let high = 0; // bits 56..63
  for (let index = 0; index < MAX_LEB128_BYTES; index++) {
    const byte = reader.u8();
    const group = byte & 0x7f;
    if (index < 4) low |= group << (7 * index);
    else if (index < 8) middle |= group << (7 * (index - 4));
    else high |= group << (7 * (index - 8));
    if (byte < 0x80) {
      if (high > 0xff) break;
      return (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low);
    }
  }
  throw reader.error('FORMAT_VALUE', 'LEB128 value exceeds 64 bits', start);
}

/** `readLeb128` as a number: without BigInts below 2^53, the nearest number beyond. Errors as there. */
export function readLeb128Number(reader: ByteReader): number {
  const start = reader.offset;
  // Most have one byte or two.
  if (start + 1 < reader.end) {
    const low = reader.data[start]!;
    const high = low < 0x80 ? 0 : reader.data[start + 1]!;
    if (high < 0x80) {
      reader.offset = start + (low < 0x80 ? 1 : 2);
      return (low & 0x7f) | (high << 7);
    }
  }
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.u8();
    value += (byte & 0x7f) * scale;
    if (value > Number.MAX_SAFE_INTEGER || scale > MAX_EXACT_SCALE) break;
    if (byte < 0x80) return value;
  }
  reader.offset = start;
  return Number(readLeb128(reader));
}

const scratch = new Uint8Array(MAX_LEB128_BYTES);

/** Appends one value in its shortest form. */
export function writeLeb128(writer: ByteWriter, value: number | bigint): void {
  let [lo, hi] = [0, 0];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    if (value < 0x80) {
      writer.u8(value);
      return;
    }
    [lo, hi] = [value >>> 0, Math.floor(value / 2 ** 32)];
  } else {
    const wide = toU64(value);
    [lo, hi] = [Number(wide & 0xffff_ffffn), Number(wide >> 32n)];
  }
  writer.bytes(scratch.subarray(0, putLeb128(scratch, 0, lo, hi)));
}

/** Bytes of a value in its shortest form. @param value a safe integer from 0 on, or up to 64 bits */
export function lebSize(value: number | bigint): number {
  if (typeof value === 'bigint' && value <= BigInt(Number.MAX_SAFE_INTEGER)) return lebSize(Number(value));
  let size = 1;
  if (typeof value === 'bigint') for (let rest = value >> 7n; rest > 0n; rest >>= 7n) size++;
  else for (let limit = 0x80; value >= limit; limit *= 0x80) size++;
  return size;
}

/**
 * For hot paths: writes the value with u32 halves `lo` and `hi` at `target[at]` and returns the index after it.
 * The caller leaves room for 10 bytes.
 */
export function putLeb128(target: Uint8Array, at: number, lo: number, hi: number): number {
  let low = lo >>> 0;
  let high = hi >>> 0;
  while (high !== 0) {
    target[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  while (low >= 0x80) {
    target[at++] = (low & 0x7f) | 0x80;
    low >>>= 7;
  }
  target[at++] = low;
  return at;
}
