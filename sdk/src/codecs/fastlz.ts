/** FastLZ, levels 1 and 2: unpacks one block. Never reads past the input or writes past the result. */
import { UscopeError } from '../base/errors.js';

/** Largest distance of a match in two bytes; level 2 adds 16 bits to it. */
const FAR_DISTANCE = 8191;
const LITERAL_LIMIT = 32;
const LONG_MATCH = 6;
const MIN_MATCH = 3;

/**
 * @param size bytes that the block represents
 * @param offset of the block in the file, for errors
 * @throws UscopeError CONVERT_FORMAT when the block is malformed or of another size
 */
export function decompressFastLz(source: Uint8Array, size: number, offset = 0): Uint8Array {
  if (source.length === 0) {
    if (size === 0) return new Uint8Array(0);
    throw broken('is empty', offset);
  }
  const level = source[0] >> 5;
  if (level > 1) throw broken(`is of level ${level + 1}, which does not exist`, offset);
  return new Decoder(source, new Uint8Array(size), level === 1, offset).run();
}

class Decoder {
  private at = 0;
  private out = 0;

  constructor(
    private readonly source: Uint8Array,
    private readonly target: Uint8Array,
    private readonly isLevel2: boolean,
    private readonly offset: number,
  ) {}

  run(): Uint8Array {
    const { source, target } = this;
    // The level is in the first instruction, which is always one of literals.
    let control = source[this.at++] & 31;
    for (;;) {
      if (control < LITERAL_LIMIT) this.literals(control + 1);
      else this.match(control);
      if (this.at >= source.length) break;
      control = source[this.at++];
    }
    if (this.out !== target.length) this.fail(`yields ${this.out} bytes instead of ${target.length}`);
    return target;
  }

  private literals(count: number): void {
    const { source, target, at, out } = this;
    if (at + count > source.length) this.fail('ends inside literals');
    if (out + count > target.length) this.fail('has literals past its size');
    for (let i = 0; i < count; i++) target[out + i] = source[at + i];
    this.at += count;
    this.out += count;
  }

  private match(control: number): void {
    let length = (control >> 5) - 1;
    const high = (control & 31) << 8;
    if (length === LONG_MATCH) length += this.isLevel2 ? this.longLength() : this.byte();
    const low = this.byte();
    let distance = high + low + 1;
    if (this.isLevel2 && low === 255 && high === 31 << 8) {
      distance = (this.byte() << 8) + FAR_DISTANCE + 1;
      distance += this.byte();
    }
    this.copy(distance, length + MIN_MATCH);
  }

  private longLength(): number {
    let length = 0;
    for (;;) {
      const byte = this.byte();
      length += byte;
      if (byte !== 255) return length;
    }
  }

  private copy(distance: number, count: number): void {
    const { target, out } = this;
    if (distance > out) this.fail(`has a match ${distance} bytes back at byte ${out}`);
    if (out + count > target.length) this.fail('has a match past its size');
    // They overlap when the distance is short: what was just written repeats.
    for (let i = out, end = out + count; i < end; i++) target[i] = target[i - distance];
    this.out += count;
  }

  private byte(): number {
    if (this.at >= this.source.length) this.fail('ends inside a match');
    return this.source[this.at++];
  }

  private fail(what: string): never {
    throw broken(what, this.offset + this.at);
  }
}

function broken(what: string, offset: number): UscopeError {
  return new UscopeError('CONVERT_FORMAT', `the FastLZ block ${what}`, { offset });
}
