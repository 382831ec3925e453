/** LZ4 delta blobs (docs/reference/format.md#compression): the raw size as u32, and a block. */
import { LZ4_PREFIX_SIZE } from '../../sdk/src/format/compression.js';

/** Puts the raw size in front of an LZ4 block. */
export function frameLz4(block: Uint8Array, rawSize: number): Uint8Array {
  const framed = new Uint8Array(LZ4_PREFIX_SIZE + block.length);
  new DataView(framed.buffer).setUint32(0, rawSize, true);
  framed.set(block, LZ4_PREFIX_SIZE);
  return framed;
}
