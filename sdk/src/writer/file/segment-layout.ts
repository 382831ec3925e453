/** The bytes of one segment with its commit record (docs/explanation/durability.md) and the index container in it, 8-aligned. */
import { crc32 } from '#platform/crc32';
import { combineCrc } from '../../base/crc-combine.js';
import { layOutCommitRecord } from '../../format/commit-record.js';
import { sealIndexContainer } from '../../format/index-container.js';
import { encodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import type { FinishedSegment } from './segment-store.js';

export interface SegmentBytes {
  readonly chunks: readonly Uint8Array[];
  /** Bytes of header, checkpoint and deltas; and of everything, a multiple of 8. */
  readonly segmentSize: number;
  readonly size: number;
}

/** @param offset its place, 8-aligned @param prevOffset of the segment before, 0 = first */
export function layOutSegment(segment: FinishedSegment, offset: number, prevOffset: number): SegmentBytes {
  const { checkpoint, checkpointCrc, deltas, deltasCrc } = segment;
  const header = encodeSegmentHeader({ ...segment.header, prevSegmentOffset: BigInt(prevOffset) });
  const segmentSize = SEGMENT_HEADER_SIZE + checkpoint.length + deltas.length;
  const padding = new Uint8Array(-segmentSize & 7);
  const crc = crcBehind(crcBehind(crc32(header), checkpoint, checkpointCrc), deltas, deltasCrc);
  const { nextFrame, nextString, strings, snapshots } = segment;
  const index = segment.index ?? undefined;
  if (index) sealIndexContainer(index, offset, crc32);
  const record = layOutCommitRecord(
    { segmentOffset: BigInt(offset), segmentSize, nextFrame, nextString, strings, snapshots, index },
    crc,
    crc32,
  );
  const chunks = [header, checkpoint, deltas, padding, ...record];
  return { chunks, segmentSize, size: chunks.reduce((sum, { length }) => sum + length, 0) };
}

/** @param known the CRC of the bytes alone */
function crcBehind(before: number, bytes: Uint8Array, known: number | undefined): number {
  return known === undefined ? crc32(bytes, before) : combineCrc(before, known, bytes.length);
}
