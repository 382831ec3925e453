/** SInt: signed numbers in as few bytes as they need, least significant first; none for 0. */
import { UscopeError } from '../../base/errors.js';

const MASK = 0xffn;

export function sintToBigInt(bytes: Uint8Array, from: number, size: number): bigint {
  if (size === 0) return 0n;
  let value = 0n;
  for (let at = from + size - 1; at >= from; at--) value = (value << 8n) | BigInt(bytes[at]);
  return BigInt.asIntN(size * 8, value);
}

export function bigIntToSint(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array(0);
  const bytes: number[] = [];
  const end = value < 0n ? -1n : 0n;
  let rest = value;
  for (;;) {
    bytes.push(Number(rest & MASK));
    rest >>= 8n;
    // The sign is that of the top bit.
    if (rest === end && bytes[bytes.length - 1] >> 7 === (value < 0n ? 1 : 0)) return Uint8Array.from(bytes);
  }
}

// Numbers of a file, least significant byte first, as 64 bits of an event.

/** Up to eight bytes. @param isSigned the bytes that are left out repeat the sign */
export function putBytes(
  view: DataView,
  offset: number,
  bytes: Uint8Array,
  at: number,
  size: number,
  isSigned: boolean,
): void {
  const fill = isSigned && size > 0 && bytes[at + size - 1] >= 0x80 ? -1 : 0;
  view.setInt32(offset, wordOf(bytes, at, size, fill), true);
  view.setInt32(offset + 4, size > 4 ? wordOf(bytes, at + 4, size - 4, fill) : fill, true);
}

/** Four bytes, those after `size` from `fill`. */
function wordOf(bytes: Uint8Array, at: number, size: number, fill: number): number {
  if (size >= 4) return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  let word = fill;
  for (let i = size - 1; i >= 0; i--) word = (word << 8) | bytes[at + i];
  return word;
}

/** The numbers and sizes that a value has, as far as it reaches. */
export class ValueBytes {
  protected bytes: Uint8Array;
  protected next = 0;
  private end: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Begins with what is `size` bytes from `at` on. */
  open(bytes: Uint8Array, at: number, size: number): void {
    this.bytes = bytes;
    this.next = at;
    this.end = at + size;
  }

  get left(): number {
    return this.end - this.next;
  }

  /** Passes over `size` bytes; returns where they begin. @throws UscopeError CONVERT_FORMAT beyond the end */
  skip(size: number): number {
    const at = this.next;
    this.next += size;
    if (this.next > this.end) throw new UscopeError('CONVERT_FORMAT', 'a value ends inside one of its parts');
    return at;
  }

  take(size: number): Uint8Array {
    const at = this.skip(size);
    return this.bytes.subarray(at, at + size);
  }

  pint(): number {
    const { bytes, next } = this;
    // Nearly all are a byte.
    if (next < this.end && bytes[next] < 0x80) {
      this.next = next + 1;
      return bytes[next];
    }
    let value = 0;
    for (let factor = 1; factor < MAX_FACTOR; factor *= 128) {
      const byte = bytes[this.skip(1)];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new UscopeError('CONVERT_FORMAT', 'a number in a value is too large');
  }
}

/** A number of a value, so that it is exact. */
const MAX_FACTOR = 2 ** 50;

/** Goes through the members of a struct value, without an allocation for each. */
export class MemberCursor extends ValueBytes {
  member = 0;
  type = 0;
  /** Place of the member's value in `bytes`. */
  at = 0;
  size = 0;

  /** Goes to the next member; false after the last one. @throws UscopeError CONVERT_FORMAT for bytes that are not members */
  advance(): boolean {
    if (this.left <= 0) return false;
    this.member = this.pint();
    this.type = this.bytes[this.skip(1)];
    this.size = this.pint();
    this.at = this.skip(this.size);
    return true;
  }

  /** The value of the present member: a view. */
  get value(): Uint8Array {
    return this.bytes.subarray(this.at, this.at + this.size);
  }
}
