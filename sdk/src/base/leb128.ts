/** Unsigned LEB128 of 64-bit values (docs/format.md#leb128): 1..10 bytes, 7 bits each, least significant first. */
import { type ByteReader, type ByteWriter, toU64 } from './bytes.js';

const MAX_LEB128_BYTES = 10;

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

/** Appends one value in its shortest form. */
export function writeLeb128(writer: ByteWriter, value: number | bigint): void {
  const wide = toU64(value);
  const bytes = new Uint8Array(MAX_LEB128_BYTES);
  const end = putLeb128(bytes, 0, Number(wide & 0xffff_ffffn), Number(wide >> 32n));
  writer.bytes(bytes.subarray(0, end));
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
