/**
 * Index container (docs/reference/format.md#index-containers): ours, at the end of a commit record, invisible to readers that follow the chain or the table.
 *
 *   0 u32 magic "uIDX"   4 u32 size, a multiple of 8   8 u32 CRC-32 of bytes 12..size   12 u16 id   14 u16 layout
 *  16 u64 file offset of its segment   24 u32 CRC-32 of the plan   28 u32 number of parts
 *  32 per part: u16 kind, u16 subject, u32 bytes; then the parts one after the other; then zeros to a multiple of 8
 */
import { align8, ByteReader, ByteWriter } from '../base/bytes.js';
import { crc32 as pureCrc32 } from '../base/crc32.js';
import type { Crc32 } from './commit-record.js';

export const INDEX_MAGIC = 0x58444975; // "uIDX"
export const INDEX_ID = 0xff10;
export const INDEX_LAYOUT = 1;
export const INDEX_HEADER_SIZE = 32;
const PART_ENTRY_SIZE = 8;
const SIZE_OFFSET = 4;
const CRC_OFFSET = 8;
const AFTER_CRC = 12;
const SEGMENT_OFFSET = 16;
const COUNT_OFFSET = 28;
/** Containers that claim to be larger are none: nothing this large is ever written, and nothing is read on a length's word. */
export const MAX_INDEX_BYTES = 16 * 1024 * 1024;

export const IndexPart = {
  TIME: 1,
  ROWS: 2,
  STATS: 3,
  PCS: 4,
  STRINGS: 5,
  CARRY: 6,
  OCCUPANCY: 7,
  DROPPED: 8,
} as const;

/** A part: what `subject` numbers depends on the kind. A kind this release does not know is kept. */
export interface IndexPartBytes {
  readonly kind: number;
  readonly subject: number;
  readonly bytes: Uint8Array;
}

export interface IndexContainer {
  /** Of the segment it belongs to, in the file. */
  readonly segmentOffset: bigint;
  /** Of the plan by which it was made: see `IndexPlan`. */
  readonly planCrc: number;
  readonly parts: readonly IndexPartBytes[];
}

export function encodeIndexContainer(container: IndexContainer, crc32: Crc32 = pureCrc32): Uint8Array {
  const { segmentOffset, planCrc, parts } = container;
  const content = parts.reduce((sum, { bytes }) => sum + PART_ENTRY_SIZE + bytes.length, INDEX_HEADER_SIZE);
  const writer = new ByteWriter(align8(content))
    .u32(INDEX_MAGIC)
    .u32(align8(content))
    .u32(0)
    .u16(INDEX_ID)
    .u16(INDEX_LAYOUT)
    .u64(segmentOffset)
    .u32(planCrc)
    .u32(parts.length);
  for (const { kind, subject, bytes } of parts) writer.u16(kind).u16(subject).u32(bytes.length);
  for (const { bytes } of parts) writer.bytes(bytes);
  const made = writer.align(8).finish();
  sealIndexContainer(made, segmentOffset, crc32);
  return made;
}

/** Writes the place of the segment, and the checksum over it, into a container that was made before the place was known. */
export function sealIndexContainer(
  container: Uint8Array,
  segmentOffset: number | bigint,
  crc32: Crc32 = pureCrc32,
): void {
  const view = new DataView(container.buffer, container.byteOffset, container.byteLength);
  view.setBigUint64(SEGMENT_OFFSET, BigInt(segmentOffset), true);
  view.setUint32(CRC_OFFSET, crc32(container.subarray(AFTER_CRC), 0), true);
}

/**
 * Size of the container that starts at `bytes[0]` by its head, or 0 when none does. The CRC is not checked: `isIndexContainer`.
 */
export function indexContainerSize(bytes: Uint8Array): number {
  if (bytes.length < INDEX_HEADER_SIZE) return 0;
  const reader = new ByteReader(bytes);
  if (reader.u32() !== INDEX_MAGIC) return 0;
  const size = reader.u32();
  return size >= INDEX_HEADER_SIZE && size % 8 === 0 && size <= MAX_INDEX_BYTES ? size : 0;
}

/** Whether `bytes` begin with a whole container whose checksum holds. */
export function isIndexContainer(bytes: Uint8Array, crc32: Crc32 = pureCrc32): boolean {
  const size = indexContainerSize(bytes);
  if (size === 0 || size > bytes.length) return false;
  const stored = new DataView(bytes.buffer, bytes.byteOffset).getUint32(CRC_OFFSET, true);
  return crc32(bytes.subarray(AFTER_CRC, size), 0) === stored;
}

/**
 * Decodes the container at `bytes[0]`; bytes after it are ignored, parts are views. null: of another id or layout. Without `crc32`, for one that
 * has not been sealed yet, the checksum is not looked at.
 * Errors: FORMAT_TRUNCATED, FORMAT_MAGIC, FORMAT_LENGTH, FORMAT_CHECKSUM.
 */
export function decodeIndexContainer(
  bytes: Uint8Array,
  baseOffset = 0,
  crc32: Crc32 | null = pureCrc32,
): IndexContainer | null {
  const head = new ByteReader(bytes, 0, bytes.length, baseOffset);
  head.need(INDEX_HEADER_SIZE, 'index container');
  if (head.u32() !== INDEX_MAGIC) {
    throw head.error('FORMAT_MAGIC', 'no index container here: it does not start with "uIDX"', 0);
  }
  const size = indexContainerSize(bytes);
  if (size === 0) {
    throw head.error('FORMAT_LENGTH', 'the size of the index container is malformed', SIZE_OFFSET);
  }
  head.offset = 0;
  head.need(size, 'index container');
  if (crc32 && !isIndexContainer(bytes, crc32)) {
    throw head.error('FORMAT_CHECKSUM', 'the index container is not what was written', CRC_OFFSET);
  }
  const reader = new ByteReader(bytes, AFTER_CRC, size, baseOffset);
  if (reader.u16() !== INDEX_ID || reader.u16() !== INDEX_LAYOUT) return null;
  const segmentOffset = reader.u64();
  const planCrc = reader.u32();
  return { segmentOffset, planCrc, parts: readParts(reader) };
}

function readParts(reader: ByteReader): IndexPartBytes[] {
  const count = reader.u32();
  if (count * PART_ENTRY_SIZE > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `${count} parts do not fit into the index container`, COUNT_OFFSET);
  }
  const entries = Array.from({ length: count }, () => ({
    kind: reader.u16(),
    subject: reader.u16(),
    size: reader.u32(),
  }));
  return entries.map(({ kind, subject, size }) => {
    reader.need(size, 'part of an index container');
    return { kind, subject, bytes: reader.bytes(size) };
  });
}
