/**
 * Compression of delta blobs off the main thread (docs/format.md#compression): LZ4 on threads of our own, ZSTD on Node's thread pool where Node has it (22.15 and
 * later), else on our threads through the optional package zstd-napi.
 */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import { UscopeError } from '../../base/errors.js';
import { decompressLz4Blob } from '../../format/compression.js';
import type { CompressionName } from '../../format/types.js';
import type { WriterMemory } from '../frames/writer-memory.js';
import { compressInPool, findModule, releaseCompressed } from './compression-pool.js';
import { Lz4Compressor } from './lz4-compressor.js';

export interface Compressor {
  readonly name: CompressionName;
  /** Compresses one blob as it stands in a segment. The bytes must not change until the result is released. */
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
  const raw = name === 'none' ? blob : zstdDecompress(blob);
  if (raw.length === rawSize) return raw;
  throw new UscopeError(
    'FORMAT_COMPRESSION',
    `deltas of ${raw.length} bytes where the segment header promises ${rawSize}`,
  );
}

function zstdDecompress(blob: Uint8Array): Uint8Array {
  const native = (zlib as unknown as { zstdDecompressSync?: (data: Uint8Array) => Uint8Array })
    .zstdDecompressSync;
  if (native) return native(blob);
  const { decompress } = createRequire(import.meta.url)(findZstdModule()) as {
    decompress(data: Uint8Array): Uint8Array;
  };
  return decompress(blob);
}

type ZstdCompress = (
  raw: Uint8Array,
  options: object,
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

function createZstd(level: number): Compressor {
  const native = (zlib as unknown as { zstdCompress?: ZstdCompress }).zstdCompress;
  if (native) return nativeZstd(native, level);
  findZstdModule();
  return pooled('zstd', level);
}

function nativeZstd(zstdCompress: ZstdCompress, level: number): Compressor {
  const constants = zlib.constants as unknown as { ZSTD_c_compressionLevel: number };
  const options = { params: { [constants.ZSTD_c_compressionLevel]: level } };
  return {
    name: 'zstd',
    compress: (raw) =>
      new Promise((resolve, reject) => {
        zstdCompress(raw, options, (error, result) => (error ? reject(error) : resolve(result)));
      }),
    release: () => {},
    close: () => {},
  };
}

function findZstdModule(): string {
  const path = findModule('zstd-napi');
  if (path !== null) return path;
  const detail =
    'zstd needs the optional package zstd-napi (npm install zstd-napi) or Node 22.15; or use lz4';
  throw new UscopeError('WRITER_COMPRESSION', detail);
}
