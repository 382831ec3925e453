/**
 * Close (docs/format.md#sections): the tail sections, then the header without F_COMPLETE, then the flags, each made durable before the next.
 * Memory stays bounded: strings are streamed from the commit records, the segment table from a compact list.
 */

import { align8 } from '../base/bytes.js';
import { decodeCommitRecord } from '../format/commit-record.js';
import { encodeHeader, Flag, HEADER_FLAGS_OFFSET } from '../format/header.js';
import { encodeSectionTable, SectionType } from '../format/section-table.js';
import { SEGMENT_ENTRY_SIZE } from '../format/segment-table.js';
import type { SessionInfo } from '../format/session-chunk.js';
import {
  encodeStringTableHeader,
  putStringEntry,
  STRING_ENTRY_SIZE,
  STRING_TABLE_HEADER_SIZE,
} from '../format/string-table.js';
import { encodeTraceSummary, type TraceSummary } from '../format/tsum.js';
import { SectionAppender } from './section-appender.js';
import type { SegmentList } from './segment-list.js';
import { type TraceFile, writeSession } from './trace-file.js';

const RECORD_PREFIX_BYTES = 8;

export interface FinalContent {
  readonly segments: SegmentList;
  /** 8-aligned end of the last commit record. */
  readonly end: number;
  readonly totalTimePs: bigint;
  readonly summary: TraceSummary;
  readonly numStrings: number;
  /** Strings that no commit record holds, because no frame followed them. */
  readonly lateStrings: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  readonly session: SessionInfo;
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
}

/** Writes everything a finalized file has; returns the file's size. May be repeated after a failure. */
export async function finalizeFile(trace: TraceFile, content: FinalContent): Promise<number> {
  const sections: Section[] = [];
  let end = await writeSummary(trace, content, sections);
  if (content.numStrings > 0) end = await writeStrings(trace, content, align8(end), sections);
  if (content.segments.length > 0) end = await writeSegmentTable(trace, content, align8(end), sections);
  const tableOffset = align8(end);
  const table = encodeSectionTable(
    sections.map(({ type, offset, size }) => ({
      type,
      flags: 0,
      offset: BigInt(offset),
      size: BigInt(size),
    })),
  );
  await trace.file.write([new Uint8Array(tableOffset - end), table], end);
  await trace.file.sync();
  await writeHeader(trace, content, tableOffset);
  return tableOffset + table.length;
}

async function writeSummary(
  trace: TraceFile,
  { summary, end }: FinalContent,
  sections: Section[],
): Promise<number> {
  const bytes = encodeTraceSummary(summary);
  await trace.file.write([bytes], end);
  sections.push({ type: SectionType.COUNTER_SUMMARY, offset: end, size: bytes.length });
  return end + bytes.length;
}

/** docs/format.md#string-table: entries and text are written in one walk over the commit records, through two appenders. */
async function writeStrings(
  trace: TraceFile,
  content: FinalContent,
  offset: number,
  sections: Section[],
): Promise<number> {
  const entries = new SectionAppender(trace.file, offset);
  const textStart = offset + STRING_TABLE_HEADER_SIZE + content.numStrings * STRING_ENTRY_SIZE;
  const text = new SectionAppender(trace.file, textStart);
  await entries.append(encodeStringTableHeader(content.numStrings));
  for await (const string of allStrings(trace, content)) {
    const entry = new Uint8Array(STRING_ENTRY_SIZE);
    putStringEntry(entry, 0, text.position - textStart, string.length);
    await entries.append(entry);
    await text.append(string);
    await text.append(NUL);
  }
  await entries.flush();
  await text.flush();
  sections.push({ type: SectionType.STRINGS, offset, size: text.position - offset });
  return text.position;
}

const NUL = new Uint8Array(1);

async function* allStrings(trace: TraceFile, content: FinalContent): AsyncGenerator<Uint8Array> {
  const { segments } = content;
  for (let i = 0; i < segments.length; i++) {
    const offset = align8(segments.offset(i) + segments.size(i));
    const prefix = await trace.file.read(offset, RECORD_PREFIX_BYTES);
    const size = new DataView(prefix.buffer, prefix.byteOffset).getUint32(4, true);
    yield* decodeCommitRecord(await trace.file.read(offset, size), offset).strings;
  }
  yield* content.lateStrings;
}

/** docs/format.md#segment-table */
async function writeSegmentTable(
  trace: TraceFile,
  content: FinalContent,
  offset: number,
  sections: Section[],
): Promise<number> {
  const { segments } = content;
  const table = new SectionAppender(trace.file, offset);
  for (let i = 0; i < segments.length; i++) {
    const entry = new Uint8Array(SEGMENT_ENTRY_SIZE);
    const view = new DataView(entry.buffer);
    view.setBigUint64(0, BigInt(segments.offset(i)), true);
    view.setBigUint64(8, segments.timeStartPs(i), true);
    view.setBigUint64(16, segments.timeEndPs(i), true);
    await table.append(entry);
  }
  await table.flush();
  sections.push({ type: SectionType.SEGMENTS, offset, size: table.position - offset });
  return table.position;
}

/** The flags come last and alone: until then the file is a valid unfinalized one. */
async function writeHeader(trace: TraceFile, content: FinalContent, tableOffset: number): Promise<void> {
  const header = {
    versionMajor: 0,
    versionMinor: 3,
    flags: trace.openFlags,
    totalTimePs: content.totalTimePs,
    numSegments: content.segments.length,
    preambleEnd: trace.preambleEnd,
    sectionTableOffset: BigInt(tableOffset),
    tailOffset: BigInt(content.segments.lastOffset),
  };
  await trace.file.write([encodeHeader(header)], 0);
  await writeSession(trace, content.session);
  await trace.file.sync();
  const flags = trace.openFlags | Flag.COMPLETE | (content.numStrings > 0 ? Flag.HAS_STRINGS : 0);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(flags), true);
  await trace.file.write([bytes], HEADER_FLAGS_OFFSET);
  await trace.file.sync();
}
