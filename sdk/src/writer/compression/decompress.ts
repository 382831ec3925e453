/** Decompression of delta blobs, in the thread that calls. */
import { nativeZstdDecoder } from '#platform/zstd';
import { UscopeError } from '../../base/errors.js';
import { decompressLz4Blob } from '../../format/compression.js';
import type { CompressionName } from '../../format/types.js';

/** @throws UscopeError FORMAT_COMPRESSION when the blob does not decompress to `rawSize` bytes, WRITER_COMPRESSION without ZSTD */
export function decompressNow(name: CompressionName, blob: Uint8Array, rawSize: number): Uint8Array {
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

export function noZstd(): UscopeError {
  const detail =
    'zstd needs the optional package zstd-napi (npm install zstd-napi) or Node 22.15; or use lz4';
  return new UscopeError('WRITER_COMPRESSION', detail);
}
