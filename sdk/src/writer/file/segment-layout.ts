/** The bytes of one segment with its commit record (docs/durability.md), 8-aligned. */
import { crc32 as zlibCrc32 } from 'node:zlib';
import { encodeCommitRecord } from '../../format/commit-record.js';
import { encodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { combineCrc } from './crc-combine.js';
import type { FinishedSegment } from './segment-store.js';

/** Node's answers 0, not the seed, for an empty array whose buffer is empty, too: the checkpoint of a schema without storages. */
const crcOn = (bytes: Uint8Array, seed: number): number =>
  bytes.length === 0 ? seed : zlibCrc32(bytes, seed);

export interface SegmentBytes {
  readonly chunks: readonly Uint8Array[];
  /** Bytes of header, checkpoint and deltas; and of everything, a multiple of 8. */
  readonly segmentSize: number;
  readonly size: number;
}

/** @param offset where it will stand, 8-aligned @param prevOffset of the segment before, 0 = first */
export function layOutSegment(segment: FinishedSegment, offset: number, prevOffset: number): SegmentBytes {
  const { checkpoint, deltas, deltasCrc } = segment;
  const header = encodeSegmentHeader({ ...segment.header, prevSegmentOffset: BigInt(prevOffset) });
  const segmentSize = SEGMENT_HEADER_SIZE + checkpoint.length + deltas.length;
  const padding = new Uint8Array(-segmentSize & 7);
  const before = crcOn(checkpoint, zlibCrc32(header));
  const crc = deltasCrc === undefined ? crcOn(deltas, before) : combineCrc(before, deltasCrc, deltas.length);
  const { nextFrame, nextString, strings, snapshots } = segment;
  const record = encodeCommitRecord(
    { segmentOffset: BigInt(offset), segmentSize, nextFrame, nextString, strings, snapshots },
    crc,
    zlibCrc32,
  );
  const size = segmentSize + padding.length + record.length;
  return { chunks: [header, checkpoint, deltas, padding, record], segmentSize, size };
}
