/**
 * Writer for the msgpack of control messages: every value in its smallest form and 64-bit quantities as *unsigned* integers, which
 * general libraries do not promise (they write a large bigint as int64 or as a float).
 */
import { encodeUtf8 } from '../base/utf8.js';

export type Packable = boolean | number | bigint | string | Uint8Array | ReadonlyMap<string, Packable>;

/** Integers must not be negative and at most 2^64 - 1. */
export function packMap(map: ReadonlyMap<string, Packable>): Uint8Array {
  const parts: Uint8Array[] = [];
  packInto(parts, map);
  return Buffer.concat(parts);
}

function packInto(parts: Uint8Array[], value: Packable): void {
  if (typeof value === 'string') {
    const bytes = encodeUtf8(value);
    if (bytes.length < 32) parts.push(Uint8Array.of(0xa0 | bytes.length), bytes);
    else parts.push(sized(0xd9, bytes.length), bytes);
  } else if (value instanceof Uint8Array) {
    parts.push(sized(0xc4, value.length), value);
  } else if (typeof value === 'boolean') {
    parts.push(Uint8Array.of(value ? 0xc3 : 0xc2));
  } else if (typeof value === 'object') {
    parts.push(
      value.size < 16
        ? Uint8Array.of(0x80 | value.size)
        : tagged(value.size <= 0xffff ? 0xde : 0xdf, value.size, value.size <= 0xffff ? 2 : 4),
    );
    for (const [key, entry] of value) {
      packInto(parts, key);
      packInto(parts, entry);
    }
  } else {
    parts.push(packUint(value));
  }
}

function packUint(value: number | bigint): Uint8Array {
  if (value < 0x80) return Uint8Array.of(Number(value));
  if (value <= 0xff) return tagged(0xcc, value, 1);
  if (value <= 0xffff) return tagged(0xcd, value, 2);
  if (value <= 0xffff_ffff) return tagged(0xce, value, 4);
  return tagged(0xcf, value, 8);
}

/** Tag and length of a string or byte string: `tag8` for one length byte, the next two tags for two and four. */
function sized(tag8: number, length: number): Uint8Array {
  if (length <= 0xff) return tagged(tag8, length, 1);
  return length <= 0xffff ? tagged(tag8 + 1, length, 2) : tagged(tag8 + 2, length, 4);
}

/** A tag and a big-endian number. */
function tagged(tag: number, value: number | bigint, size: 1 | 2 | 4 | 8): Uint8Array {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  bytes[0] = tag;
  view.setBigUint64(1, BigInt(value) << BigInt(64 - size * 8));
  return bytes.subarray(0, 1 + size);
}
