/**
 * Commit record: ours, 8-aligned after each segment, invisible to readers that follow the chain or the table. It makes a torn segment detectable
 * and carries what a crash would otherwise lose: the next frame ordinal and the runtime strings first used since the record before.
 *
 *   0 u32 magic "uREC"     4 u32 size, padding included    8 u32 crc        12 u32 num_strings
 *  16 u64 segment_offset  24 u64 next_frame               32 u64 next_string 40 u64 segment_size
 *  48 per string: u32 length, bytes; then zeros to a multiple of 8
 *     only if the checkpoint holds snapshots that the client supplied, or an index follows: u32 count, u16 storage id each; zeros to a
 *     multiple of 8
 *     only if there is an index: u32 core_crc, u32 0, and the index container (index-container.ts)
 *
 * crc = CRC-32 over the segment's bytes, continued over the record with its crc field taken as 0. core_crc is the same up to core_crc: where it
 * holds and crc does not, only the index is damaged.
 */
import { align8, ByteReader, ByteWriter, concatBytes } from '../base/bytes.js';
import { combineCrc } from '../base/crc-combine.js';
import { crc32 as pureCrc32 } from '../base/crc32.js';
import { type EncodedStrings, encodeStrings } from './encoded-strings.js';
import { indexContainerSize } from './index-container.js';

const COMMIT_MAGIC = 0x43455275; // "uREC"
export const COMMIT_HEADER_SIZE = 48;
const SIZE_OFFSET = 4;
const CRC_OFFSET = 8;
const AFTER_CRC = 12;

const CORE_CRC_SIZE = 8;

/** `(bytes, seed)` as zlib's: Node's native one may be passed for speed. */
export type Crc32 = (bytes: Uint8Array, seed: number) => number;

export interface CommitParts {
  readonly segmentOffset: bigint;
  /** Bytes of segment header, checkpoint and deltas. */
  readonly segmentSize: number;
  /** Ordinal of the next client frame: all below are in the file. */
  readonly nextFrame: bigint;
  /** Index of the next string, after those of this record. */
  readonly nextString: bigint;
  /** UTF-8 bytes; their indices end just below `nextString`. */
  readonly strings: readonly Uint8Array[];
  /** Ids of the storages whose slots in the segment's checkpoint are snapshots of the client, which may differ from replay. */
  readonly snapshots?: readonly number[] | undefined;
  /** The index container of the segment, sealed. */
  readonly index?: Uint8Array | undefined;
}

export interface CommitRecord extends CommitParts {
  /** Bytes of the record, padding included. */
  readonly size: number;
  readonly crc: number;
}

/** A record whose strings are encoded already. */
export interface CommitLayout extends Omit<CommitParts, 'strings'> {
  readonly strings: EncodedStrings;
}

/** @param segmentCrc CRC-32 of the segment's bytes */
export function encodeCommitRecord(
  parts: CommitParts,
  segmentCrc: number,
  crc32: Crc32 = pureCrc32,
): Uint8Array {
  const strings = encodeStrings(parts.strings, crc32);
  return concatBytes(layOutCommitRecord({ ...parts, strings }, segmentCrc, crc32));
}

/** The record in pieces, of which the strings and the index are not copied. @param segmentCrc CRC-32 of the segment's bytes */
export function layOutCommitRecord(parts: CommitLayout, segmentCrc: number, crc32: Crc32): Uint8Array[] {
  const { strings, index } = parts;
  const tail = encodeCommitTail(strings.size, parts.snapshots ?? [], index !== undefined);
  const indexSize = index ? CORE_CRC_SIZE + index.length : 0;
  const head = encodeCommitHead(parts, COMMIT_HEADER_SIZE + strings.size + tail.length + indexSize);
  // The two CRCs share their way up to here.
  const coreCrc = crc32(tail, combineCrc(crc32(head, segmentCrc), strings.crc, strings.size));
  const pieces = [head, ...strings.pieces, tail];
  let crc = coreCrc;
  if (index) {
    const core = new ByteWriter(CORE_CRC_SIZE).u32(coreCrc).u32(0).finish();
    crc = crc32(index, crc32(core, coreCrc));
    pieces.push(core, index);
  }
  new DataView(head.buffer).setUint32(CRC_OFFSET, crc, true);
  return pieces;
}

