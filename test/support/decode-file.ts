/** A plain decoder of whole trace files from format functions alone: the second opinion that tests hold against writer and reader. */

import { readFileSync } from 'node:fs';
import {
  type CommitRecord,
  commitRecordSize,
  compressionOf,
  decodeCommitRecord,
  decodeHeader,
  decodePreamble,
  decodeSectionTable,
  decodeSegmentHeader,
  decodeTraceSummary,
  decompressLz4Blob,
  type FileHeader,
  Flag,
  type Frame,
  type Preamble,
  SEGMENT_HEADER_SIZE,
  SectionType,
  type SegmentHeader,
  type SegmentIndexEntry,
  type TraceSummary,
  verifyCommitRecord,
} from '../../sdk/src/format/index.js';
import { decodeFrames } from './decode-frames.js';
import { decodeSegmentTable, StringTable } from './format-tables.js';

export interface DecodedSegment {
  readonly offset: number;
  readonly header: SegmentHeader;
  readonly checkpoint: Uint8Array;
  readonly frames: Frame[];
  readonly record: CommitRecord;
}

export interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly header: FileHeader;
  readonly preamble: Preamble;
  readonly segments: DecodedSegment[];
  readonly strings: string[] | null;
  readonly segmentTable: SegmentIndexEntry[] | null;
  readonly summary: TraceSummary | null;
}

export type Decompress = (blob: Uint8Array, rawSize: number) => Uint8Array;

export function decodeFile(path: string, zstd?: Decompress): DecodedFile {
  const bytes = new Uint8Array(readFileSync(path));
  const header = decodeHeader(bytes.subarray(0, 48));
  const preamble = decodePreamble(bytes.subarray(48, header.preambleEnd), header.versionMinor);
  const decompress = decompressor(header, zstd);
  const segments: DecodedSegment[] = [];
  for (let at = Number(header.tailOffset); at !== 0; ) {
    const segment = decodeSegment(bytes, at, decompress, preamble);
    segments.unshift(segment);
    at = Number(segment.header.prevSegmentOffset);
  }
  return { bytes, header, preamble, segments, ...decodeTail(bytes, header) };
}

function decompressor(header: FileHeader, zstd?: Decompress): Decompress {
  if (!(header.flags & Flag.COMPRESSED)) return (blob) => blob;
  return compressionOf(header.flags) === 'lz4' ? decompressLz4Blob : zstd!;
}

function decodeSegment(
  bytes: Uint8Array,
  offset: number,
  decompress: Decompress,
  preamble: Preamble,
): DecodedSegment {
  const header = decodeSegmentHeader(bytes.subarray(offset), offset);
  const checkpointEnd = offset + SEGMENT_HEADER_SIZE + header.checkpointSize;
  const end = checkpointEnd + header.deltasCompressedSize;
  const raw = decompress(bytes.subarray(checkpointEnd, end), header.deltasRawSize);
  const recordAt = Math.ceil(end / 8) * 8;
  const recordBytes = bytes.subarray(recordAt, recordAt + commitRecordSize(bytes.subarray(recordAt)));
  if (!verifyCommitRecord(bytes.subarray(offset, end), recordBytes))
    throw new Error(`commit record at ${recordAt} does not verify`);
  return {
    offset,
    header,
    checkpoint: bytes.slice(offset + SEGMENT_HEADER_SIZE, checkpointEnd),
    frames: decodeFrames(raw, header.timeStartPs, preamble.schema),
    record: decodeCommitRecord(recordBytes, recordAt),
  };
}

function decodeTail(
  bytes: Uint8Array,
  header: FileHeader,
): Pick<DecodedFile, 'strings' | 'segmentTable' | 'summary'> {
  if (!(header.flags & Flag.COMPLETE)) return { strings: null, segmentTable: null, summary: null };
  const sections = decodeSectionTable(bytes.subarray(Number(header.sectionTableOffset)));
  const section = (type: number): Uint8Array | null => {
    const entry = sections.find((candidate) => candidate.type === type);
    return entry ? bytes.subarray(Number(entry.offset), Number(entry.offset + entry.size)) : null;
  };
  const strings = section(SectionType.STRINGS);
  const table = section(SectionType.SEGMENTS);
  const summary = section(SectionType.COUNTER_SUMMARY);
  return {
    strings: strings ? readStrings(new StringTable(strings)) : null,
    segmentTable: table ? decodeSegmentTable(table) : null,
    summary: summary ? decodeTraceSummary(summary) : null,
  };
}

function readStrings(table: StringTable): string[] {
  return Array.from({ length: table.length }, (_, i) => table.get(i));
}
