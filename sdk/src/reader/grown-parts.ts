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
/** Behind the last segment: readers take so much at first. */
const LAST_PART_BYTES = 32 * 1024;

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
  const parts: FilePart[] = [];
  let budget = MAX_BYTES;
  let next: number | null = null;
  const stop = knownTail === 'latest' ? tail - 1 : knownTail;
  for (let offset = tail; offset > stop && parts.length < MAX_SEGMENTS && budget > 0; ) {
    const header = await readSegmentHeader(source, offset);
    const end = commitRecordOffset(offset + segmentSize(header));
    const wanted: number = next === null ? LAST_PART_BYTES : next + SEGMENT_HEADER_SIZE - end;
    const isUsual = wanted > 0 && wanted <= MAX_PART_BYTES;
    const bytes = isUsual ? await source.upTo(end, wanted) : new Uint8Array(0);
    if (bytes.byteLength > 0) parts.push({ offset: end, bytes });
    budget -= bytes.byteLength;
    next = offset;
    offset = safeOffset(header.prevSegmentOffset, offset);
    if (offset >= next) break;
  }
  // The oldest one's header; those of the others follow the records before them.
  if (next !== null)
    parts.push({ offset: next, bytes: await source.exactly(next, SEGMENT_HEADER_SIZE, 'a segment header') });
  parts.push({ offset: 0, bytes: head });
  return { size, tail, parts: parts.reverse() };
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
