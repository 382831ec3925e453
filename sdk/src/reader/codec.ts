/**
 * Decompression of delta blobs (docs/reference/format.md#compression). LZ4 is compiled code, or the decoder of `format/compression.ts` where that may not run; native
 * libraries, and those for ZSTD, are injected, since the reader itself is pure and runs in a browser: `reader/node.ts` has some.
 */
import { UscopeError } from '../base/errors.js';
import { checkRawSize } from '../codecs/expansion.js';
import { decompressLz4Blob, LZ4_PREFIX_SIZE } from '../format/compression.js';
import type { CompressionName } from '../format/types.js';
import { giveBack, type SegmentKernel, takeKernel } from './kernel/segment-kernel.js';

export interface Codec {
  /**
   * Decompresses an LZ4 blob as it is in a file: u32 raw size (checked before: it equals `rawSize`), then one block. When it throws, the
   * pure decoder has the last word. Default: compiled code.
   */
  lz4?(framed: Uint8Array, rawSize: number): Uint8Array | Promise<Uint8Array>;
  /** Decompresses one zstd frame to at most `rawSize` bytes. Default: none (READER_COMPRESSION). */
  zstd?(frame: Uint8Array, rawSize: number): Uint8Array | Promise<Uint8Array>;
  /** CRC-32 as in zlib, continued from `seed`. Default: tables in TypeScript. */
  crc32?(bytes: Uint8Array, seed: number): number;
}

/** Raw size one segment may claim unless the caller says otherwise: a limit against decompression bombs. */
export const DEFAULT_MAX_SEGMENT_BYTES = 256 * 1024 ** 2;
/** Raises or lowers it for the command, and for programs that use `reader/node.ts`. */
export const MAX_SEGMENT_VARIABLE = 'USCOPE_MAX_SEGMENT_MIB';

export interface DeltaBlob {
  readonly bytes: Uint8Array;
  readonly rawSize: number;
  readonly method: CompressionName;
  /** File offset of `bytes`, for errors. */
  readonly offset: number;
}

/**
 * The raw frames of a segment: exactly `blob.rawSize` bytes.
 * @param kernel may give bytes of its memory, which are valid until it is used again; without one they belong to the caller
 * @throws UscopeError FORMAT_LENGTH for a raw size above the limit, FORMAT_COMPRESSION for a block that does not decompress to its size,
 *   READER_COMPRESSION when this installation has no ZSTD.
 */
export async function decompressDeltas(
  blob: DeltaBlob,
  codec: Codec,
  maxBytes: number,
  kernel: SegmentKernel | null = null,
): Promise<Uint8Array> {
  const { bytes, rawSize, method, offset } = blob;
  if (rawSize > maxBytes) {
    throw new UscopeError(
      'FORMAT_LENGTH',
      `a segment claims ${rawSize} bytes of deltas, more than the limit of ${maxBytes}; if you trust the file, raise it: ${MAX_SEGMENT_VARIABLE}=${Math.ceil(rawSize / 1024 ** 2)} in the environment, or the option maxSegmentBytes`,
      { offset },
    );
  }
  const raw = await placed(blob, async () => {
    if (rawSize === 0 && bytes.byteLength === 0) return bytes;
    checkRawSize(method, bytes.byteLength, rawSize);
    if (method === 'none') return bytes;
    return method === 'lz4' ? lz4(blob, codec, kernel) : zstd(blob, codec);
  });
  if (raw.byteLength === rawSize) return raw;
  throw new UscopeError(
    'FORMAT_COMPRESSION',
    `the deltas decompress to ${raw.byteLength} bytes, the header says ${rawSize}`,
    { offset },
  );
}

/** What the fast decoders refuse is for the pure one, which knows what is wrong, or takes it for a block without its size in front. */
async function lz4(
  { bytes, rawSize }: DeltaBlob,
  codec: Codec,
  kernel: SegmentKernel | null,
): Promise<Uint8Array> {
  if (!hasSizePrefix(bytes, rawSize)) return decompressLz4Blob(bytes, rawSize);
  try {
    const raw = codec.lz4 ? await codec.lz4(bytes, rawSize) : compiledLz4(bytes, rawSize, kernel);
    return raw ?? decompressLz4Blob(bytes, rawSize);
  } catch {
    return decompressLz4Blob(bytes, rawSize);
  }
}

function compiledLz4(framed: Uint8Array, rawSize: number, kernel: SegmentKernel | null): Uint8Array | null {
  if (kernel) return kernel.decompressLz4(framed, rawSize, LZ4_PREFIX_SIZE);
  const ours = takeKernel(0, (one) => one.holds(framed));
  const raw = ours?.decompressLz4(framed, rawSize, LZ4_PREFIX_SIZE)?.slice() ?? null;
  giveBack(ours);
  return raw;
}

/** A native decoder believes the prefix and allocates what it says: it must never see another one than the header's. */
function hasSizePrefix(bytes: Uint8Array, rawSize: number): boolean {
  if (bytes.byteLength < LZ4_PREFIX_SIZE) return false;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === rawSize;
}

function zstd({ bytes, rawSize }: DeltaBlob, codec: Codec): Uint8Array | Promise<Uint8Array> {
  if (!codec.zstd) {
    throw new UscopeError(
      'READER_COMPRESSION',
      'the trace is compressed with ZSTD, and the reader was given nothing to decompress it: pass the option codec: { zstd }; in Node, `nodeCodec` has one',
    );
  }
  const stated = zstdContentSize(bytes);
  if (stated !== null && stated !== rawSize) {
    throw new UscopeError(
      'FORMAT_COMPRESSION',
      `the zstd frame holds ${stated} bytes, the header says ${rawSize}`,
    );
  }
  return codec.zstd(bytes, rawSize);
}

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_SINGLE_SEGMENT = 0x20;
const ZSTD_DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const ZSTD_CONTENT_SIZE_BYTES = [1, 2, 4, 8];

/** Content size that a zstd frame header states (RFC 8878 §3.1.1.1); null when it states none or is not one. */
export function zstdContentSize(bytes: Uint8Array): number | null {
  if (bytes.byteLength < 6) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== ZSTD_MAGIC) return null;
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & ZSTD_SINGLE_SEGMENT) !== 0;
  const width = ZSTD_CONTENT_SIZE_BYTES[descriptor >>> 6];
  if (width === 1 && !isSingleSegment) return null;
  const windowBytes = isSingleSegment ? 0 : 1;
  const at = 5 + windowBytes + ZSTD_DICTIONARY_ID_BYTES[descriptor & 3];
  if (at + width > bytes.byteLength) return null;
  if (width === 1) return view.getUint8(at);
  if (width === 2) return view.getUint16(at, true) + 256;
  return width === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

/** Errors get the file offset of the blob; those of native decoders become FORMAT_COMPRESSION. */
async function placed(blob: DeltaBlob, decompress: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await decompress();
  } catch (error) {
    if (error instanceof UscopeError) {
      throw new UscopeError(error.code, error.detail, { offset: blob.offset }, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new UscopeError(
      'FORMAT_COMPRESSION',
      `a segment's ${blob.method} block is damaged (${reason})`,
      { offset: blob.offset },
      { cause: error },
    );
  }
}
