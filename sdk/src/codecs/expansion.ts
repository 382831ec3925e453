/** How far compressed bytes can expand: a length that a file promises is checked against this before anything is allocated. */
import { UscopeError } from '../base/errors.js';

type Method = 'none' | 'lz4' | 'zstd';

/** A length byte of LZ4 adds at most 255 bytes. */
export const LZ4_MAX_EXPANSION = 255;

/** No valid blob expands more: an LZ4 length byte expands to 255 bytes, a zstd block of 4 bytes to 128 KiB. */
export const MAX_EXPANSION: Readonly<Record<Method, number>> = {
  none: 1,
  lz4: LZ4_MAX_EXPANSION,
  zstd: 32_768,
};

/** FORMAT_COMPRESSION when `compressedSize` bytes cannot hold `rawSize`: ask before allocating that much. */
export function checkRawSize(method: Method, compressedSize: number, rawSize: number, baseOffset = 0): void {
  const fits =
    method === 'none' ? rawSize === compressedSize : rawSize <= compressedSize * MAX_EXPANSION[method];
  if (!fits) {
    throw new UscopeError(
      'FORMAT_COMPRESSION',
      `${compressedSize} bytes (compression: ${method}) cannot hold the ${rawSize} bytes promised`,
      { offset: baseOffset },
    );
  }
}
