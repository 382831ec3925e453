/** What a trace is opened with. */
import { type Codec, DEFAULT_MAX_SEGMENT_BYTES } from './codec.js';
import type { LoaderOptions } from './segment-loader.js';
import type { TraceWarning } from './warnings.js';

export interface OpenOptions {
  /** Decompression and checksums; by default pure TypeScript without ZSTD. `reader/node.ts` has native ones. */
  readonly codec?: Codec | undefined;
  /** Limit of what one segment may decompress to. Default 256 MiB; in Node the environment may say otherwise (`USCOPE_MAX_SEGMENT_MIB`). */
  readonly maxSegmentBytes?: number | undefined;
  /** Limit of the memory of one state. Default 512 MiB. */
  readonly maxStateBytes?: number | undefined;
  /** Bytes of segments kept between questions. Default 64 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Check the CRC of every segment read. Default: true for files that have them (those of this project). */
  readonly verify?: boolean | undefined;
  /** Called once per kind of warning, when it is found; they are also kept in `Trace.warnings`. */
  readonly onWarning?: ((warning: TraceWarning) => void) | undefined;
}

const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

/** @param ours the file has our session chunk */
export function loaderOptions(options: OpenOptions, ours: boolean): LoaderOptions {
  return {
    ours,
    codec: options.codec ?? {},
    maxSegmentBytes: options.maxSegmentBytes ?? DEFAULT_MAX_SEGMENT_BYTES,
    cacheBytes: options.cacheBytes ?? DEFAULT_CACHE_BYTES,
    verify: options.verify ?? ours,
  };
}
