/** The bytes of compressed blocks (PBLK), in both directions. */
import { deflate, inflate } from '#platform/zlib';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { decompressFastLz } from '../../codecs/fastlz.js';
import { decompressLz4Block } from '../../codecs/lz4-block.js';
import type { DeflateFormat } from '../../codecs/platform/zlib.js';
import { Lz4Blocks } from '../../native/lz4-blocks.js';
import { BLOCK_NAMES, BlockMode } from './types.js';

/** Modes whose blocks are inflated by the platform, which browsers do asynchronously. */
const INFLATED: ReadonlyMap<number, DeflateFormat> = new Map([
  [BlockMode.ZLIB, 'zlib'],
  [BlockMode.GZIP, 'gzip'],
]);

/** Whether blocks of a mode are for `inflateBlock`, not for `unpackBlock`. */
export function isInflated(mode: number): boolean {
  return INFLATED.has(mode);
}

/**
 * Exactly `size` bytes; the caller has checked that the number is allowed.
 * @throws UscopeError CONVERT_FORMAT when the block is malformed or of another size, CONVERT_UNSUPPORTED for an unknown mode
 */
export function unpackBlock(mode: number, source: Uint8Array, size: number, offset: number): Uint8Array {
  try {
    if (mode === BlockMode.LZ4) return decompressLz4Block(source, size, offset);
    if (mode === BlockMode.FASTLZ) return decompressFastLz(source, size, offset);
  } catch (error) {
    throw blockFailure(error, mode, offset);
  }
  throw new UscopeError('CONVERT_UNSUPPORTED', `a block has the unknown compression ${mode}`, { offset });
}

/** The same of blocks of zlib and gzip. */
export async function inflateBlock(
  mode: number,
  source: Uint8Array,
  size: number,
  offset: number,
): Promise<Uint8Array> {
  try {
    return exactly(await inflate(INFLATED.get(mode) ?? 'zlib', source, size + 1), size);
  } catch (error) {
    throw blockFailure(error, mode, offset);
  }
}

function blockFailure(error: unknown, mode: number, offset: number): UscopeError {
  if (isUscopeError(error) && error.code === 'CONVERT_FORMAT' && error.place.offset !== undefined)
    return error;
  const detail = isUscopeError(error) ? error.detail : String((error as Error).message);
  return new UscopeError('CONVERT_FORMAT', `a block of ${BLOCK_NAMES[mode]}: ${detail}`, { offset });
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

/** Compresses blocks. The result is valid until the next one. */
export class BlockCompressor {
  private readonly lz4 = new Lz4Blocks();

  constructor(private readonly method: BlockCompression) {}

  /** @throws UscopeError ENV_MISSING for zlib and gzip in a browser */
  compress(bytes: Uint8Array): Uint8Array {
    return this.method === 'lz4' ? this.lz4.compress(bytes) : deflate(this.method, bytes);
  }
}