/** The list of snapshots, and the zeros before and after it. */
function encodeCommitTail(stringBytes: number, snapshots: readonly number[], hasIndex: boolean): Uint8Array {
  const writer = new ByteWriter().zeros(align8(stringBytes) - stringBytes);
  if (snapshots.length === 0 && !hasIndex) return writer.finish();
  writer.u32(snapshots.length);
  for (const storageId of snapshots) writer.u16(storageId);
  return writer.zeros(align8(4 + 2 * snapshots.length) - (4 + 2 * snapshots.length)).finish();
}

function encodeCommitHead(parts: CommitLayout, size: number): Uint8Array {
  return new ByteWriter(COMMIT_HEADER_SIZE)
    .u32(COMMIT_MAGIC)
    .u32(size)
    .u32(0)
    .u32(parts.strings.length)
    .u64(parts.segmentOffset)
    .u64(parts.nextFrame)
    .u64(parts.nextString)
    .u64(parts.segmentSize)
    .finish();
}

/** Size of the record that starts at `bytes[0]`, or 0 when none does: for walking a file in which the record may be missing. */
export function commitRecordSize(bytes: Uint8Array): number {
  if (bytes.length < COMMIT_HEADER_SIZE) return 0;
  const reader = new ByteReader(bytes);
  if (reader.u32() !== COMMIT_MAGIC) return 0;
  const size = reader.u32();
  return size >= COMMIT_HEADER_SIZE && size % 8 === 0 ? size : 0;
}

/**
 * Decodes the record at `bytes[0]`; bytes after it are ignored, strings are copies. The CRC is not checked: `verifyCommitRecord`.
 * Errors: FORMAT_TRUNCATED, FORMAT_MAGIC, FORMAT_LENGTH, FORMAT_VALUE.
 */
export function decodeCommitRecord(bytes: Uint8Array, baseOffset = 0): CommitRecord {
  const { reader, numStrings, ...head } = decodeCommitHead(bytes, baseOffset);
  const strings = readStrings(reader, numStrings);
  return { ...head, strings, ...decodeCommitRest(bytes, reader) };
}

/** What a record says, but for its strings, of which there may be a million. Errors: as `decodeCommitRecord`. */
export function decodeCommitPlace(bytes: Uint8Array, baseOffset = 0): Omit<CommitRecord, 'strings'> {
  const { reader, numStrings, ...head } = decodeCommitHead(bytes, baseOffset);
  checkCount(reader, numStrings);
  for (let i = 0; i < numStrings; i++) skipString(reader);
  return { ...head, ...decodeCommitRest(bytes, reader) };
}

/** The strings of the record at `bytes[0]`, without an object for each. Errors: as `decodeCommitRecord`. */
export class RecordStrings {
  /** Of the present string in `bytes`. */
  start = 0;
  length = 0;
  private readonly reader: ByteReader;
  private left: number;

  constructor(
    readonly bytes: Uint8Array,
    baseOffset = 0,
  ) {
    const { reader, numStrings } = decodeCommitHead(bytes, baseOffset);
    checkCount(reader, numStrings);
    this.reader = reader;
    this.left = numStrings;
  }

  /** False: there is none. */
  next(): boolean {
    if (this.left === 0) return false;
    this.left--;
    const { reader } = this;
    this.length = reader.u32();
    this.start = reader.offset;
    reader.skip(this.length);
    return true;
  }
}

/** The reader is at the first string. */
function decodeCommitHead(bytes: Uint8Array, baseOffset: number) {
  const header = new ByteReader(bytes, 0, bytes.length, baseOffset);
  header.need(COMMIT_HEADER_SIZE, 'commit record');
  if (header.u32() !== COMMIT_MAGIC) {
    throw header.error('FORMAT_MAGIC', 'no commit record here: it does not start with "uREC"', 0);
  }
  const size = commitRecordSize(bytes);
  if (size === 0)
    throw header.error('FORMAT_LENGTH', 'the size of the commit record is malformed', SIZE_OFFSET);
  header.offset = 0;
  header.need(size, 'commit record');
  const reader = new ByteReader(bytes, CRC_OFFSET, size, baseOffset);
  const crc = reader.u32();
  const numStrings = reader.u32();
  const segmentOffset = reader.u64();
  const nextFrame = reader.u64();
  const nextString = reader.u64();
  const segmentSize = Number(reader.u64());
  if (!Number.isSafeInteger(segmentSize)) {
    throw reader.error('FORMAT_LENGTH', `segment size ${segmentSize} is beyond any file`, 40);
  }
  if (BigInt(numStrings) > nextString) {
    throw reader.error('FORMAT_VALUE', `${numStrings} strings end at string index ${nextString}`, AFTER_CRC);
  }
  return { reader, numStrings, size, crc, segmentOffset, segmentSize, nextFrame, nextString };
}

