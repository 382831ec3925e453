/**
 * Close (docs/reference/format.md#sections): the tail sections, then the header without F_COMPLETE, then the flags, each made durable before the next.
 * Memory stays bounded: strings are streamed from the commit records, the segment table from a compact list.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { align8, copyBytes } from '../../base/bytes.js';
import { combineCrc } from '../../base/crc-combine.js';
import { recordedCrc } from '../../format/checksum-chunk.js';
import { indexOfRecord, RecordStrings } from '../../format/commit-record.js';
import { Flag, VERSION_MAJOR, VERSION_MINOR } from '../../format/header.js';
import { encodeSectionTable, SectionType } from '../../format/section-table.js';
import { SEGMENT_ENTRY_SIZE } from '../../format/segment.js';
import type { SessionInfo } from '../../format/session-chunk.js';
import {
  encodeStringTableHeader,
  putStringEntry,
  STRING_ENTRY_SIZE,
  STRING_TABLE_HEADER_SIZE,
} from '../../format/string-table.js';
import { encodeTraceSummary, type TraceSummary } from '../../format/tsum.js';
import type { SegmentIndexer } from '../contract/segment-indexer.js';
import type { OutputFile } from '../output/output-file.js';
import { SectionAppender } from './section-appender.js';
import type { SegmentList } from './segment-list.js';
import { sealHeader, type TraceFile, writeHead } from './trace-file.js';

const RECORD_PREFIX_BYTES = 8;
/** Room for a commit record, at first. */
const RECORD_MEMORY_BYTES = 64 * 1024;
/** Type of the section. */
const INDEX_DIRECTORY = 0xff11;

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
  readonly indexer?: Pick<SegmentIndexer, 'directory'> | null | undefined;
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
}

/** Writes everything a finalized file has; returns the file's size. May be repeated after a failure. */
export async function finalizeFile(trace: TraceFile, content: FinalContent): Promise<number> {
  const tail = new Tail(trace.file, content.end);
  await tail.section(SectionType.COUNTER_SUMMARY, (out) => out.append(encodeTraceSummary(content.summary)));
  if (content.numStrings > 0) await writeStrings(trace, content, tail);
  await writeIndexDirectory(trace, content, tail);
  if (content.segments.length > 0)
    await tail.section(SectionType.SEGMENTS, (out) => appendSegmentTable(content.segments, out));
  await tail.align();
  const tableOffset = tail.end;
  const sections = tail.sections.map(({ type, offset, size }) => ({
    type,
    flags: 0,
    offset: BigInt(offset),
    size: BigInt(size),
  }));
  await tail.append((out) => out.append(encodeSectionTable(sections)));
  await trace.file.sync();
  await writeHeader(trace, content, tableOffset, tail.crc);
  return tail.end;
}

/** The end of the file as it grows, with the CRC-32 of all of it. */
class Tail {
  crc = 0;
  readonly sections: Section[] = [];

  constructor(
    readonly file: OutputFile,
    /** File offset of the next byte. */
    public end: number,
  ) {}

  /** Appends what `write` gives. */
  async append(write: (out: SectionAppender) => Promise<void>): Promise<void> {
    const out = new SectionAppender(this.file, this.end);
    await write(out);
    await out.flush();
    this.take(out);
  }

  /** Bytes written at the end by others. */
  take({ crc, position }: SectionAppender): void {
    this.crc = combineCrc(this.crc, crc, position - this.end);
    this.end = position;
  }

  /** Zeros up to a multiple of 8. */
  async align(): Promise<void> {
    const padding = align8(this.end) - this.end;
    if (padding > 0) await this.append((out) => out.append(new Uint8Array(padding)));
  }

  /** A section, 8-aligned. */
  async section(type: number, write: (out: SectionAppender) => Promise<void>): Promise<void> {
    await this.align();
    const offset = this.end;
    await this.append(write);
    this.sections.push({ type, offset, size: this.end - offset });
  }

