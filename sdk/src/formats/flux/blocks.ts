/** The bytes of compressed blocks (PBLK), in both directions. */
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { decompressFastLz } from '../../codecs/fastlz.js';
import { decompressLz4Block } from '../../codecs/lz4-block.js';
import type { Lz4Compress } from '../../native/kernel-exports.js';
import { bindLz4, LZ4_TABLE_BYTES, lz4Room } from '../../native/lz4.js';
import { BLOCK_NAMES, BlockMode } from './types.js';

/**
 * Exactly `size` bytes; the caller has checked that it may be so many.
 * @throws UscopeError CONVERT_FORMAT when the block is malformed or of another size, CONVERT_UNSUPPORTED for an unknown mode
 */
export function unpackBlock(mode: number, source: Uint8Array, size: number, offset: number): Uint8Array {
  try {
    switch (mode) {
      case BlockMode.LZ4:
        return decompressLz4Block(source, size, offset);
      case BlockMode.FASTLZ:
        return decompressFastLz(source, size, offset);
      case BlockMode.ZLIB:
        return exactly(inflateSync(source, { maxOutputLength: size + 1 }), size);
      case BlockMode.GZIP:
        return exactly(gunzipSync(source, { maxOutputLength: size + 1 }), size);
    }
  } catch (error) {
    if (isUscopeError(error) && error.code === 'CONVERT_FORMAT' && error.place.offset !== undefined)
      throw error;
    const detail = isUscopeError(error) ? error.detail : String((error as Error).message);
    throw new UscopeError('CONVERT_FORMAT', `a block of ${BLOCK_NAMES[mode]}: ${detail}`, { offset });
  }
  throw new UscopeError('CONVERT_UNSUPPORTED', `a block has the unknown compression ${mode}`, { offset });
}

function exactly(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw new UscopeError('CONVERT_FORMAT', `it yields ${bytes.length} bytes instead of ${size}`);
}

export type BlockCompression = 'lz4' | 'zlib' | 'gzip';
export const COMPRESSION_MODES: Readonly<Record<BlockCompression, BlockMode>> = {
  lz4: BlockMode.LZ4,
  zlib: BlockMode.ZLIB,
  gzip: BlockMode.GZIP,
};

/** Compresses blocks of up to `maxBytes`. The result is valid until the next one. */
export class BlockCompressor {
  private lz4: { readonly compress: Lz4Compress; readonly memory: Uint8Array } | null = null;

  constructor(
    private readonly method: BlockCompression,
    private readonly maxBytes: number,
  ) {}

  compress(bytes: Uint8Array): Uint8Array {
    if (this.method === 'zlib') return deflateSync(bytes);
    if (this.method === 'gzip') return gzipSync(bytes);
    this.lz4 ??= this.openLz4();
    const { compress, memory } = this.lz4;
    const target = LZ4_TABLE_BYTES + this.maxBytes;
    memory.set(bytes, LZ4_TABLE_BYTES);
    const size = compress(0, LZ4_TABLE_BYTES, bytes.length, target);
    return memory.subarray(target, target + size);
  }

  private openLz4() {
    const bytes = LZ4_TABLE_BYTES + this.maxBytes + lz4Room(this.maxBytes) + 64;
    const pages = Math.ceil(bytes / 65_536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    return { compress: bindLz4(memory), memory: new Uint8Array(memory.buffer) };
  }
}
