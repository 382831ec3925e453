/** Text between two places of some bytes, which becomes a string only when one is wanted. */

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class TextBytes {
  bytes: Uint8Array = new Uint8Array(0);
  from = 0;
  to = 0;

  /** UTF-8 in foreign bytes, as long as those do not change. */
  point(bytes: Uint8Array, from: number, to: number): this {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
    return this;
  }

  set(text: string): this {
    const bytes = encoder.encode(text);
    return this.point(bytes, 0, bytes.length);
  }

  toString(): string {
    return decoder.decode(this.bytes.subarray(this.from, this.to));
  }
}
