/** Segment header (docs/reference/format.md#segment-header): 56 bytes, then the checkpoint, then the delta blob. */
import { ByteReader, ByteWriter } from '../base/bytes.js';

export const SEGMENT_HEADER_SIZE = 56;
export const SEGMENT_MAGIC = 0x47455375; // "uSEG"

export interface SegmentHeader {
  readonly flags: number;
  readonly timeStartPs: bigint;
  /** Exclusive in files we write; existing writers store the last frame's time. */
  readonly timeEndPs: bigint;
  /** File offset of the previous segment header, 0 = first. Follow it only to a smaller offset. */
  readonly prevSegmentOffset: bigint;
  readonly checkpointSize: number;
  /** Bytes of the delta blob in the file, an LZ4 size prefix included. */
  readonly deltasCompressedSize: number;
  readonly deltasRawSize: number;
  readonly numFrames: number;
  /** Frames with at least one item. */
  readonly numFramesActive: number;
}

export function encodeSegmentHeader(header: SegmentHeader): Uint8Array {
  return new ByteWriter(SEGMENT_HEADER_SIZE)
    .u32(SEGMENT_MAGIC)
    .u32(header.flags)
    .u64(header.timeStartPs)
    .u64(header.timeEndPs)
    .u64(header.prevSegmentOffset)
    .u32(header.checkpointSize)
    .u32(header.deltasCompressedSize)
    .u32(header.deltasRawSize)
    .u32(header.numFrames)
    .u32(header.numFramesActive)
    .u32(0)
    .finish();
}

/**
 * `bytes` starts at the header; `baseOffset` is its file offset. Sizes are not checked against the file: the code that reads the parts does.
 * Errors: FORMAT_TRUNCATED, FORMAT_MAGIC, FORMAT_VALUE (the segment ends before it starts).
 */
export function decodeSegmentHeader(bytes: Uint8Array, baseOffset = 0): SegmentHeader {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  reader.need(SEGMENT_HEADER_SIZE, 'segment header');
  if (reader.u32() !== SEGMENT_MAGIC) {
    throw reader.error('FORMAT_MAGIC', 'no segment here: it does not start with "uSEG"', 0);
  }
  const flags = reader.u32();
  const timeStartPs = reader.u64();
  const timeEndPs = reader.u64();
  if (timeEndPs < timeStartPs) {
    throw reader.error(
      'FORMAT_VALUE',
      `the segment ends at ${timeEndPs} ps, before its start at ${timeStartPs} ps`,
      16,
    );
  }
  const prevSegmentOffset = reader.u64();
  const checkpointSize = reader.u32();
  const deltasCompressedSize = reader.u32();
  const deltasRawSize = reader.u32();
  const numFrames = reader.u32();
  const numFramesActive = reader.u32();
  return {
    flags,
    timeStartPs,
    timeEndPs,
    prevSegmentOffset,
    checkpointSize,
    deltasCompressedSize,
    deltasRawSize,
    numFrames,
    numFramesActive,
  };
}

/** Segment table (docs/reference/format.md#segment-table): where each segment is and the time it covers. Written when a trace is finalized. */
export const SEGMENT_ENTRY_SIZE = 24;

export interface SegmentIndexEntry {
  /** File offset of the segment header. */
  readonly offset: bigint;
  readonly timeStartPs: bigint;
  readonly timeEndPs: bigint;
}
