/**
 * How delta blobs are compressed (docs/reference/format.md#compression), without a compressor: native ones live in writer and reader.
 * LZ4: u32 raw size, then one raw LZ4 block (the bare block is accepted when reading). ZSTD: one zstd frame. None: the raw bytes.
 */
import { decompressLz4Block, decompressLz4Prefix } from '../codecs/lz4-block.js';

export const LZ4_PREFIX_SIZE = 4;

/** The LZ4 block of a delta blob, whether or not the raw size is in front. */
export function unframeLz4(blob: Uint8Array, rawSize: number): Uint8Array {
  return hasPrefix(blob, rawSize) ? blob.subarray(LZ4_PREFIX_SIZE) : blob;
}

/** Raw bytes of an LZ4 delta blob. FORMAT_COMPRESSION when it does not yield exactly `rawSize` bytes. */
export function decompressLz4Blob(blob: Uint8Array, rawSize: number, baseOffset = 0): Uint8Array {
  if (!hasPrefix(blob, rawSize)) return decompressLz4Block(blob, rawSize, baseOffset);
  try {
    return decompressLz4Block(blob.subarray(LZ4_PREFIX_SIZE), rawSize, baseOffset + LZ4_PREFIX_SIZE);
  } catch (error) {
    // A bare block may begin with the very bytes of its raw size.
    try {
      return decompressLz4Block(blob, rawSize, baseOffset);
    } catch {
      throw error;
    }
  }
}

function hasPrefix(blob: Uint8Array, rawSize: number): boolean {
  return (
    blob.length >= LZ4_PREFIX_SIZE &&
    (blob[0] | (blob[1] << 8) | (blob[2] << 16) | (blob[3] << 24)) >>> 0 === rawSize
  );
}

/** The raw bytes that the beginning of a cut LZ4 delta blob still yields; at most `rawSize`, often none. Never throws. */
export function decompressCutLz4Blob(blob: Uint8Array, rawSize: number): Uint8Array {
  return decompressLz4Prefix(unframeLz4(blob, rawSize), rawSize);
}
