/** Goes through the members of a struct value, without an allocation for each. */
import { UscopeError } from '../../base/errors.js';

/** Of a member's number and size, so that they are exact. */
const MAX_FACTOR = 2 ** 50;

export class MemberCursor {
  member = 0;
  type = 0;
  /** Where the member's value is in `bytes`. */
  at = 0;
  size = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private next = 0;
  private end = 0;

  /** Begins with the value that is `size` bytes from `at` on. */
  open(bytes: Uint8Array, at: number, size: number): void {
    this.bytes = bytes;
    this.next = at;
    this.end = at + size;
  }

  /** To the next member; false after the last one. @throws UscopeError CONVERT_FORMAT for bytes that are not members */
  advance(): boolean {
    if (this.next >= this.end) return false;
    this.member = this.number();
    if (this.next >= this.end) throw cut();
    this.type = this.bytes[this.next++];
    this.size = this.number();
    this.at = this.next;
    this.next += this.size;
    if (this.next > this.end) throw cut();
    return true;
  }

  /** The value of the present member: a view. */
  get value(): Uint8Array {
    return this.bytes.subarray(this.at, this.at + this.size);
  }

  private number(): number {
    const { bytes, next } = this;
    // Nearly all are a byte.
    if (next < this.end && bytes[next] < 0x80) {
      this.next = next + 1;
      return bytes[next];
    }
    let value = 0;
    for (let factor = 1; factor < MAX_FACTOR; factor *= 128) {
      if (this.next >= this.end) throw cut();
      const byte = this.bytes[this.next++];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new UscopeError('CONVERT_FORMAT', 'a number in a value is too large');
  }
}

const cut = (): UscopeError => new UscopeError('CONVERT_FORMAT', 'a value ends inside one of its parts');
