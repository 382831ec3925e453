/** The bytes of a struct value, member by member, without an object for each. */
import { putPInt } from './outputs.js';
import { MemberType } from './types.js';

const encoder = new TextEncoder();
const HEAD_BYTES = 12;

export class StructBytes {
  private buffer = new Uint8Array(4096);
  private at = 0;

  begin(): void {
    this.at = 0;
  }

  /** What was put since `begin`: a view. */
  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.at);
  }

  /** A number of 64 bits in halves, signed unless it is said not to be. */
  integer(member: number, type: number, lo: number, hi: number, isUnsigned = false): void {
    this.room(HEAD_BYTES + 9);
    const { buffer } = this;
    let at = putPInt(buffer, this.at, member);
    buffer[at++] = type;
    const start = at + 1;
    let end = start;
    for (let i = 0; i < 8; i++) buffer[end++] = (i < 4 ? lo : hi) >>> (8 * (i & 3));
    if (isUnsigned && hi >> 31) buffer[end++] = 0;
    // Bytes that repeat the sign are left out.
    const fill = buffer[end - 1] & 0x80 ? 0xff : 0;
    while (end > start && buffer[end - 1] === fill) {
      if (fill !== 0 && end - start === 1) break;
      if (end - start > 1 && ((buffer[end - 2] ^ fill) & 0x80) !== 0) break;
      end--;
    }
    buffer[at] = end - start;
    this.at = end;
  }

  text(member: number, text: string): void {
    this.room(HEAD_BYTES + 3 * text.length);
    const { buffer } = this;
    let at = putPInt(buffer, this.at, member);
    buffer[at++] = MemberType.TEXT;
    const size = utf8Size(text);
    at = putPInt(buffer, at, size);
    encoder.encodeInto(text, buffer.subarray(at));
    this.at = at + size;
  }

  private room(size: number): void {
    if (this.at + size <= this.buffer.length) return;
    const grown = new Uint8Array(2 * (this.at + size));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }
}

function utf8Size(text: string): number {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return encoder.encode(text).length;
  return text.length;
}
