/**
 * Compression of delta blobs off the main thread (docs/reference/format.md#compression): LZ4 on threads of our own, ZSTD on Node's thread pool where Node has it (22.15 and
 * later), else on our threads through the optional package zstd-napi.
 */
import { zstdOfNode, zstdPackage } from '#platform/zstd';
import { UscopeError } from '../../base/errors.js';
import type { ZstdOfNode } from '../../codecs/platform/zstd.js';
import type { CompressionName } from '../../format/types.js';
import type { WriterMemory } from '../frames/writer-memory.js';
import { compressInPool, decompressInPool, releaseCompressed } from './compression-pool.js';
import { decompressNow, noZstd } from './decompress.js';
import { Lz4Compressor } from './lz4-compressor.js';

export interface Compressor {
  readonly name: CompressionName;
  /** Compresses one blob as it is in a segment. The bytes must not change until the result is released. */
  compress(raw: Uint8Array): Promise<Uint8Array>;
  /** CRC-32 of the result of a `compress`, until it is released, where that is known already. */
  checksum?(compressed: Uint8Array): number | undefined;
  /** The result of a `compress` is no longer needed. */
  release(compressed: Uint8Array): void;
  close(): void;
}

/**
 * @param memory where the writer's segments lie; null without WebAssembly
 * @throws UscopeError WRITER_COMPRESSION when the method is not available on this installation.
 */
export function createCompressor(
  name: CompressionName,
  level = 1,
  memory: WriterMemory | null = null,
): Compressor {
  if (name === 'none') return { name, compress: async (raw) => raw, release: () => {}, close: () => {} };
  if (name === 'lz4') return memory ? new Lz4Compressor(memory) : pooled('lz4', 0);
  if (name === 'zstd') return createZstd(level);
  throw new UscopeError('WRITER_COMPRESSION', `"${name}" is not a compression; choose lz4, zstd or none`);
}

function pooled(name: 'lz4' | 'zstd', level: number): Compressor {
  return {
    name,
    compress: (raw) => compressInPool(name, level, raw),
    release: releaseCompressed,
    close: () => {},
  };
}

/** More than this is decompressed by a thread: here others would wait for it. */
const MAX_BYTES_HERE = 4 * 1024 * 1024;

/**
 * The raw deltas of a segment of our own.
 * @throws UscopeError FORMAT_COMPRESSION when the blob does not decompress to `rawSize` bytes, WRITER_COMPRESSION without ZSTD.
 */
export async function decompress(
  name: CompressionName,
  blob: Uint8Array,
  rawSize: number,
): Promise<Uint8Array> {
  if (name === 'none' || rawSize <= MAX_BYTES_HERE) return decompressNow(name, blob, rawSize);
  try {
    return await decompressInPool(name, blob, rawSize);
  } catch {
    return decompressNow(name, blob, rawSize); // a damaged blob: the error that says so
  }
}

function createZstd(level: number): Compressor {
  if (zstdOfNode) return onPoolOfNode(zstdOfNode, level);
  if (!zstdPackage()) throw noZstd();
  return pooled('zstd', level);
}

function onPoolOfNode(zstd: ZstdOfNode, level: number): Compressor {
  return {
    name: 'zstd',
    compress: (raw) => zstd.compress(raw, level),
    release: () => {},
    close: () => {},
  };
}
