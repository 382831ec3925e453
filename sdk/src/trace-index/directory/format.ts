/**
 * The directory of a finalized trace's index (docs/reference/format.md#index-directory): where the containers are, and the coarser levels of the whole trace.
 *
 *   chunks of the levels, each group's from fine to coarse, each level's in order of time
 *   blocks of 256 entries, one per segment: u64 offset of its container (0: none), u32 its size, u32 0, u64 births before it for each core
 *   head: u32 CRC-32 of the plan, u32 segments, u32 cores, u32 groups, u64 start of the trace in ps, u64 offset of the blocks, u32 CRC-32 of each block;
 *     for each group u32 levels; for each of them u32 level, u32 chunks, u64 bucket after the last one; for each chunk u64 offset,
 *     u64 first bucket, u32 size, u32 CRC-32; then the same for the rows of each core (first row instead of bucket), and for what segments name:
 *     the instructions of each core, and strings (first segment instead of bucket)
 *   tail: u32 magic "uIXD", u32 size of the head, u32 CRC-32 of the head, u16 id 0xFF11, u16 layout
 *
 * Offsets count from the start of the directory, those of containers from the start of the file that they are in.
 */
import { ByteReader, ByteWriter } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { MAX_LEVEL } from '../levels/level-chunk.js';

export const DIRECTORY_SECTION = 0xff11;
const MAGIC = 0x44584975; // "uIXD"
const LAYOUT = 1;
export const TAIL_SIZE = 16;
const ENTRY_BASE = 16;
const CHUNK_ENTRY_SIZE = 24;
export const BLOCK_ENTRIES = 256;

export interface ChunkEntry {
  readonly offset: number;
  readonly firstBucket: number;
  readonly size: number;
  readonly crc: number;
}

export interface LevelEntry {
  readonly level: number;
  readonly endBucket: number;
  readonly chunks: readonly ChunkEntry[];
}

export interface DirectoryHead {
  readonly planCrc: number;
  readonly segments: number;
  readonly cores: number;
  /** Start of the first segment. */
  readonly startPs: bigint;
  readonly blocksOffset: number;
  readonly blockCrcs: readonly number[];
  /** By group; empty: it has no levels here. */
  readonly levels: readonly (readonly LevelEntry[])[];
  /** By core: levels of rows. Empty: there are none here. */
  readonly rows: readonly (readonly LevelEntry[])[];
  /** By core, then of the strings: unions of what segments name. */
  readonly sets: readonly (readonly LevelEntry[])[];
}

/** Of one segment. */
export interface SegmentPlace {
  /** 0: it has no container. */
  readonly offset: number;
  readonly size: number;
  /** Instructions born before it, by core; null: not known. */
  readonly births: readonly (number | null)[];
}

/** Instead of a number of births. */
const UNKNOWN = 2n ** 64n - 1n;

export function entrySize(cores: number): number {
  return ENTRY_BASE + 8 * cores;
}

export function encodePlace(writer: ByteWriter, { offset, size, births }: SegmentPlace): void {
  writer.u64(offset).u32(size).u32(0);
  for (const count of births) writer.u64(count ?? UNKNOWN);
}

/** @param block bytes of the block the segment is in */
export function decodePlace(block: Uint8Array, index: number, cores: number): SegmentPlace {
  const reader = new ByteReader(block, index * entrySize(cores));
  const offset = safe(reader.u64());
  const size = reader.u32();
  reader.u32();
  return { offset, size, births: Array.from({ length: cores }, () => birthsOf(reader.u64())) };
}

function birthsOf(value: bigint): number | null {
  return value === UNKNOWN ? null : safe(value);
}

/** Head and tail. */
export function encodeHead(
  head: DirectoryHead,
  crc32: (bytes: Uint8Array, seed: number) => number,
): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(head.planCrc).u32(head.segments).u32(head.cores).u32(head.levels.length);
  writer.u64(head.startPs).u64(head.blocksOffset);
  for (const crc of head.blockCrcs) writer.u32(crc);
  for (const levels of [...head.levels, ...head.rows, ...head.sets]) {
    writer.u32(levels.length);
    for (const { level, endBucket, chunks } of levels) {
      writer.u32(level).u32(chunks.length).u64(endBucket);
      for (const { offset, firstBucket, size, crc } of chunks) {
        writer.u64(offset).u64(firstBucket).u32(size).u32(crc);
      }
    }
  }
  const bytes = writer.finish();
  const crc = crc32(bytes, 0);
  return writer.u32(MAGIC).u32(bytes.length).u32(crc).u16(DIRECTORY_SECTION).u16(LAYOUT).finish();
}

