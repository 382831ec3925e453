/** The records of a frame that is not complete yet. */
import { MAX_FRAME_BYTES, recordError } from './frame-checker.js';

export class CarryBuffer {
  words = new Uint32Array(4096);
  /** Words used. */
  length = 0;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  clear(): void {
    this.length = 0;
  }

  /** Takes the last words back. */
  drop(words: number): void {
    this.length -= words;
  }

  /** @throws UscopeError BRIDGE_RECORD when the frame grows beyond what a client may send. */
  append(from: Uint32Array, first: number, end: number): void {
    const needed = this.length + end - first;
    if (needed * 4 > MAX_FRAME_BYTES)
      throw recordError(`a frame of more than ${MAX_FRAME_BYTES} bytes of records`);
    if (needed > this.words.length) {
      const grown = new Uint32Array(Math.max(needed, this.words.length * 2));
      grown.set(this.words.subarray(0, this.length));
      this.words = grown;
    }
    this.words.set(from.subarray(first, end), this.length);
    this.length = needed;
  }
}
