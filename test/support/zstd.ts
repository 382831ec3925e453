/** ZSTD for tests: the optional package zstd-napi or Node's own; null where there is neither, and tests that need it are skipped. */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';

export interface Zstd {
  compress(data: Uint8Array): Uint8Array;
  decompress(data: Uint8Array): Uint8Array;
}

type ZlibWithZstd = {
  zstdCompressSync?: Zstd['compress'];
  zstdDecompressSync?: Zstd['decompress'];
};

export const zstdForTests: Zstd | null = load();

function load(): Zstd | null {
  const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as ZlibWithZstd;
  if (zstdCompressSync && zstdDecompressSync) {
    return { compress: zstdCompressSync, decompress: zstdDecompressSync };
  }
  try {
    return createRequire(import.meta.url)('zstd-napi') as Zstd;
  } catch {
    return null;
  }
}
