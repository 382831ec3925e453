/** The beginning of an LZ4 block that was cut off: every whole sequence of it decompresses to what it always would. */
import { LZ4_PREFIX_SIZE } from '../format/compression.js';

const MIN_MATCH = 4;
const MAX_EXPANSION = 255;

/** Raw bytes of a delta blob (docs/format.md#compression) of which only the beginning is there; at most `rawSize`, often none. Never throws. */
export function decompressLz4Prefix(blob: Uint8Array, rawSize: number): Uint8Array {
  const isFramed =
    blob.length >= LZ4_PREFIX_SIZE &&
    new DataView(blob.buffer, blob.byteOffset).getUint32(0, true) === rawSize;
  return decompressPart(isFramed ? blob.subarray(LZ4_PREFIX_SIZE) : blob, rawSize);
}

function decompressPart(source: Uint8Array, rawSize: number): Uint8Array {
  const target = new Uint8Array(Math.min(rawSize, source.length * MAX_EXPANSION));
  let at = 0;
  let out = 0;
  const length = (nibble: number): number => {
    let value = nibble;
    for (let byte = 255; nibble === 15 && byte === 255; ) {
      if (at >= source.length) return -1;
      byte = source[at++];
      value += byte;
    }
    return value;
  };
  while (at < source.length) {
    const token = source[at++];
    const literals = length(token >>> 4);
    if (literals < 0) break;
    const there = Math.min(literals, source.length - at, target.length - out);
    target.set(source.subarray(at, at + there), out);
    at += there;
    out += there;
    if (there < literals || at + 2 > source.length) break;
    const distance = source[at] | (source[at + 1] << 8);
    at += 2;
    const match = length(token & 15);
    if (match < 0 || distance === 0 || distance > out) break;
    const end = Math.min(out + match + MIN_MATCH, target.length);
    for (; out < end; out++) target[out] = target[out - distance];
  }
  return target.subarray(0, out);
}
