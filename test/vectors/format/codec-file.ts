/** Whole files of golden vectors: every part at the offset its JSON names, zeros between. */

import { crc32 } from '../../../sdk/src/base/crc32.js';
import { UscopeError } from '../../../sdk/src/base/errors.js';
import * as format from '../../../sdk/src/format/index.js';
import { decodeFrames } from '../../support/decode-frames.js';
import {
  decodeSegmentTable,
  encodeSegmentTable,
  encodeStringTable,
  StringTable,
} from '../../support/format-tables.js';
import { frameLz4 } from '../../support/lz4-frame.js';

interface FileSegment {
  offset: bigint;
  header: format.SegmentHeader;
  checkpoint: format.CheckpointBlock[];
  frames: format.Frame[];
  /** The compressed deltas without their size prefix; only in compressed files. */
  lz4Block?: Uint8Array;
  commit?: format.CommitRecord & { offset: bigint };
}

interface FileValue {
  header: format.FileHeader;
  preamble: format.Preamble;
  segments: FileSegment[];
  sections: format.SectionEntry[] | null;
  summary: format.TraceSummary | null;
  strings: string[] | null;
  segmentTable: format.SegmentIndexEntry[] | null;
}

export function decodeFile(bytes: Uint8Array): FileValue {
  const header = format.decodeHeader(bytes);
  const preamble = format.decodePreamble(
    bytes.subarray(format.HEADER_SIZE, header.preambleEnd),
    header.versionMinor,
  );
  const segments: FileSegment[] = [];
  for (let offset = header.tailOffset; offset !== 0n; ) {
    const segment = decodeSegment(bytes, Number(offset), header, preamble.schema);
    segments.unshift(segment);
    const before = segment.header.prevSegmentOffset;
    if (before >= offset)
      throw new UscopeError('FORMAT_CHAIN', `the segment at ${offset} points to ${before}`);
    offset = before;
  }
  const tableAt = Number(header.sectionTableOffset);
  const sections = tableAt ? format.decodeSectionTable(bytes.subarray(tableAt), tableAt, bytes.length) : null;
  const section = (type: number) => sectionBytes(bytes, sections, type);
  const summary = section(format.SectionType.COUNTER_SUMMARY);
  const strings = section(format.SectionType.STRINGS);
  const segmentTable = section(format.SectionType.SEGMENTS);
  return {
    header,
    preamble,
    segments,
    sections,
    summary: summary && format.decodeTraceSummary(summary),
    strings: strings && textsOf(strings),
    segmentTable: segmentTable && decodeSegmentTable(segmentTable),
  };
}

function sectionBytes(
  bytes: Uint8Array,
  sections: format.SectionEntry[] | null,
  type: number,
): Uint8Array | null {
  const entry = sections?.find((candidate) => candidate.type === type);
  return entry ? bytes.subarray(Number(entry.offset), Number(entry.offset + entry.size)) : null;
}

function textsOf(section: Uint8Array): string[] {
  const table = new StringTable(section);
  return Array.from({ length: table.length }, (_, index) => table.get(index));
}

function decodeSegment(
  bytes: Uint8Array,
  offset: number,
  file: format.FileHeader,
  schema: format.Schema,
): FileSegment {
  const header = format.decodeSegmentHeader(bytes.subarray(offset), offset);
  const checkpointAt = offset + format.SEGMENT_HEADER_SIZE;
  const deltasAt = checkpointAt + header.checkpointSize;
  const end = deltasAt + header.deltasCompressedSize;
  const blob = bytes.subarray(deltasAt, end);
  const isLz4 = format.compressionOf(file.flags) === 'lz4';
  const deltas = isLz4 ? format.decompressLz4Blob(blob, header.deltasRawSize) : blob;
  const interleaved = (file.flags & format.Flag.INTERLEAVED) !== 0;
  const segment: FileSegment = {
    offset: BigInt(offset),
    header,
    checkpoint: format.decodeCheckpoint(bytes.subarray(checkpointAt, deltasAt), schema, checkpointAt),
    frames: decodeFrames(deltas, header.timeStartPs, schema, interleaved),
  };
  if (isLz4) segment.lz4Block = format.unframeLz4(blob, header.deltasRawSize);
  const recordAt = end + (-end & 7);
  if (format.commitRecordSize(bytes.subarray(recordAt)) > 0) {
    const record = format.decodeCommitRecord(bytes.subarray(recordAt), recordAt);
    if (!format.verifyCommitRecord(bytes.subarray(offset, end), bytes.subarray(recordAt))) {
      throw new UscopeError('FORMAT_CHECKSUM', `crc of the commit record at ${recordAt} differs`);
    }
    segment.commit = { offset: BigInt(recordAt), ...record };
  }
  return segment;
}

export function encodeFile(file: FileValue): Uint8Array {
  const parts: [offset: number, bytes: Uint8Array][] = [
    [0, format.encodeHeader(file.header)],
    [format.HEADER_SIZE, format.encodePreamble(file.preamble).bytes],
  ];
  for (const segment of file.segments) parts.push(...encodeSegment(segment, file.preamble.schema));
  for (const entry of file.sections ?? [])
    parts.push([Number(entry.offset), encodeSection(file, entry.type)]);
  if (file.sections) {
    parts.push([Number(file.header.sectionTableOffset), format.encodeSectionTable(file.sections)]);
  }
  const size = Math.max(...parts.map(([offset, bytes]) => offset + bytes.length));
  const out = new Uint8Array(size);
  for (const [offset, bytes] of parts) out.set(bytes, offset);
  return out;
}

function encodeSection(file: FileValue, type: number): Uint8Array {
  if (type === format.SectionType.COUNTER_SUMMARY) return format.encodeTraceSummary(file.summary!);
  if (type === format.SectionType.STRINGS) return encodeStringTable(file.strings!);
  return encodeSegmentTable(file.segmentTable!);
}

function encodeSegment(segment: FileSegment, schema: format.Schema): [number, Uint8Array][] {
  const deltas = format.encodeFrames(segment.frames, segment.header.timeStartPs);
  const blob = segment.lz4Block ? frameLz4(segment.lz4Block, deltas.length) : deltas;
  const bytes = concat([
    format.encodeSegmentHeader(segment.header),
    format.encodeCheckpoint(schema, segment.checkpoint),
    blob,
  ]);
  const parts: [number, Uint8Array][] = [[Number(segment.offset), bytes]];
  if (segment.commit) {
    parts.push([Number(segment.commit.offset), format.encodeCommitRecord(segment.commit, crc32(bytes))]);
  }
  return parts;
}

function concat(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
