/** An output in memory: for small files and tests. */
import type { FtrOutput } from './writer.js';

export class MemoryOutput implements FtrOutput {
  private readonly pieces: Uint8Array[] = [];
  length = 0;

  async write(bytes: Uint8Array): Promise<void> {
    this.pieces.push(bytes.slice());
    this.length += bytes.length;
  }

  /** Of a format that needs no patches. */
  async patch(): Promise<void> {
    throw new Error('FTR is written from front to end');
  }

  get bytes(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.pieces));
  }
}
