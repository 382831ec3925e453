/** Segment table (docs/reference/format.md#segment-table): where each segment is and the time it covers. Written when a trace is finalized. */
export const SEGMENT_ENTRY_SIZE = 24;

export interface SegmentIndexEntry {
  /** File offset of the segment header. */
  readonly offset: bigint;
  readonly timeStartPs: bigint;
  readonly timeEndPs: bigint;
}
