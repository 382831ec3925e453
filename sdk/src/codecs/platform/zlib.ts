/** What `#platform/zlib` offers in Node (node/zlib.ts) and in browsers (browser/zlib.ts). */

/** `zlib`: deflated data with a header of two bytes and an Adler-32; `gzip`: with a gzip header and a CRC-32. */
export type DeflateFormat = 'zlib' | 'gzip';

/** Compresses one gzip stream piece by piece. Each call resolves to the compressed bytes that are ready, often none. */
export interface GzipStream {
  write(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  end(): Promise<readonly Uint8Array[]>;
}

/** Bytes that the beginning of a gzip file is unpacked to at most when its format is looked for. */
export const MAX_HEAD_BYTES = 16 * 1024 * 1024;
/** Bytes of a piece of unpacked data. */
export const OUTPUT_BYTES = 256 * 1024;
