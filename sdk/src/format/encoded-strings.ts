/**
 * Strings as a commit record has them (u32 length, bytes), encoded as they come: a segment may have a million, and committing it must not take
 * the time of all of them at once.
 */
import { copyBytes } from '../base/bytes.js';
import type { Crc32 } from './commit-record.js';

const FIRST_PIECE_BYTES = 4096;
const MAX_PIECE_BYTES = 1024 * 1024;
const LENGTH_BYTES = 4;
/** Released pieces that are kept, together at most. */
const MAX_FREE_BYTES = 8 * 1024 * 1024;

/** In order. Iterating gives the bytes of each string, which are not copied. */
export interface EncodedStrings extends Iterable<Uint8Array> {
  /** How many. */
  readonly length: number;
  /** Bytes of the strings alone. */
  readonly textBytes: number;
  /** Bytes of all pieces, and their CRC-32. */
  readonly size: number;
  readonly crc: number;
  /** No string continues in the next one. */
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
}

export class StringEncoder {
  private readonly pieces: Uint8Array<ArrayBuffer>[] = [];
  private piece = new Uint8Array(0);
  private view = new DataView(this.piece.buffer);
  private used = 0;
  private length = 0;
  private size = 0;
  private crc = 0;
  /** Released pieces by size. What is not used again the garbage collector takes late: it sees little of memory outside its heap. */
  private readonly free = new Map<number, Uint8Array<ArrayBuffer>[]>();
  private freeBytes = 0;

  constructor(private readonly crc32: Crc32) {}

  /** Copies `length` bytes of a string that begins at `bytes[from]`. */
  add(bytes: Uint8Array, from = 0, length = bytes.length): void {
    const size = LENGTH_BYTES + length;
    if (size > this.piece.length - this.used) this.begin(size);
    this.view.setUint32(this.used, length, true);
    copyBytes(bytes, from, length, this.piece, this.used + LENGTH_BYTES);
    this.used += size;
    this.length++;
  }

  /** Those since the last call. */
  take(): EncodedStrings {
    this.end();
    const { length, size, crc } = this;
    const pieces = this.pieces.splice(0);
    this.length = this.size = this.crc = 0;
    const textBytes = size - LENGTH_BYTES * length;
    return { length, textBytes, size, crc, pieces, [Symbol.iterator]: () => stringsIn(pieces) };
  }

  /** Nobody reads these strings any more: their memory is used for others. */
  release({ pieces }: EncodedStrings): void {
    for (const { buffer } of pieces) {
      const size = buffer.byteLength;
      if (size > MAX_PIECE_BYTES || this.freeBytes + size > MAX_FREE_BYTES) continue;
      this.freeBytes += size;
      const same = this.free.get(size);
      if (same) same.push(new Uint8Array(buffer));
      else this.free.set(size, [new Uint8Array(buffer)]);
    }
  }

  private begin(atLeast: number): void {
    const next = Math.min(MAX_PIECE_BYTES, Math.max(FIRST_PIECE_BYTES, 4 * this.piece.length));
    this.end();
    this.piece = this.allocate(Math.max(next, atLeast));
    this.view = new DataView(this.piece.buffer);
  }

  private allocate(size: number): Uint8Array<ArrayBuffer> {
    const released = this.free.get(size)?.pop();
    if (!released) return new Uint8Array(size);
    this.freeBytes -= size;
    return released;
  }

  private end(): void {
    const done = this.piece.subarray(0, this.used);
    this.piece = new Uint8Array(0);
    this.used = 0;
    if (done.length === 0) return;
    this.crc = this.crc32(done, this.crc);
    this.size += done.length;
    this.pieces.push(done);
  }
}

export function encodeStrings(texts: Iterable<Uint8Array>, crc32: Crc32): EncodedStrings {
  const encoder = new StringEncoder(crc32);
  for (const text of texts) encoder.add(text);
  return encoder.take();
}

function* stringsIn(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces) {
    const view = new DataView(piece.buffer, piece.byteOffset);
    for (let at = 0; at < piece.length; ) {
      const start = at + LENGTH_BYTES;
      at = start + view.getUint32(at, true);
      yield piece.subarray(start, at);
    }
  }
}
