/** A window over the bytes of a file. */
import { concatBytes } from '../../base/bytes.js';
import type { ByteSource } from '../../codecs/byte-source.js';

const WINDOW_BYTES = 256 * 1024;

/** Reads a source from front to end in large pieces. */
export class SourceWindow {
  private bytes: Uint8Array = new Uint8Array(0);
  private base = 0;

  constructor(
    private readonly source: ByteSource,
    readonly size: number,
  ) {}

  /** The bytes at `offset`, as many as asked unless the source ends before. */
  async at(offset: number, length: number): Promise<Uint8Array> {
    const from = offset - this.base;
    const there = Math.min(length, Math.max(0, this.size - offset));
    if (from >= 0 && from + there <= this.bytes.length) return this.bytes.subarray(from, from + there);
    const wanted = Math.min(Math.max(WINDOW_BYTES, there), Math.max(0, this.size - offset));
    this.bytes = await readWhole(this.source, offset, wanted);
    this.base = offset;
    return this.bytes.subarray(0, Math.min(there, this.bytes.length));
  }
}

/** Sources may give less than was asked before their end. */
async function readWhole(source: ByteSource, offset: number, length: number): Promise<Uint8Array> {
  const bytes = await source.read(offset, length);
  // No Buffer, whose `slice` does not copy.
  const first = new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length));
  if (first.length >= length || first.length === 0) return first;
  const pieces = [first];
  let there = first.length;
  while (there < length) {
    const piece = await source.read(offset + there, length - there);
    if (piece.length === 0) break;
    pieces.push(piece);
    there += piece.length;
  }
  return concatBytes(pieces);
}
