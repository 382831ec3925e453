/** CRC-32 as in zlib, by Node: several times as fast as base/crc32.ts, which browser/crc32.ts offers in browsers. */
import { crc32 as nodeCrc32 } from 'node:zlib';

/** `seed` is the CRC of what came before. Result as u32. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  // Of some empty arrays Node's answer is 0 instead of the seed.
  return bytes.length === 0 ? seed : nodeCrc32(bytes, seed);
}
