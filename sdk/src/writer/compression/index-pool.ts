/** The index of segments on the threads that compress them. */
import type { SegmentToIndex } from '../contract/segment-indexer.js';
import { nativePool } from './compression-pool.js';

/** Makes the containers of one trace's segments, in their order. Never rejects. */
export type PooledIndexer = (segment: SegmentToIndex) => Promise<Uint8Array | null>;

/**
 * @param plan its words and their CRC: see trace-index/plan-words.ts
 * @param carry null: not known
 * @returns null where there is no addon, or the schema is too large for an index
 */
export function openPooledIndexer(
  plan: { readonly words: Uint32Array; readonly crc: number },
  carry: Uint8Array | null,
): PooledIndexer | null {
  return nativePool()?.openIndexer(plan.words, plan.crc, carry) ?? null;
}
