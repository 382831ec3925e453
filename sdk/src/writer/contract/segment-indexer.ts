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

/** A trace whose segments are all in the file, while it is closed. */
export interface IndexedFile {
  readonly segments: number;
  /** Bytes of the file so far. */
  readonly bytes: number;
  /** Start of the first segment, end of the last one. */
  readonly startPs: bigint;
  readonly endPs: bigint;
  /** The index container of a segment, and its offset in the file; null: it has none. Its checksum has not been looked at. */
  container(segment: number): Promise<{ readonly offset: number; readonly bytes: Uint8Array } | null>;
  /** Offset in the file behind a segment's index container, if it has one. */
  containerEnd(segment: number): number;
}

/** The end of the file. */
export interface IndexOutput {
  /** File offset of the next byte. */
  readonly position: number;
  append(bytes: Uint8Array): Promise<void>;
}

export interface SegmentIndexer {
  /**
   * Takes the next segment; resolves to its index container (docs/reference/format.md#index-containers) without place and checksum, or to null where there is
   * none. Never rejects.
   */
  add(segment: SegmentToIndex): Promise<Uint8Array | null>;
  /**
   * What is to be stored after a segment of this number of bytes, of what `add` has made for it: a large one loses its finest parts; null: nothing. Called for
   * each segment in their order.
   */
  toStore(made: Uint8Array | null, segmentBytes: number): Uint8Array | null;
  /**
   * Appends the directory of the index (docs/reference/format.md#index-directory). May be called again after it has failed. Resolves to false where there shall be
   * none, whatever was appended. @throws UscopeError WRITER_*
   */
  directory(file: IndexedFile, output: IndexOutput): Promise<boolean>;
}

/** The container of a segment as it is to be stored, without place and checksum; null: it has none. */
export async function indexOfSegment(
  indexer: SegmentIndexer | null,
  segment: Omit<SegmentToIndex, 'isTransient'>,
  /** Of the deltas as they are stored. */
  deltas: Uint8Array,
): Promise<Uint8Array | null> {
  const made = await indexer?.add({ ...segment, isTransient: false });
  return indexer?.toStore(made ?? null, segment.checkpoint.length + deltas.length) ?? null;
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
