/** Gathers entries on their way to the file: as they come, in compressed blocks, or in a ring of sections that keeps the newest. */
import { UscopeError } from '../../base/errors.js';
import { type BlockCompression, BlockCompressor, COMPRESSION_MODES } from './blocks.js';
import { FluxTag, MAX_SECTION } from './types.js';

/** Where the bytes go. */
export interface FluxOutput {
  write(bytes: Uint8Array): Promise<void>;
}

const BUFFER_BYTES = 256 * 1024;
/** Bytes waiting for `flush` above which it is due. */
const FULL_BYTES = 1024 * 1024;
const SECTION_HEADER_BYTES = 7;
const LAST_SECTION = 0x80;
/** Rounds of a ring buffer are counted from 1 to 15. */
const MAX_ROUND = 15;
const MIN_SECTIONS = 2;

/**
 * An entry is written into `bytes` from `at` on, after `room` has made sure that it fits there. `commit` makes it final.
 */
export interface FluxBuffer {
  bytes: Uint8Array;
  view: DataView;
  /** End of the committed entries. */
  at: number;
  room(size: number): void;
  commit(end: number): void;
  /** Hands the committed entries over to the output. */
  end(): void;
}

abstract class EntryBuffer implements FluxBuffer {
  bytes: Uint8Array = new Uint8Array(BUFFER_BYTES);
  view = new DataView(this.bytes.buffer);
  at = 0;

  room(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    this.makeRoom(size);
    if (this.at + size > this.bytes.length) this.grow(this.at + size);
  }

  abstract commit(end: number): void;
  abstract end(): void;
  protected abstract makeRoom(size: number): void;

  private grow(size: number): void {
    const grown = new Uint8Array(Math.max(size, 2 * this.bytes.length));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}

/** Entries as they come. */
export class LinearBuffer extends EntryBuffer {
  private pieces: Uint8Array[] = [];
  private waiting = 0;

  get isFull(): boolean {
    return this.waiting >= FULL_BYTES;
  }

  commit(end: number): void {
    this.at = end;
  }

  end(): void {
    if (this.at === 0) return;
    this.pieces.push(this.bytes.slice(0, this.at));
    this.waiting += this.at;
    this.at = 0;
  }

  async flush(output: FluxOutput): Promise<void> {
    const pieces = this.pieces;
    this.pieces = [];
    this.waiting = 0;
    for (const piece of pieces) await output.write(piece);
  }

  protected makeRoom(): void {
    this.end();
  }
}

/** Blocks as full as whole entries make them. */
export class CompressedBuffer extends EntryBuffer {
  private readonly compressor: BlockCompressor;

  /** @param blockBytes bytes of entries in a block at most */
  constructor(
    private readonly next: FluxBuffer,
    private readonly method: BlockCompression,
    private readonly blockBytes: number,
  ) {
    super();
    this.compressor = new BlockCompressor(method);
  }

  commit(end: number): void {
    const start = this.at;
    if (end <= this.blockBytes) {
      this.at = end;
      return;
    }
    this.end();
    const size = end - start;
    if (size > this.blockBytes) this.pass(start, end);
    else {
      this.bytes.copyWithin(0, start, end);
      this.at = size;
    }
  }

  end(): void {
    if (this.at === 0) return;
    const packed = this.compressor.compress(this.bytes.subarray(0, this.at));
    const { next } = this;
    next.room(packed.length + 16);
    const { bytes, at } = next;
    bytes[at] = 0;
    bytes[at + 1] = FluxTag.PBLK;
    bytes[at + 2] = COMPRESSION_MODES[this.method];
    const body = putPInt(bytes, putPInt(bytes, at + 3, this.at), packed.length);
    bytes.set(packed, body);
    next.commit(body + packed.length);
    this.at = 0;
  }

  /** An entry too large for a block is between blocks. */
  private pass(start: number, end: number): void {
    const { next } = this;
    next.room(end - start);
    next.bytes.set(this.bytes.subarray(start, end), next.at);
    next.commit(next.at + end - start);
  }