/** Size of the head by the tail; null: a layout of another release. @throws UscopeError FORMAT_* */
export function headSize(tail: Uint8Array, sectionSize: number): number | null {
  const reader = new ByteReader(tail);
  reader.need(TAIL_SIZE, 'the tail of an index directory');
  if (reader.u32() !== MAGIC) throw reader.error('FORMAT_MAGIC', 'there is no index directory', 0);
  const size = reader.u32();
  reader.u32();
  if (reader.u16() !== DIRECTORY_SECTION || reader.u16() !== LAYOUT) return null;
  if (size + TAIL_SIZE > sectionSize) {
    throw reader.error(
      'FORMAT_LENGTH',
      `the head of an index directory has ${size} bytes in ${sectionSize}`,
      4,
    );
  }
  return size;
}

/**
 * @param bytes head and tail @param limit offset of the head: everything else is before it
 * @throws UscopeError FORMAT_*
 */
export function decodeHead(
  bytes: Uint8Array,
  limit: number,
  crc32: (bytes: Uint8Array, seed: number) => number,
): DirectoryHead {
  const size = bytes.length - TAIL_SIZE;
  const tail = new ByteReader(bytes, size + 8);
  if (crc32(bytes.subarray(0, size), 0) !== tail.u32()) {
    throw tail.error('FORMAT_CHECKSUM', 'the index directory is not what was written', size + 8);
  }
  const reader = new ByteReader(bytes, 0, size);
  const [planCrc, segments, cores, groups] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  const startPs = reader.u64();
  const blocksOffset = safe(reader.u64());
  const blocks = Math.ceil(segments / BLOCK_ENTRIES);
  if (blocksOffset + segments * entrySize(cores) > limit || groups * 4 > reader.remaining) {
    throw reader.error(
      'FORMAT_LENGTH',
      `an index directory of ${segments} segments does not fit its section`,
    );
  }
  reader.need(blocks * 4);
  const blockCrcs = Array.from({ length: blocks }, () => reader.u32());
  const levels = Array.from({ length: groups }, () => readLevels(reader, limit));
  const more = reader.remaining > 0 ? 2 * cores + 1 : 0;
  if (more * 4 > reader.remaining) {
    throw reader.error('FORMAT_LENGTH', `an index directory of ${cores} cores does not fit its section`);
  }
  const others = Array.from({ length: more }, () => readLevels(reader, limit));
  const [rows, sets] = [others.slice(0, cores), others.slice(cores)];
  return { planCrc, segments, cores, startPs, blocksOffset, blockCrcs, levels, rows, sets };
}

function readLevels(reader: ByteReader, limit: number): LevelEntry[] {
  const count = reader.u32();
  if (count > MAX_LEVEL) throw reader.error('FORMAT_VALUE', `an index has no ${count} levels`);
  const levels: LevelEntry[] = [];
  for (let index = 0; index < count; index++) {
    const [level, length] = [reader.u32(), reader.u32()];
    const endBucket = safe(reader.u64());
    if (level < 1 || level > MAX_LEVEL || level <= (levels.at(-1)?.level ?? 0)) {
      throw reader.error('FORMAT_VALUE', `level ${level} of an index is out of place`);
    }
    if (length * CHUNK_ENTRY_SIZE > reader.remaining) {
      throw reader.error('FORMAT_LENGTH', `${length} chunks do not fit an index directory`);
    }
    levels.push({ level, endBucket, chunks: readChunks(reader, length, limit, endBucket) });
  }
  return levels;
}

function readChunks(reader: ByteReader, length: number, limit: number, endBucket: number): ChunkEntry[] {
  const chunks: ChunkEntry[] = [];
  for (let index = 0; index < length; index++) {
    const [offset, firstBucket] = [safe(reader.u64()), safe(reader.u64())];
    const [size, crc] = [reader.u32(), reader.u32()];
    const before = chunks.at(-1);
    const isInOrder = !before || (firstBucket > before.firstBucket && offset >= before.offset + before.size);
    if (!isInOrder || firstBucket >= endBucket || offset + size > limit) {
      throw reader.error('FORMAT_VALUE', `chunk ${index} of an index level is out of place`);
    }
    chunks.push({ offset, firstBucket, size, crc });
  }
  return chunks;
}

function safe(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new UscopeError('FORMAT_VALUE', `${value} is beyond what an index holds`);
}
