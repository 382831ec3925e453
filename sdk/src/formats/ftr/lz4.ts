/** The LZ4 blocks of FTR: raw ones, without a frame around them. */
import { UscopeError } from '../../base/errors.js';
import { decompressLz4Block, decompressLz4Prefix } from '../../codecs/lz4-block.js';

/** @param offset of the block in the file, for errors. @throws UscopeError CONVERT_FORMAT */
export function unpackBlock(block: Uint8Array, rawSize: number, offset: number): Uint8Array {
  try {
    return decompressLz4Block(block, rawSize, offset);
  } catch (cause) {
    const why = cause instanceof UscopeError ? cause.detail : String(cause);
    throw new UscopeError('CONVERT_FORMAT', `a chunk does not unpack: ${why}`, { offset }, { cause });
  }
}

/** The beginning of the content of a block that was cut off. */
export function unpackCutBlock(block: Uint8Array, rawSize: number): Uint8Array {
  return decompressLz4Prefix(block, rawSize);
}