  /** One that may be left out: then `write` resolves to false, and what it has appended is cut off. */
  async optionalSection(type: number, write: (out: SectionAppender) => Promise<boolean>): Promise<void> {
    await this.align();
    const out = new SectionAppender(this.file, this.end);
    if (!(await write(out))) {
      await this.file.truncate(this.end);
      return;
    }
    await out.flush();
    this.sections.push({ type, offset: this.end, size: out.position - this.end });
    this.take(out);
  }
}

/** docs/reference/format.md#string-table: entries and text are written in one walk over the commit records, through two appenders. */
async function writeStrings(trace: TraceFile, content: FinalContent, tail: Tail): Promise<void> {
  await tail.align();
  const offset = tail.end;
  const textStart = offset + STRING_TABLE_HEADER_SIZE + content.numStrings * STRING_ENTRY_SIZE;
  const entries = new SectionAppender(trace.file, offset);
  const text = new SectionAppender(trace.file, textStart);
  await entries.append(encodeStringTableHeader(content.numStrings));
  const table = new StringTableAppender(entries, text, textStart);
  const { segments, lateStrings } = content;
  // For all records: what each leaves would be collected at some time.
  let memory = new Uint8Array(RECORD_MEMORY_BYTES);
  for (let i = 0; i < segments.length; i++) {
    const at = align8(segments.offset(i) + segments.size(i));
    const prefix = await trace.file.read(at, RECORD_PREFIX_BYTES);
    const size = new DataView(prefix.buffer, prefix.byteOffset).getUint32(4, true);
    if (size > memory.length) memory = new Uint8Array(2 * size);
    await table.addRecord(new RecordStrings(await trace.file.read(at, size, memory), at));
  }
  if (Symbol.iterator in lateStrings) await table.addAll(lateStrings);
  else for await (const string of lateStrings) await table.addAll([string]);
  await entries.flush();
  await text.flush();
  tail.take(entries);
  tail.take(text);
  tail.sections.push({ type: SectionType.STRINGS, offset, size: tail.end - offset });
}

const NUL = new Uint8Array(1);
/** Between which others have their turn. */
const STRINGS_PER_TURN = 1024;

class StringTableAppender {
  private count = 0;
  private readonly entry = new Uint8Array(STRING_ENTRY_SIZE);

  constructor(
    private readonly entries: SectionAppender,
    private readonly text: SectionAppender,
    private readonly textStart: number,
  ) {}

  /** Of one segment there may be a million: it waits only where a buffer is full. */
  async addRecord(strings: RecordStrings): Promise<void> {
    const { bytes } = strings;
    while (strings.next()) {
      if (++this.count % STRINGS_PER_TURN === 0) await nextTurn();
      if (!this.take(bytes, strings.start, strings.length))
        await this.append(bytes.subarray(strings.start, strings.start + strings.length));
    }
  }

  async addAll(strings: Iterable<Uint8Array>): Promise<void> {
    for (const string of strings) {
      if (++this.count % STRINGS_PER_TURN === 0) await nextTurn();
      if (!this.take(string, 0, string.length)) await this.append(string);
    }
  }

  /** Without waiting. False, and nothing was done: a buffer has no room. */
  private take(bytes: Uint8Array, from: number, length: number): boolean {
    const { entries, text } = this;
    const offset = text.position - this.textStart;
    if (!entries.hasRoom(STRING_ENTRY_SIZE)) return false;
    const at = text.room(length + 1);
    if (at < 0) return false;
    copyBytes(bytes, from, length, text.buffer, at);
    text.buffer[at + length] = 0;
    putStringEntry(entries.buffer, entries.room(STRING_ENTRY_SIZE), offset, length);
    return true;
  }

  private async append(string: Uint8Array): Promise<void> {
    const { entries, text, entry } = this;
    putStringEntry(entry, 0, text.position - this.textStart, string.length);
    await entries.append(entry);
    await text.append(string);
    await text.append(NUL);
  }
}