  protected makeRoom(): void {
    // Blocks are smaller than the array, which grows for larger entries.
  }
}

export interface RingShape {
  /** Bytes of the file that the ring takes, headers of its sections included. */
  readonly bytes: number;
  /** Default: as few as their greatest size allows, but 8 at least. */
  readonly sections?: number | undefined;
}

/** A ring in memory, written when the trace ends. */
export class RingBuffer extends EntryBuffer {
  private readonly memory: Uint8Array;
  private readonly starts: number[] = [];
  private readonly sizes: number[] = [];
  private readonly used: Uint16Array;
  private readonly rounds: Uint8Array;
  private section = 0;
  private round = 1;

  /**
   * @param prelude called at the start of each section, but the first one ever, to write where the groups are
   * @throws UscopeError CONVERT_OPTION for a size that cannot be divided into sections
   */
  constructor(
    private readonly next: FluxBuffer,
    { bytes, sections }: RingShape,
    private readonly prelude: (buffer: FluxBuffer) => void,
  ) {
    super();
    const count = sections ?? Math.max(8, Math.ceil(bytes / (MAX_SECTION + SECTION_HEADER_BYTES)));
    const whole = Math.floor(bytes / count) - SECTION_HEADER_BYTES;
    const last = bytes - (count - 1) * (whole + SECTION_HEADER_BYTES) - SECTION_HEADER_BYTES;
    if (count < MIN_SECTIONS || whole < 64 || last > MAX_SECTION) {
      throw new UscopeError(
        'CONVERT_OPTION',
        `a ring of ${bytes} bytes has no ${count} sections of 64 to ${MAX_SECTION} bytes`,
      );
    }
    for (let i = 0; i < count; i++) {
      this.starts.push(i * whole);
      this.sizes.push(i === count - 1 ? last : whole);
    }
    this.memory = new Uint8Array((count - 1) * whole + last);
    this.used = new Uint16Array(count);
    this.rounds = new Uint8Array(count);
    this.rounds[0] = 1;
  }

  commit(end: number): void {
    const start = this.at;
    if (end <= this.sizes[this.section]) {
      this.at = end;
      return;
    }
    const entry = this.bytes.slice(start, end);
    this.advance();
    this.room(entry.length);
    const size = this.at + entry.length;
    if (size > this.sizes[this.section]) {
      const room = this.sizes[this.section];
      throw new UscopeError('CONVERT_SOURCE', `an entry of ${entry.length} bytes in sections of ${room}`);
    }
    this.bytes.set(entry, this.at);
    this.at = size;
  }

  end(): void {
    this.store();
    const { next, starts, sizes } = this;
    for (let i = 0; i < starts.length; i++) {
      const size = sizes[i];
      next.room(SECTION_HEADER_BYTES + size);
      const { bytes, view, at } = next;
      bytes[at] = 0;
      bytes[at + 1] = FluxTag.SECT;
      bytes[at + 2] = this.rounds[i] | (i === starts.length - 1 ? LAST_SECTION : 0);
      view.setUint16(at + 3, size, true);
      view.setUint16(at + 5, this.used[i], true);
      bytes.set(this.memory.subarray(starts[i], starts[i] + size), at + SECTION_HEADER_BYTES);
      next.commit(at + SECTION_HEADER_BYTES + size);
    }
  }

  protected makeRoom(): void {
    // A section and an entry fit; larger entries make the array grow and are refused at their commit.
  }

  private store(): void {
    this.memory.set(this.bytes.subarray(0, this.at), this.starts[this.section]);
    this.used[this.section] = this.at;
    this.rounds[this.section] = this.round;
  }

  private advance(): void {
    this.store();
    this.at = 0;
    if (++this.section === this.starts.length) {
      this.section = 0;
      this.round = (this.round % MAX_ROUND) + 1;
    }
    this.prelude(this);
  }
}

/** Writes an unsigned number below 2^53; returns the index after it. */
export function putPInt(bytes: Uint8Array, from: number, value: number): number {
  let at = from;
  let rest = value;
  while (rest >= 0x8000_0000) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}
