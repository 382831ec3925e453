/**
 * Finds the segments of a file by where they are, not by the links between them: from the end of the preamble on each segment (and its commit
 * record) is followed by the next. Where that breaks off, the bytes are searched for the next one. So damage costs what it hits, and no more.
 */
import { align8 } from '../../base/bytes.js';
import { crc32 } from '../../base/crc32.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { decodeCheckpoint } from '../../format/checkpoint.js';
import {
  COMMIT_HEADER_SIZE,
  type CommitRecord,
  commitRecordSize,
  decodeCommitRecord,
  verifyCommitRecord,
} from '../../format/commit-record.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../../format/segment.js';
import type { Schema } from '../../format/types.js';
import type { Codec } from '../../reader/codec.js';
import type { CheckedSource } from '../../reader/source.js';
import type { Outline } from './outline.js';

export interface FoundSegment {
  /** File offset of its header. */
  readonly offset: number;
  readonly header: SegmentHeader;
  /** Header, checkpoint and deltas. */
  readonly bytes: Uint8Array;
  /** Between segment and record, up to a multiple of 8. */
  readonly padding: Uint8Array;
  /** Everything after it; null: no commit record. */
  readonly record: CommitRecord | null;
  /** good: these are the bytes that were committed. none: there is no commit record, nothing can be said. */
  readonly crc: 'good' | 'bad' | 'none';
  /** File offset after the segment and its record. */
  readonly end: number;
}

/** Bytes that are not a segment. */
export interface Hole {
  readonly offset: number;
  readonly end: number;
  /** What was wrong where a segment was expected. */
  readonly reason: UscopeError;
}

export interface WalkOptions {
  readonly start: number;
  /** Where segments can be no more: the first section, or the end of the file. */
  readonly end: number;
  /** Every segment has a commit record after it, so that what is not a segment cannot pass for one. */
  readonly hasRecords: boolean;
  /** Where there are no records, a checkpoint that fits the schema distinguishes a segment from chance. */
  readonly schema: Schema | null;
  readonly codec: Codec;
}

const PAGE_BYTES = 1024 * 1024;
const MAGIC_BYTES = Buffer.from('uSEG');
const ALIGNMENT = 8;
/** Bytes that false segments may cost, next to a multiple of the file's size: files made of them must not take for ever. */
const FREE_WASTE_BYTES = 64 * 1024 * 1024;
const MAX_WASTE_FACTOR = 8;

export class SegmentWalk {
  private wasted = 0;

  constructor(
    private readonly source: CheckedSource,
    private readonly options: WalkOptions,
  ) {}

  /** Segments and holes in the order of the file. A hole is followed by a segment or by the end. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FoundSegment | Hole> {
    const { end } = this.options;
    let at = this.options.start;
    while (at < end) {
      const found = await this.probe(at);
      if (!isUscopeError(found)) {
        yield found;
        at = await this.behind(found);
        continue;
      }
      const next = await this.search(at + 1);
      yield { offset: at, end: next ?? end, reason: found };
      at = next ?? end;
    }
  }

  /** The segment at an offset, with its record; or why there is none. */
  async probe(offset: number): Promise<FoundSegment | UscopeError> {
    const { end, hasRecords } = this.options;
    if (offset >= end) return new UscopeError('FORMAT_TRUNCATED', 'the file ends before', { offset });
    try {
      const header = decodeSegmentHeader(
        await this.source.upTo(offset, Math.min(SEGMENT_HEADER_SIZE, end - offset)),
        offset,
      );
      const size = SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
      if (offset + size > end) {
        const detail = `the segment needs ${size} bytes, only ${end - offset} are there`;
        return new UscopeError('FORMAT_TRUNCATED', detail, { offset });
      }
      const record = await this.readRecord(align8(offset + size));
      if (hasRecords && !record) this.waste(size);
      const bytes = await this.source.exactly(offset, record ? align8(size) : size, 'a segment');
      return this.judge(
        { offset, header, bytes: bytes.subarray(0, size), padding: bytes.subarray(size) },
        record,
      );
    } catch (error) {
      if (isUscopeError(error) && error.code.startsWith('FORMAT_')) return error;
      throw error;
    }
  }

