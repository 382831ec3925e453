/** How pages are compressed: ZSTD, which all engines read, or GZIP where no ZSTD is installed. */

import { deflate } from '#platform/zlib';
import { zstdPackage } from '#platform/zstd';
import type { ZstdPackage } from '../../codecs/platform/zstd.js';

export interface PageCodec {
  /** Its number in Parquet. */
  readonly id: number;
  compress(raw: Uint8Array): Uint8Array;
}

/** Delta-encoded columns gain little from higher ones. */
const LEVEL = 1;

export const GZIP: PageCodec = { id: 2, compress: (raw) => deflate('gzip', raw) };

let chosen: PageCodec | undefined;

export function pageCodec(): PageCodec {
  const native = zstdPackage();
  chosen ??= native ? zstdCodec(native) : GZIP;
  return chosen;
}

function zstdCodec(native: ZstdPackage): PageCodec {
  const context = new native.CCtx();
  let target = new Uint8Array(0);
  return {
    id: 6,
    compress(raw) {
      const bound = native.compressBound(raw.length);
      if (target.length < bound) target = new Uint8Array(bound);
      return target.slice(0, context.compress(target, raw, LEVEL));
    },
  };
}
