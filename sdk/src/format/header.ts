/** File header (docs/reference/format.md#file-header): 48 bytes at offset 0. */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import type { CompressionName } from './types.js';

export const HEADER_SIZE = 48;
export const FILE_MAGIC = 0x50435375; // "uSCP"
export const VERSION_MAJOR = 0;
export const VERSION_MINOR = 3;

/** Header offsets of the fields a writer rewrites in place (docs/reference/format.md#header-lifecycle). */
export const HEADER_FLAGS_OFFSET = 8;
export const HEADER_NUM_SEGMENTS_OFFSET = 24;
export const HEADER_TAIL_OFFSET = 40;

/** docs/reference/format.md#flags. The compression method is in bits 3..5: `compressionOf`. */
export const Flag = {
  COMPLETE: 1,
  COMPRESSED: 2,
  HAS_STRINGS: 4,
  COMPACT_DELTAS: 0x40,
  INTERLEAVED: 0x80,
} as const;

const METHOD_SHIFT = 3;
const METHOD_MASK = 7;
const KNOWN_FLAGS = 0xffn;
const METHODS: readonly CompressionName[] = ['lz4', 'zstd'];

export interface FileHeader {
  readonly versionMajor: number;
  readonly versionMinor: number;
  /** Bits of `Flag` and the compression method. */
  readonly flags: number;
  /** Time of the last frame in ps; 0 until finalized. */
  readonly totalTimePs: bigint;
  /** Advisory while the file is live. */
  readonly numSegments: number;
  /** File offset after the preamble. */
  readonly preambleEnd: number;
  /** 0 until finalized. */
  readonly sectionTableOffset: bigint;
  /** File offset of the last segment header, 0 = no segment yet. */
  readonly tailOffset: bigint;
}

export function encodeHeader(header: FileHeader): Uint8Array {
  return new ByteWriter(HEADER_SIZE)
    .u32(FILE_MAGIC)
    .u16(header.versionMajor)
    .u16(header.versionMinor)
    .u64(header.flags)
    .u64(header.totalTimePs)
    .u32(header.numSegments)
    .u32(header.preambleEnd)
    .u64(header.sectionTableOffset)
    .u64(header.tailOffset)
    .finish();
}

/**
 * Decodes the first 48 bytes of a file. Errors: FORMAT_TRUNCATED, FORMAT_MAGIC, FORMAT_VERSION, FORMAT_VALUE (reserved flag bits),
 * FORMAT_COMPRESSION (reserved method), FORMAT_LENGTH (preamble_end inside the header).
 */
export function decodeHeader(bytes: Uint8Array): FileHeader {
  const reader = new ByteReader(bytes);
  // A short file of another kind is not a trace that was cut.
  if (bytes.length >= 4 && new ByteReader(bytes).u32() !== FILE_MAGIC) {
    throw reader.error('FORMAT_MAGIC', 'not a µScope file: it does not start with "uSCP"', 0);
  }
  reader.need(HEADER_SIZE, 'file header');
  reader.skip(4);
  const versionMajor = reader.u16();
  const versionMinor = reader.u16();
  if (versionMajor !== VERSION_MAJOR || versionMinor > VERSION_MINOR) {
    const version = `${versionMajor}.${versionMinor}`;
    throw reader.error(
      'FORMAT_VERSION',
      `format version ${version} is newer than 0.3; use a newer release`,
      4,
    );
  }
  const flags = decodeFlags(reader);
  const totalTimePs = reader.u64();
  const numSegments = reader.u32();
  const preambleEnd = reader.u32();
  if (preambleEnd < HEADER_SIZE) {
    throw reader.error('FORMAT_LENGTH', `preamble_end ${preambleEnd} lies inside the file header`, 28);
  }
  const sectionTableOffset = reader.u64();
  const tailOffset = reader.u64();
  return {
    versionMajor,
    versionMinor,
    flags,
    totalTimePs,
    numSegments,
    preambleEnd,
    sectionTableOffset,
    tailOffset,
  };
}

function decodeFlags(reader: ByteReader): number {
  const wide = reader.u64();
  if (wide > KNOWN_FLAGS) {
    const bits = (wide & ~KNOWN_FLAGS).toString(16);
    throw reader.error('FORMAT_VALUE', `reserved flag bits 0x${bits} are set`, HEADER_FLAGS_OFFSET);
  }
  const flags = Number(wide);
  compressionOf(flags);
  return flags;
}

/** Compression of the delta blobs. FORMAT_COMPRESSION for a reserved method, even when nothing is compressed (docs/reference/format.md#compression). */
export function compressionOf(flags: number): CompressionName {
  const method = METHODS[(flags >> METHOD_SHIFT) & METHOD_MASK];
  if (method === undefined) {
    const number = (flags >> METHOD_SHIFT) & METHOD_MASK;
    throw new UscopeError(
      'FORMAT_COMPRESSION',
      `compression method ${number} is reserved; 0 (LZ4) and 1 (ZSTD) are known`,
      {
        offset: HEADER_FLAGS_OFFSET,
      },
    );
  }
  return flags & Flag.COMPRESSED ? method : 'none';
}

/** Header flag bits for a compression: F_COMPRESSED and the method. */
export function compressionFlags(name: CompressionName): number {
  return name === 'none' ? 0 : Flag.COMPRESSED | (METHODS.indexOf(name) << METHOD_SHIFT);
}