  private judge(
    parts: Pick<FoundSegment, 'offset' | 'header' | 'bytes' | 'padding'>,
    recordBytes: Uint8Array | null,
  ): FoundSegment {
    const { offset, bytes } = parts;
    const segmentEnd = offset + bytes.length;
    if (!recordBytes) return { ...parts, record: null, crc: 'none', end: segmentEnd };
    const end = align8(segmentEnd) + recordBytes.length;
    const record = tryDecode(recordBytes);
    const isGood =
      record !== null &&
      record.segmentOffset === BigInt(offset) &&
      record.segmentSize === bytes.length &&
      verifyCommitRecord(bytes, recordBytes, this.options.codec.crc32 ?? crc32);
    if (!isGood) this.waste(bytes.length);
    return { ...parts, record, crc: isGood ? 'good' : 'bad', end };
  }

  private async readRecord(offset: number): Promise<Uint8Array | null> {
    const { end } = this.options;
    if (offset + COMMIT_HEADER_SIZE > end) return null;
    const size = commitRecordSize(await this.source.upTo(offset, COMMIT_HEADER_SIZE));
    if (size === 0 || offset + size > end) return null;
    return this.source.exactly(offset, size, 'a commit record');
  }

  /** Where to look for the segment after this one. */
  private async behind(found: FoundSegment): Promise<number> {
    const { hasRecords, end } = this.options;
    if (found.crc === 'good') return found.end;
    for (const at of [found.end, align8(found.end)]) {
      if (at >= end || (await this.startsWithMagic(at))) return at;
    }
    // Its own sizes may be what is damaged: they are not believed.
    const next = hasRecords ? await this.search(found.offset + 1) : null;
    return next ?? found.end;
  }

  private async startsWithMagic(offset: number): Promise<boolean> {
    const bytes = await this.source.upTo(offset, MAGIC_BYTES.length);
    return Buffer.from(bytes).equals(MAGIC_BYTES);
  }

  /** The next offset at or after `from` where a segment is beyond doubt. */
  private async search(from: number): Promise<number | null> {
    const { end } = this.options;
    for (let page = from; page < end && !this.isExhausted; page += PAGE_BYTES) {
      const length = Math.min(PAGE_BYTES + MAGIC_BYTES.length - 1, end - page);
      const bytes = Buffer.from(await this.source.upTo(page, length));
      for (let at = bytes.indexOf(MAGIC_BYTES); at >= 0; at = bytes.indexOf(MAGIC_BYTES, at + 1)) {
        if (await this.isSegment(page + at)) return page + at;
        if (this.isExhausted) return null;
      }
    }
    return null;
  }

  private async isSegment(offset: number): Promise<boolean> {
    if (this.options.hasRecords && offset % ALIGNMENT !== 0) return false;
    const found = await this.probe(offset);
    if (isUscopeError(found)) return false;
    if (found.crc === 'good') return true;
    if (this.options.hasRecords) return found.record?.segmentOffset === BigInt(offset);
    return this.isPlausible(found);
  }

  /** Without a checksum: everything that the header says must fit together. */
  private isPlausible({ header, bytes, offset }: FoundSegment): boolean {
    this.waste(bytes.length);
    const { schema, start } = this.options;
    const previous = Number(header.prevSegmentOffset);
    const fits =
      previous < offset &&
      (previous === 0 || previous >= start) &&
      header.numFramesActive <= header.numFrames &&
      header.numFrames * 3 <= header.deltasRawSize;
    if (!fits || schema === null) return fits;
    try {
      const checkpoint = bytes.subarray(SEGMENT_HEADER_SIZE, SEGMENT_HEADER_SIZE + header.checkpointSize);
      return decodeCheckpoint(checkpoint, schema).length > 0 || schema.storages.length === 0;
    } catch {
      return false;
    }
  }

  private waste(bytes: number): void {
    this.wasted += bytes;
  }

  private get isExhausted(): boolean {
    return this.wasted > MAX_WASTE_FACTOR * this.options.end + FREE_WASTE_BYTES;
  }
}

/** Files of this project have a session chunk and commit records; if damage has removed one, the other still shows it. */
export async function hasCommitRecords(
  source: CheckedSource,
  size: number,
  outline: Outline,
  codec: Codec,
): Promise<boolean> {
  const { hasSessionChunk, segmentsStart: start, schema } = outline;
  if (hasSessionChunk) return true;
  const first = await new SegmentWalk(source, { start, end: size, hasRecords: true, schema, codec }).probe(
    start,
  );
  return !isUscopeError(first) && first.record !== null;
}

export function isHole(found: FoundSegment | Hole): found is Hole {
  return 'reason' in found;
}

function tryDecode(bytes: Uint8Array): CommitRecord | null {
  try {
    return decodeCommitRecord(bytes);
  } catch {
    return null;
  }
}
