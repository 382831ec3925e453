/** What `#platform/zlib` offers in Node (node/zlib.ts) and in browsers (browser/zlib.ts). */
import { UscopeError } from '../../base/errors.js';

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

/**
 * Errors of gzip data: the same in Node and in browsers, whose own errors differ.
 * @param cause an error of ours passes unchanged: reading the packed bytes failed
 */
export function gzipFailure(cause: unknown, isTruncated: boolean): UscopeError {
  if (cause instanceof UscopeError) return cause;
  if (isTruncated) return new UscopeError('CONVERT_TRUNCATED', 'the gzip data end early', {}, { cause });
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UscopeError('CONVERT_FORMAT', `gzip: ${reason}`, {}, { cause });
}