/** @param reader behind the strings */
function decodeCommitRest(bytes: Uint8Array, reader: ByteReader): Pick<CommitParts, 'snapshots' | 'index'> {
  const snapshots = readSnapshots(reader);
  const found = indexIn(bytes, reader.offset);
  const index = found ? { index: bytes.slice(found.offset, found.offset + found.size) } : {};
  return { ...(snapshots.length > 0 ? { snapshots } : {}), ...index };
}

/** Where the container is in the record, if the record's size and its own agree. @param offset behind the list of snapshots */
function indexIn(bytes: Uint8Array, offset: number): { offset: number; size: number } | null {
  const end = commitRecordSize(bytes);
  const at = align8(offset) + CORE_CRC_SIZE;
  if (at >= end || end > bytes.length) return null;
  const size = indexContainerSize(bytes.subarray(at, end));
  return size > 0 && at + size === end ? { offset: at, size } : null;
}

/**
 * The index container in the record at `bytes[0]`, and its offset there; null: it has none. Neither its checksum nor the record's is checked.
 */
export function indexOfRecord(bytes: Uint8Array): { readonly offset: number; readonly size: number } | null {
  const size = commitRecordSize(bytes);
  if (size === 0 || size > bytes.length) return null;
  const end = endOfCore(bytes, size);
  return end === null ? null : indexIn(bytes, end);
}

/** Where the list of snapshots ends, by what the record says, which may be wrong; null: not in the record. */
function endOfCore(bytes: Uint8Array, size: number): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  let at = COMMIT_HEADER_SIZE;
  for (let left = view.getUint32(AFTER_CRC, true); left > 0; left--) {
    if (at + 4 > size) return null;
    at += 4 + view.getUint32(at, true);
  }
  at = align8(at);
  if (at + 4 > size) return null;
  at = align8(at + 4 + 2 * view.getUint32(at, true));
  return at + CORE_CRC_SIZE <= size ? at : null;
}

/** The list of snapshots, where the record continues after its strings. */
function readSnapshots(reader: ByteReader): number[] {
  reader.offset = align8(reader.offset);
  if (reader.remaining === 0) return [];
  const at = reader.offset;
  const count = reader.u32();
  if (count * 2 > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `${count} snapshots do not fit into the record`, at);
  }
  return Array.from({ length: count }, () => reader.u16());
}

function checkCount(reader: ByteReader, count: number): void {
  if (count * 4 <= reader.remaining) return;
  throw reader.error('FORMAT_LENGTH', `${count} strings do not fit into the record`, AFTER_CRC);
}

function skipString(reader: ByteReader): void {
  const size = reader.u32();
  reader.need(size);
  reader.offset += size;
}

function readStrings(reader: ByteReader, count: number): Uint8Array[] {
  checkCount(reader, count);
  const strings: Uint8Array[] = [];
  for (let i = 0; i < count; i++) strings.push(reader.bytes(reader.u32()).slice());
  return strings;
}

/**
 * Whether the CRC of a record (exactly its bytes, or more) matches its segment, given as bytes or as their CRC-32. An index in it has its own
 * checksum: damage to the index alone does not count.
 */
export function verifyCommitRecord(
  segment: number | Uint8Array,
  record: Uint8Array,
  crc32: Crc32 = pureCrc32,
): boolean {
  const size = commitRecordSize(record);
  if (size === 0 || size > record.length) return false;
  const view = new DataView(record.buffer, record.byteOffset);
  let crc = typeof segment === 'number' ? segment : crc32(segment, 0);
  crc = crc32(record.subarray(0, CRC_OFFSET), crc);
  crc = crc32(new Uint8Array(4), crc);
  if (crc32(record.subarray(AFTER_CRC, size), crc) === view.getUint32(CRC_OFFSET, true)) return true;
  const core = endOfCore(record, size);
  return core !== null && crc32(record.subarray(AFTER_CRC, core), crc) === view.getUint32(core, true);
}
