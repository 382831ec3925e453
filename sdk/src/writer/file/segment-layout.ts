/** The bytes of one segment with its commit record (docs/durability.md) and the index container in it, 8-aligned. */
import { crc32 } from '#platform/crc32';
import { encodeCommitRecord } from '../../format/commit-record.js';
import { sealIndexContainer } from '../../format/index-container.js';
import { encodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { combineCrc } from './crc-combine.js';
import type { FinishedSegment } from './segment-store.js';

export interface SegmentBytes {
  readonly chunks: readonly Uint8Array[];
  /** Bytes of header, checkpoint and deltas; and of everything, a multiple of 8. */
  readonly segmentSize: number;
  readonly size: number;
}

/** @param offset its place, 8-aligned @param prevOffset of the segment before, 0 = first */
export function layOutSegment(segment: FinishedSegment, offset: number, prevOffset: number): SegmentBytes {
  const { checkpoint, deltas, deltasCrc } = segment;
  const header = encodeSegmentHeader({ ...segment.header, prevSegmentOffset: BigInt(prevOffset) });
  const segmentSize = SEGMENT_HEADER_SIZE + checkpoint.length + deltas.length;
  const padding = new Uint8Array(-segmentSize & 7);
  const before = crc32(checkpoint, crc32(header));
  const crc = deltasCrc === undefined ? crc32(deltas, before) : combineCrc(before, deltasCrc, deltas.length);
  const { nextFrame, nextString, strings, snapshots } = segment;
  const index = segment.index ?? undefined;
  if (index) sealIndexContainer(index, offset, crc32);
  const record = encodeCommitRecord(
    { segmentOffset: BigInt(offset), segmentSize, nextFrame, nextString, strings, snapshots, index },
    crc,
    crc32,
  );
  const chunks = [header, checkpoint, deltas, padding, record];
  return { chunks, segmentSize, size: chunks.reduce((sum, { length }) => sum + length, 0) };
}
