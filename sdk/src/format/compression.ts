/**
 * How delta blobs are compressed (docs/format.md#compression), without a compressor: native ones live in writer and reader.
 * LZ4: u32 raw size, then one raw LZ4 block (the bare block is accepted when reading). ZSTD: one zstd frame. None: the raw bytes.
 */
import { UscopeError } from '../base/errors.js';
import type { CompressionName } from './types.js';

export const LZ4_PREFIX_SIZE = 4;

/** No valid blob expands more: an LZ4 length byte stands for 255 bytes, a zstd block of 4 bytes for 128 KiB. */
const MAX_EXPANSION: Readonly<Record<CompressionName, number>> = { none: 1, lz4: 255, zstd: 32_768 };

/** FORMAT_COMPRESSION when `compressedSize` bytes cannot hold `rawSize`: ask before allocating that much. */
export function checkRawSize(
  method: CompressionName,
  compressedSize: number,
  rawSize: number,
  baseOffset = 0,
): void {
  const fits =
    method === 'none' ? rawSize === compressedSize : rawSize <= compressedSize * MAX_EXPANSION[method];
  if (!fits) {
    throw new UscopeError(
      'FORMAT_COMPRESSION',
      `${compressedSize} bytes (compression: ${method}) cannot hold the ${rawSize} bytes promised`,
      { offset: baseOffset },
    );
  }
}

/** Puts the raw size in front of an LZ4 block. */
export function frameLz4(block: Uint8Array, rawSize: number): Uint8Array {
  const framed = new Uint8Array(LZ4_PREFIX_SIZE + block.length);
  new DataView(framed.buffer).setUint32(0, rawSize, true);
  framed.set(block, LZ4_PREFIX_SIZE);
  return framed;
}

/** The LZ4 block of a delta blob, whether or not the raw size stands in front. */
export function unframeLz4(blob: Uint8Array, rawSize: number): Uint8Array {
  return hasPrefix(blob, rawSize) ? blob.subarray(LZ4_PREFIX_SIZE) : blob;
}

/** Raw bytes of an LZ4 delta blob. FORMAT_COMPRESSION when it does not yield exactly `rawSize` bytes. */
export function decompressLz4Blob(blob: Uint8Array, rawSize: number, baseOffset = 0): Uint8Array {
  if (!hasPrefix(blob, rawSize)) return decompressLz4Block(blob, rawSize, baseOffset);
  try {
    return decompressLz4Block(blob.subarray(LZ4_PREFIX_SIZE), rawSize, baseOffset + LZ4_PREFIX_SIZE);
  } catch (error) {
    // A bare block may begin with the very bytes of its raw size.
    try {
      return decompressLz4Block(blob, rawSize, baseOffset);
    } catch {
      throw error;
    }
  }
}

function hasPrefix(blob: Uint8Array, rawSize: number): boolean {
  return (
    blob.length >= LZ4_PREFIX_SIZE &&
    (blob[0] | (blob[1] << 8) | (blob[2] << 16) | (blob[3] << 24)) >>> 0 === rawSize
  );
}

/**
 * Decompresses one LZ4 block to exactly `rawSize` bytes. Never reads past `source` or writes past the result.
 * `baseOffset` is the block's file offset, for errors. FORMAT_COMPRESSION when the block is malformed or of another size.
 */
export function decompressLz4Block(source: Uint8Array, rawSize: number, baseOffset = 0): Uint8Array {
  checkRawSize('lz4', source.length, rawSize, baseOffset);
  if (source.length === 0) return new Uint8Array(0);
  return new Lz4Decoder(source, new Uint8Array(rawSize), baseOffset).run();
}

class Lz4Decoder {
  private in = 0;
  private out = 0;

  constructor(
    private readonly source: Uint8Array,
    private readonly target: Uint8Array,
    private readonly baseOffset: number,
  ) {}

  /** A block is a row of sequences: token, literals, match; the last one has no match. */
  run(): Uint8Array {
    const { source, target } = this;
    for (;;) {
      if (this.in >= source.length) this.fail('the block ends without a last sequence');
      const token = source[this.in++];
      this.literals(this.length(token >>> 4));
      if (this.in === source.length) break;
      if (this.in + 2 > source.length) this.fail('the block ends inside a match offset');
      const distance = source[this.in] | (source[this.in + 1] << 8);
      this.in += 2;
      this.match(distance, this.length(token & 15) + 4);
    }
    if (this.out !== target.length)
      this.fail(`the block yields ${this.out} bytes instead of ${target.length}`);
    return target;
  }

  /** A nibble of 15 is continued by bytes up to and including the first that is not 255. */
  private length(nibble: number): number {
    if (nibble !== 15) return nibble;
    let length = 15;
    for (;;) {
      if (this.in >= this.source.length) this.fail('the block ends inside a length');
      const byte = this.source[this.in++];
      length += byte;
      if (byte !== 255) return length;
    }
  }

  private literals(count: number): void {
    const { source, target } = this;
    if (count > source.length - this.in) this.fail('literals reach past the block');
    if (count > target.length - this.out) this.fail('literals reach past the raw size');
    if (count > 32) target.set(source.subarray(this.in, this.in + count), this.out);
    else for (let i = 0; i < count; i++) target[this.out + i] = source[this.in + i];
    this.in += count;
    this.out += count;
  }

  private match(distance: number, count: number): void {
    const { target, out } = this;
    if (distance === 0 || distance > out) this.fail(`match distance ${distance} at output ${out}`);
    if (count > target.length - out) this.fail('a match reaches past the raw size');
    // Source and destination may overlap: a short distance repeats what it has just written.
    if (distance >= count && count > 32) target.copyWithin(out, out - distance, out - distance + count);
    else for (let i = out, end = out + count; i < end; i++) target[i] = target[i - distance];
    this.out += count;
  }

  private fail(what: string): never {
    throw new UscopeError('FORMAT_COMPRESSION', `LZ4 block: ${what}`, {
      offset: this.baseOffset + this.in,
    });
  }
}
