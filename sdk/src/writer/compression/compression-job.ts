/** The messages between the pool (compression-pool.ts) and its threads (compression-thread.ts). */
import type { CompressionName } from '../../format/types.js';
import type { Compressed, Lz4Job } from '../../native/lz4.js';

export type PooledMethod = 'lz4' | 'zstd';

/**
 * Compresses what lies in a memory that the thread has adopted, or `raw` into `out`, which has room for the result; or decompresses `blob` into
 * `out`, which is as large as its result.
 */
export type CompressionJob =
  | { readonly decompress: CompressionName; readonly blob: Uint8Array; readonly out: Uint8Array }
  | { readonly memory: number; readonly job: Lz4Job }
  | {
      readonly method: PooledMethod;
      readonly level: number;
      readonly raw: Uint8Array;
      readonly out: Uint8Array;
    };

/** `adopt` and `forget` say which memory a number means; a job is answered. */
export type ThreadRequest =
  | { readonly adopt: number; readonly memory: WebAssembly.Memory }
  | { readonly forget: number }
  | ({ readonly id: number } & CompressionJob);

export type ThreadAnswer =
  | ({ readonly id: number } & Compressed)
  | { readonly id: number; readonly error: string };
