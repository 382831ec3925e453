/** Segment table (docs/format.md#segment-table): where each segment is and the time it covers. Written when a trace is finalized. */
import { ByteReader, ByteWriter } from '../base/bytes.js';

export const SEGMENT_ENTRY_SIZE = 24;

export interface SegmentIndexEntry {
  /** File offset of the segment header. */
  readonly offset: bigint;
  readonly timeStartPs: bigint;
  readonly timeEndPs: bigint;
}

export function encodeSegmentTable(entries: readonly SegmentIndexEntry[]): Uint8Array {
  const writer = new ByteWriter(entries.length * SEGMENT_ENTRY_SIZE);
  for (const entry of entries) writer.u64(entry.offset).u64(entry.timeStartPs).u64(entry.timeEndPs);
  return writer.finish();
}

/** FORMAT_LENGTH when the section is not a multiple of 24 bytes. Order and offsets are for the reader to check. */
export function decodeSegmentTable(bytes: Uint8Array, baseOffset = 0): SegmentIndexEntry[] {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  if (bytes.length % SEGMENT_ENTRY_SIZE !== 0) {
    throw reader.error(
      'FORMAT_LENGTH',
      `segment table of ${bytes.length} bytes is not a multiple of ${SEGMENT_ENTRY_SIZE}`,
    );
  }
  const entries: SegmentIndexEntry[] = [];
  while (reader.remaining > 0) {
    const offset = reader.u64();
    const timeStartPs = reader.u64();
    entries.push({ offset, timeStartPs, timeEndPs: reader.u64() });
  }
  return entries;
}
