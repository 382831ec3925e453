/** LZ4 blocks without a frame around them: whole ones, and the beginning of one that was cut off. */
import { isUscopeError, UscopeError } from '../base/errors.js';
import { checkRawSize, LZ4_MAX_EXPANSION } from './expansion.js';

/**
 * Decompresses one LZ4 block to exactly `rawSize` bytes. Never reads past `source` or writes past the result.
 * `baseOffset` is the block's file offset, for errors. FORMAT_COMPRESSION when the block is malformed or of another size.
 */
export function decompressLz4Block(source: Uint8Array, rawSize: number, baseOffset = 0): Uint8Array {
  checkRawSize('lz4', source.length, rawSize, baseOffset);
  if (source.length === 0) return new Uint8Array(0);
  return new Lz4Decoder(source, new Uint8Array(rawSize), baseOffset).run();
}

/**
 * What the beginning of a block that was cut off yields: every whole sequence of it, and the part of the last one that is there. At most
 * `rawSize` bytes. Never throws.
 */
export function decompressLz4Prefix(source: Uint8Array, rawSize: number): Uint8Array {
  const target = new Uint8Array(Math.min(rawSize, source.length * LZ4_MAX_EXPANSION));
  return new Lz4Decoder(source, target, 0).runCut();
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

  /** The bytes before the place where the block breaks off. */
  runCut(): Uint8Array {
    try {
      this.run();
    } catch (error) {
      if (!isUscopeError(error)) throw error;
    }
    return this.target.subarray(0, this.out);
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
    const room = target.length - this.out;
    const here = Math.min(count, source.length - this.in, room);
    if (here > 32) target.set(source.subarray(this.in, this.in + here), this.out);
    else for (let i = 0; i < here; i++) target[this.out + i] = source[this.in + i];
    this.in += here;
    this.out += here;
    if (here < count)
      this.fail(count > room ? 'literals reach past the raw size' : 'literals reach past the block');
  }

  private match(distance: number, count: number): void {
    const { target, out } = this;
    if (distance === 0 || distance > out) this.fail(`match distance ${distance} at output ${out}`);
    const here = Math.min(count, target.length - out);
    // Source and destination may overlap: a short distance repeats what it has just written.
    if (distance >= here && here > 32) target.copyWithin(out, out - distance, out - distance + here);
    else for (let i = out, end = out + here; i < end; i++) target[i] = target[i - distance];
    this.out += here;
    if (here < count) this.fail('a match reaches past the raw size');
  }

  private fail(what: string): never {
    throw new UscopeError('FORMAT_COMPRESSION', `LZ4 block: ${what}`, {
      offset: this.baseOffset + this.in,
    });
  }
}