/** docs/reference/format.md#index-directory, where the last segment has an index: a writer that makes one makes it to the end. */
async function writeIndexDirectory(trace: TraceFile, content: FinalContent, tail: Tail): Promise<void> {
  const { segments, indexer } = content;
  const containers = new Containers(trace.file, segments, content.end);
  if (!indexer || segments.length === 0 || !(await containers.read(segments.length - 1))) return;
  await tail.optionalSection(INDEX_DIRECTORY, (out) => {
    const [startPs, endPs] = [segments.timeStartPs(0), segments.timeEndPs(segments.length - 1)];
    const file = {
      segments: segments.length,
      bytes: content.end,
      startPs,
      endPs,
      container: (segment: number) => containers.next(segment),
      containerEnd: (segment: number) => containers.recordEnd(segment),
    };
    return indexer.directory(file, out);
  });
}

/** Segments whose containers are read while one is worked on. */
const READ_AHEAD = 16;

interface PlacedBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The index containers at the ends of the commit records. */
class Containers {
  /** Of the segments from `first` on. */
  private readonly coming: Promise<PlacedBytes | null>[] = [];
  private first = 0;

  constructor(
    private readonly file: OutputFile,
    private readonly segments: SegmentList,
    private readonly end: number,
  ) {}

  /** Segments are asked for in order. */
  next(segment: number): Promise<PlacedBytes | null> {
    const { coming, segments } = this;
    if (segment !== this.first) {
      coming.length = 0;
      this.first = segment;
    }
    while (coming.length < READ_AHEAD && this.first + coming.length < segments.length) {
      const reading = this.read(this.first + coming.length);
      // It is awaited in its turn.
      reading.catch(() => undefined);
      coming.push(reading);
    }
    this.first++;
    return coming.shift()!;
  }

  /** Only the commit record is between a segment and the next one. */
  recordEnd(segment: number): number {
    const { segments } = this;
    return segment + 1 < segments.length ? segments.offset(segment + 1) : this.end;
  }

  async read(segment: number): Promise<PlacedBytes | null> {
    const { segments, file } = this;
    const at = align8(segments.offset(segment) + segments.size(segment));
    const record = await file.read(at, this.recordEnd(segment) - at);
    const found = indexOfRecord(record);
    if (!found) return null;
    const { offset, size } = found;
    return { offset: at + offset, bytes: record.subarray(offset, offset + size) };
  }
}

/** docs/reference/format.md#segment-table */
async function appendSegmentTable(segments: SegmentList, table: SectionAppender): Promise<void> {
  for (let i = 0; i < segments.length; i++) {
    const entry = new Uint8Array(SEGMENT_ENTRY_SIZE);
    const view = new DataView(entry.buffer);
    view.setBigUint64(0, BigInt(segments.offset(i)), true);
    view.setBigUint64(8, segments.timeStartPs(i), true);
    view.setBigUint64(16, segments.timeEndPs(i), true);
    await table.append(entry);
  }
}

/** The flags come last: until then the file is a valid unfinalized one. */
async function writeHeader(
  trace: TraceFile,
  content: FinalContent,
  tableOffset: number,
  sectionsCrc: number,
): Promise<void> {
  const header = {
    versionMajor: VERSION_MAJOR,
    versionMinor: VERSION_MINOR,
    flags: trace.openFlags,
    totalTimePs: content.totalTimePs,
    numSegments: content.segments.length,
    preambleEnd: trace.preambleEnd,
    sectionTableOffset: BigInt(tableOffset),
    tailOffset: BigInt(content.segments.lastOffset),
  };
  await writeHead(trace, header, content.session, recordedCrc(sectionsCrc));
  await trace.file.sync();
  const flags = trace.openFlags | Flag.COMPLETE | (content.numStrings > 0 ? Flag.HAS_STRINGS : 0);
  await sealHeader(trace, { ...header, flags });
  await trace.file.sync();
}
