/**
 * Compression of delta blobs off the main thread (§8.6.7): LZ4 on threads of our own, ZSTD on Node's thread pool where Node has it (22.15 and
 * later), else on our threads through the optional package zstd-napi.
 */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import { compressSync as lz4CompressSync } from 'lz4-napi';
import { UscopeError } from '../base/errors.js';
import { decompressLz4Blob } from '../format/compression.js';
import type { CompressionName } from '../format/types.js';
import { compressInPool, findModule, releaseCompressed } from './compression-pool.js';

export interface Compressor {
  readonly name: CompressionName;
  /** Compresses one blob as it stands in a segment. The bytes must not change until the result is released. */
  compress(raw: Uint8Array): Promise<Uint8Array>;
  /** The result of a `compress` is no longer needed. */
  release(compressed: Uint8Array): void;
}

/** Blobs up to this size are compressed at once: a thread would cost more than it spares. */
const INLINE_BYTES = 32 * 1024;

/** @throws UscopeError WRITER_COMPRESSION when the method is not available on this installation. */
export function createCompressor(name: CompressionName, level = 1): Compressor {
  if (name === 'none') return { name, compress: async (raw) => raw, release: () => {} };
  if (name === 'lz4') return { name, compress: compressLz4, release: releaseCompressed };
  if (name === 'zstd') return createZstd(level);
  throw new UscopeError('WRITER_COMPRESSION', `"${name}" is not a compression; choose lz4, zstd or none`);
}

/** lz4-napi prepends the raw size as u32, which is the framing µScope files use. */
async function compressLz4(raw: Uint8Array): Promise<Uint8Array> {
  if (raw.length > INLINE_BYTES) return compressInPool('lz4', 0, raw);
  return lz4CompressSync(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength));
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
  return {
    name: 'zstd',
    compress: (raw) => compressInPool('zstd', level, raw),
    release: releaseCompressed,
  };
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
  };
}

function findZstdModule(): string {
  const path = findModule('zstd-napi');
  if (path !== null) return path;
  const detail =
    'zstd needs the optional package zstd-napi (npm install zstd-napi) or Node 22.15; or use lz4';
  throw new UscopeError('WRITER_COMPRESSION', detail);
}
