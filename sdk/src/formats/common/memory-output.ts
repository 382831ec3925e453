/** An output in memory: for small files and tests. */
import { concatBytes } from '../../base/bytes.js';
import type { ByteOutput } from './foreign-format.js';

export class MemoryOutput implements ByteOutput {
  private readonly pieces: Uint8Array[] = [];
  private readonly patches: (readonly [number, Uint8Array])[] = [];

  length = 0;

  async write(bytes: Uint8Array): Promise<void> {
    this.pieces.push(new Uint8Array(bytes));
    this.length += bytes.length;
  }

  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    this.patches.push([offset, new Uint8Array(bytes)]);
  }

  /** What was written, patched. */
  get bytes(): Uint8Array {
    const all = concatBytes(this.pieces);
    for (const [offset, bytes] of this.patches) all.set(bytes, offset);
    return all;
  }
}
