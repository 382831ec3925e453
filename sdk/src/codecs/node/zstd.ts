/**
 * The native ZSTD of this installation: Node's own or the optional package zstd-napi. Who uses which, and what is done without either, is
 * said where they are used.
 */
import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import type { ZstdOfNode, ZstdPackage } from '../platform/zstd.js';

/** What Node has from 22.15 on: the types are those of an older one. */
interface ZlibWithZstd {
  zstdDecompressSync?(data: Uint8Array, options: { maxOutputLength: number }): Uint8Array;
  zstdCompress?(
    raw: Uint8Array,
    options: { params: Record<number, number> },
    done: (error: Error | null, result: Uint8Array) => void,
  ): void;
  constants: { ZSTD_c_compressionLevel: number };
}

/** null before Node 22.15. */
export const zstdOfNode: ZstdOfNode | null = fromZlib(zlib as unknown as ZlibWithZstd);

function fromZlib({ zstdDecompressSync, zstdCompress, constants }: ZlibWithZstd): ZstdOfNode | null {
  if (!zstdDecompressSync || !zstdCompress) return null;
  return {
    decompress(frame, maxBytes) {
      const { buffer, byteOffset, byteLength } = zstdDecompressSync(frame, {
        maxOutputLength: Math.max(maxBytes, 1),
      });
      // Not as a Buffer: a Buffer's `slice` does not copy, which users of payloads would not expect.
      return new Uint8Array(buffer, byteOffset, byteLength);
    },
    compress: (raw, level) =>
      new Promise((resolve, reject) => {
        const params = { [constants.ZSTD_c_compressionLevel]: level };
        zstdCompress(raw, { params }, (error, result) => (error ? reject(error) : resolve(result)));
      }),
  };
}

let found: ZstdPackage | null | undefined;

/** zstd-napi, loaded when it is first asked for; null where it is not installed. */
export function zstdPackage(): ZstdPackage | null {
  if (found === undefined) found = load();
  return found;
}

function load(): ZstdPackage | null {
  try {
    // `require`, as the package is CommonJS with computed exports, which `import` does not see by name.
    return createRequire(import.meta.url)('zstd-napi/binding.js') as ZstdPackage;
  } catch {
    return null;
  }
}

let decoder: InstanceType<ZstdPackage['DCtx']> | undefined;

/** One frame to at most `maxBytes`, whatever it says, by what there is; null without either. */
export function nativeZstdDecoder(): ((frame: Uint8Array, maxBytes: number) => Uint8Array) | null {
  if (zstdOfNode) return zstdOfNode.decompress;
  const native = zstdPackage();
  if (!native) return null;
  // Used again: each holds up to a megabyte outside the heap, which the collector does not see.
  decoder ??= new native.DCtx();
  const context = decoder;
  return (frame, maxBytes) => {
    const target = new Uint8Array(maxBytes);
    return target.subarray(0, context.decompress(target, frame));
  };
}
