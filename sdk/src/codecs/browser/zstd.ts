/** Browsers have no ZSTD: codecs/zstd.ts reads it with the decoder in JavaScript. node/zstd.ts offers the same in Node. */
import type { ZstdOfNode, ZstdPackage } from '../platform/zstd.js';

export const zstdOfNode = null as ZstdOfNode | null;

export function zstdPackage(): ZstdPackage | null {
  return null;
}

export function nativeZstdDecoder(): ((frame: Uint8Array, maxBytes: number) => Uint8Array) | null {
  return null;
}
