/** One segment in a separate file: segment, commit record, ring record. Nothing in it depends on its place in a trace. */
import { crc32 } from '#platform/crc32';
import { align8 } from '../../base/bytes.js';
import {
  type CommitRecord,
  commitRecordSize,
  decodeCommitRecord,
  verifyCommitRecord,
} from '../../format/commit-record.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../../format/segment.js';
import { crcInTurns } from '../file/crc-in-turns.js';
import { layOutSegment } from '../file/segment-layout.js';
import type { FinishedSegment } from '../file/segment-store.js';
import { decodeRingRecord, encodeRingRecord, type RingRecord } from './ring-record.js';

/** Raw bytes a segment of our own may have: a hard cut and one more frame. Anything above is damage. */
const MAX_RAW_BYTES = 128 * 1024 * 1024;
/** What a file takes is counted in blocks of the file system. */
const BLOCK_BYTES = 4096;

/** What the spool remembers of a segment. */
export interface SpoolEntry {
  readonly ordinal: number;
  /** Bytes it takes on disk. */
  readonly bytes: number;
  readonly timeStartPs: bigint;
  readonly timeEndPs: bigint;
  readonly numFrames: number;
  readonly nextFrame: bigint;
  readonly nextString: bigint;
  readonly numStrings: number;
  /** What its strings take once more in a finalized file, whose string table repeats them. */
  readonly stringBytes: number;
}

export interface SpooledSegment {
  readonly header: SegmentHeader;
  readonly checkpoint: Uint8Array;
  readonly deltas: Uint8Array;
  readonly record: CommitRecord;
  readonly ring: RingRecord;
}

const TABLE_ENTRY_BYTES = 8;

const tableBytes = (count: number, textBytes: number): number => (TABLE_ENTRY_BYTES + 1) * count + textBytes;

export const onDisk = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;

/** The file's bytes, and what is remembered of it. */
export function encodeSpooled(
  segment: FinishedSegment,
  ring: RingRecord,
): { chunks: Uint8Array[]; entry: SpoolEntry } {
  const layout = layOutSegment(segment, 0, 0);
  const tail = encodeRingRecord(ring);
  const { header, nextFrame, nextString, strings } = segment;
  return {
    chunks: [...layout.chunks, tail],
    entry: {
      ordinal: ring.ordinal,
      bytes: onDisk(layout.size + tail.length),
      timeStartPs: header.timeStartPs,
      timeEndPs: header.timeEndPs,
      numFrames: header.numFrames,
      nextFrame,
      nextString,
      numStrings: strings.length,
      stringBytes: tableBytes(strings.length, strings.textBytes),
    },
  };
}

/** null: torn or damaged. */
export async function decodeSpooled(bytes: Uint8Array, ordinal: number): Promise<SpooledSegment | null> {
  try {
    const header = decodeSegmentHeader(bytes);
    const deltasAt = SEGMENT_HEADER_SIZE + header.checkpointSize;
    const end = deltasAt + header.deltasCompressedSize;
    if (end > bytes.length || header.deltasRawSize > MAX_RAW_BYTES) return null;
    const rest = bytes.subarray(align8(end));
    const size = commitRecordSize(rest);
    if (size === 0 || size > rest.length) return null;
    const segment = bytes.subarray(0, end);
    if (!verifyCommitRecord((await crcInTurns(segment)) ?? segment, rest, crc32)) return null;
    const ring = decodeRingRecord(rest.subarray(size));
    if (ring === null || ring.ordinal !== ordinal) return null;
    const record = decodeCommitRecord(rest);
    return {
      header,
      checkpoint: bytes.subarray(SEGMENT_HEADER_SIZE, deltasAt),
      deltas: bytes.subarray(deltasAt, end),
      record,
      ring,
    };
  } catch {
    return null;
  }
}

export function entryOf({ header, record, ring }: SpooledSegment, size: number): SpoolEntry {
  return {
    ordinal: ring.ordinal,
    bytes: onDisk(size),
    timeStartPs: header.timeStartPs,
    timeEndPs: header.timeEndPs,
    numFrames: header.numFrames,
    nextFrame: record.nextFrame,
    nextString: record.nextString,
    numStrings: record.strings.length,
    stringBytes: tableBytes(
      record.strings.length,
      record.strings.reduce((sum, { length }) => sum + length, 0),
    ),
  };
}
