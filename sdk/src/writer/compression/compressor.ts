/**
 * Compression of delta blobs off the main thread (docs/format.md#compression): LZ4 on threads of our own, ZSTD on Node's thread pool where Node has it (22.15 and
 * later), else on our threads through the optional package zstd-napi.
 */
import { nativeZstdDecoder, zstdOfNode, zstdPackage } from '#platform/zstd';
import { UscopeError } from '../../base/errors.js';
import type { ZstdOfNode } from '../../codecs/platform/zstd.js';
import { decompressLz4Blob } from '../../format/compression.js';
import type { CompressionName } from '../../format/types.js';
import type { WriterMemory } from '../frames/writer-memory.js';
import { compressInPool, releaseCompressed } from './compression-pool.js';
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

/**
 * The raw deltas of a segment of our own.
 * @throws UscopeError FORMAT_COMPRESSION when the blob does not decompress to `rawSize` bytes, WRITER_COMPRESSION without ZSTD.
 */
export async function decompress(
  name: CompressionName,
  blob: Uint8Array,
  rawSize: number,
): Promise<Uint8Array> {
  if (name === 'lz4') return decompressLz4Blob(blob, rawSize);
  const raw = name === 'none' ? blob : zstdDecompress(blob, rawSize);
  if (raw.length === rawSize) return raw;
  throw new UscopeError(
    'FORMAT_COMPRESSION',
    `deltas of ${raw.length} bytes where the segment header promises ${rawSize}`,
  );
}

function zstdDecompress(blob: Uint8Array, rawSize: number): Uint8Array {
  const decoder = nativeZstdDecoder();
  if (!decoder) throw noZstd();
  try {
    return decoder(blob, rawSize);
  } catch (cause) {
    const detail = `a zstd frame does not decompress to the ${rawSize} bytes that the segment header promises`;
    throw new UscopeError('FORMAT_COMPRESSION', detail, {}, { cause });
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

function noZstd(): UscopeError {
  const detail =
    'zstd needs the optional package zstd-napi (npm install zstd-napi) or Node 22.15; or use lz4';
  return new UscopeError('WRITER_COMPRESSION', detail);
}
