/** What makes the index of a trace's segments while it is written; the writer knows nothing of what is in it. */
import type { DutProperties, Schema } from '../../format/types.js';

/** A segment that is cut. */
export interface SegmentToIndex {
  /** Its frames, raw. They and the checkpoint stay as they are until the index is made. */
  readonly frames: Uint8Array;
  readonly checkpoint: Uint8Array;
  readonly timeStartPs: bigint;
  /** The frames are another one's as soon as the call returns. */
  readonly isTransient: boolean;
}

export interface SegmentIndexer {
  /**
   * Takes the next segment; resolves to its index container (docs/format.md#index-containers) without place and checksum, or to null where there is
   * none. Never rejects.
   */
  add(segment: SegmentToIndex): Promise<Uint8Array | null>;
  /** The container as it is to be stored behind a segment of so many bytes: a large one loses its finest parts; null: it is not stored. */
  fit(container: Uint8Array, segmentBytes: number): Uint8Array | null;
}

/**
 * @param before index container of the last segment that the file has; of no bytes: it has no segment; null: it has none, or a damaged one
 * @returns null where there is no index
 */
export type SegmentIndexerFactory = (
  schema: Schema,
  dut: DutProperties,
  before: Uint8Array | null,
) => SegmentIndexer | null;
