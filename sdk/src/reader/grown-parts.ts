/**
 * What a reader that follows a trace is going to ask for, found by the server that has the file: the file's header, and for each segment
 * since the one that the reader knows its header and its commit record. A reader far away takes them in one answer instead of one request
 * after the other. They are bytes of the file, no more: a reader that lacks one asks for it.
 */
import { UscopeError } from '../base/errors.js';
import { decodeHeader, Flag, HEADER_SIZE, HEADER_TAIL_OFFSET } from '../format/header.js';
import { SEGMENT_HEADER_SIZE } from '../format/segment.js';
import { commitRecordOffset } from './commit-strings.js';
import { readSegmentHeader, safeOffset, segmentSize } from './segment-list.js';
import { CheckedSource, type Source } from './source.js';

/** Bytes of the file from `offset` on. */
export interface FilePart {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface GrownParts {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Offset of the last segment; 0: there is none yet. */
  readonly tail: number;
  /** In the order of the file. */
  readonly parts: readonly FilePart[];
}

/** Of one answer: the newest segments, where there are more. */
const MAX_SEGMENTS = 1024;
const MAX_BYTES = 4 * 1024 * 1024;
/** Between two segments; larger records are rare, and left to be asked for. */
const MAX_PART_BYTES = 256 * 1024;
/** Behind the last segment: readers take this much at first. */
const LAST_PART_BYTES = 32 * 1024;
/** Segments that are not more than this are sent whole: they are going to be shown. */
const WHOLE_BYTES = 256 * 1024;

/**
 * @param knownTail offset of the last segment that the reader knows; 'latest': it knows all but the last
 * @returns null: the trace is finalized, and its tables say more
 * @throws UscopeError FORMAT_*, READER_*: the file cannot be followed, which its reader finds out by itself
 */
export async function grownParts(file: Source, knownTail: number | 'latest'): Promise<GrownParts | null> {
  // Before everything else: all that it names is in the file by then.
  const head = await new CheckedSource(file).exactly(0, HEADER_SIZE, 'the header');
  const { flags, tailOffset } = decodeHeader(head);
  if ((flags & Flag.COMPLETE) !== 0) return null;
  const tail = safeOffset(tailOffset, HEADER_TAIL_OFFSET);
  const size = await file.size();
  const source = new CheckedSource({
    size: async () => size,
    read: (offset, length) => file.read(offset, length),
  });
  const [first, ...rest] = await segmentsSince(source, tail, knownTail === 'latest' ? tail - 1 : knownTail);
  const parts: FilePart[] = [{ offset: 0, bytes: head }];
  if (!first) return { size, tail, parts };
  const last = rest.at(-1) ?? first;
  // The known one too: what follows it belongs to the new ones.
  const from = knownTail === 'latest' ? null : knownTail || first.offset;
  if (from !== null && last.end - from <= WHOLE_BYTES) {
    parts.push({ offset: from, bytes: await source.exactly(from, last.end - from, 'the segments') });
  } else {
    const header = await source.exactly(first.offset, SEGMENT_HEADER_SIZE, 'a segment header');
    parts.push({ offset: first.offset, bytes: header }, ...(await between(source, [first, ...rest])));
  }
  parts.push({ offset: last.end, bytes: await source.upTo(last.end, LAST_PART_BYTES) });
  return { size, tail, parts };
}

interface Place {
  readonly offset: number;
  /** Where its commit record is. */
  readonly end: number;
}

/** In the order of the file; the newest ones, where there are more than an answer takes. */
async function segmentsSince(source: CheckedSource, tail: number, knownTail: number): Promise<Place[]> {
  const places: Place[] = [];
  for (let offset = tail; offset > Math.max(0, knownTail) && places.length < MAX_SEGMENTS; ) {
    const header = await readSegmentHeader(source, offset);
    places.push({ offset, end: commitRecordOffset(offset + segmentSize(header)) });
    const previous = safeOffset(header.prevSegmentOffset, offset);
    if (previous >= offset) break;
    offset = previous;
  }
  return places.reverse();
}

/** The records between segments, each with the header after it. */
async function between(source: CheckedSource, places: readonly Place[]): Promise<FilePart[]> {
  const parts: FilePart[] = [];
  let budget = MAX_BYTES;
  for (let at = places.length - 2; at >= 0 && budget > 0; at--) {
    const { end } = places[at]!;
    const length = places[at + 1]!.offset + SEGMENT_HEADER_SIZE - end;
    if (length <= 0 || length > MAX_PART_BYTES) continue;
    parts.push({ offset: end, bytes: await source.exactly(end, length, 'a commit record') });
    budget -= length;
  }
  return parts.reverse();
}

const HEAD_BYTES = 24;
const ENTRY_BYTES = 16;

/** Little-endian: size and tail (f64), number of parts (u32, 4 bytes of padding); for each its offset (f64) and length (f64); then their bytes. */
export function encodeGrownParts({ size, tail, parts }: GrownParts): Uint8Array {
  const start = HEAD_BYTES + ENTRY_BYTES * parts.length;
  const total = parts.reduce((sum, { bytes }) => sum + bytes.byteLength, start);
  const encoded = new Uint8Array(total);
  const view = new DataView(encoded.buffer);
  view.setFloat64(0, size, true);
  view.setFloat64(8, tail, true);
  view.setUint32(16, parts.length, true);
  let at = start;
  for (const [index, { offset, bytes }] of parts.entries()) {
    view.setFloat64(HEAD_BYTES + ENTRY_BYTES * index, offset, true);
    view.setFloat64(HEAD_BYTES + ENTRY_BYTES * index + 8, bytes.byteLength, true);
    encoded.set(bytes, at);
    at += bytes.byteLength;
  }
  return encoded;
}

/** @throws UscopeError FORMAT_LENGTH: the answer does not hold what it says */
export function decodeGrownParts(encoded: Uint8Array): GrownParts {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const count = encoded.byteLength < HEAD_BYTES ? Number.POSITIVE_INFINITY : view.getUint32(16, true);
  let at = HEAD_BYTES + ENTRY_BYTES * count;
  if (at > encoded.byteLength) cut(encoded);
  const parts = Array.from({ length: count }, (_, index) => {
    const offset = view.getFloat64(HEAD_BYTES + ENTRY_BYTES * index, true);
    const length = view.getFloat64(HEAD_BYTES + ENTRY_BYTES * index + 8, true);
    if (!(length >= 0 && at + length <= encoded.byteLength)) cut(encoded);
    const bytes = encoded.subarray(at, at + length);
    at += length;
    return { offset, bytes };
  });
  return { size: view.getFloat64(0, true), tail: view.getFloat64(8, true), parts };
}

function cut({ byteLength }: Uint8Array): never {
  throw new UscopeError(
    'FORMAT_LENGTH',
    `an answer of ${byteLength} bytes about what a trace has got since is cut`,
  );
}
