/**
 * The bounded check that the bytes of a control message pass before msgpackr decodes them: a peer that is not trusted may have sent them.
 * Nothing is allocated on the word of the message: each length is compared with the bytes at hand, nesting and the number of values are
 * limited, keys are strings, strings are UTF-8, and extensions are refused.
 */
import { isUtf8 } from 'node:buffer';
import { UscopeError } from '../../base/errors.js';

/** Nesting of maps and arrays. */
const MAX_DEPTH = 16;
/** Map entries and array elements of one message, nested ones included: bounds what a message of 4 MiB may take in memory when decoded. */
const MAX_ENTRIES = 20_000;

const ARRAY_16 = 0xdc;
const MAP_16 = 0xde;
const STR_8 = 0xd9;
const BIN_8 = 0xc4;
/** Bytes after a tag of a value of fixed size: nil, false, true; float 32, 64; uint 8..64; int 8..64. */
const FIXED_SIZES = new Map([
  [0xc0, 0],
  [0xc2, 0],
  [0xc3, 0],
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
]);

/** What is found in passing: the tag of a number of fixed size, and where the tag is. */
export type OnNumber = (tag: number, at: number) => void;

/**
 * Checks that `bytes` are exactly one map; returns how many entries all its maps have together.
 * @throws UscopeError BRIDGE_MESSAGE with the offset inside the message
 */
export function checkControlMap(bytes: Uint8Array, onNumber: OnNumber = () => {}): number {
  const check = new MsgpackCheck(bytes, onNumber);
  const first = bytes[0] ?? 0;
  const isMap = (first >= 0x80 && first < 0x90) || first === MAP_16 || first === MAP_16 + 1;
  if (!isMap) throw check.error('a control message is a map', 0);
  check.value(0);
  if (check.offset !== bytes.length) throw check.error(`${bytes.length - check.offset} bytes follow the map`);
  return check.mapEntries;
}

export function malformed(detail: string, offset?: number): UscopeError {
  const place = { file: 'control message', ...(offset === undefined ? {} : { offset }) };
  return new UscopeError('BRIDGE_MESSAGE', `${detail}; the peer is broken or no µScope client`, place);
}

class MsgpackCheck {
  offset = 0;
  mapEntries = 0;
  private entries = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly onNumber: OnNumber,
  ) {}

  error(detail: string, at = this.offset): UscopeError {
    return malformed(detail, at);
  }

  value(depth: number): void {
    const at = this.offset;
    const tag = this.uint(1);
    if (tag < 0x80 || tag >= 0xe0) return;
    if (tag < 0x90) this.map(tag & 0x0f, depth);
    else if (tag < 0xa0) this.array(tag & 0x0f, depth);
    else if (tag < 0xc0) this.text(tag & 0x1f);
    else this.tagged(tag, at, depth);
  }

  private tagged(tag: number, at: number, depth: number): void {
    const size = FIXED_SIZES.get(tag);
    if (size !== undefined) {
      this.skip(size);
      if (size > 0) this.onNumber(tag, at);
    } else if (tag >= BIN_8 && tag <= BIN_8 + 2) this.skip(this.uint(1 << (tag - BIN_8)));
    else if (tag >= STR_8 && tag <= STR_8 + 2) this.text(this.uint(1 << (tag - STR_8)));
    else if (tag === ARRAY_16 || tag === ARRAY_16 + 1) this.array(this.uint(tag === ARRAY_16 ? 2 : 4), depth);
    else if (tag === MAP_16 || tag === MAP_16 + 1) this.map(this.uint(tag === MAP_16 ? 2 : 4), depth);
    else throw this.error(`msgpack type 0x${tag.toString(16)} is not used by the protocol`, at);
  }

  private map(count: number, depth: number): void {
    this.begin(count, 2, depth);
    this.mapEntries += count;
    for (let i = 0; i < count; i++) {
      this.key();
      this.value(depth + 1);
    }
  }

  private key(): void {
    const at = this.offset;
    const tag = this.bytes[at] ?? 0;
    const isString = (tag >= 0xa0 && tag < 0xc0) || (tag >= STR_8 && tag <= STR_8 + 2);
    if (at < this.bytes.length && !isString) throw this.error('a key is not a string', at);
    this.value(MAX_DEPTH);
  }

  private array(count: number, depth: number): void {
    this.begin(count, 1, depth);
    for (let i = 0; i < count; i++) this.value(depth + 1);
  }

  private begin(count: number, bytesEach: number, depth: number): void {
    if (depth >= MAX_DEPTH) throw this.error(`nested deeper than ${MAX_DEPTH}`);
    const left = this.bytes.length - this.offset;
    if (count * bytesEach > left) throw this.error(`${count} entries are promised, ${left} bytes are left`);
    this.entries += count;
    if (this.entries > MAX_ENTRIES) throw this.error(`more than ${MAX_ENTRIES} entries of maps and arrays`);
  }

  private text(size: number): void {
    const at = this.offset;
    this.skip(size);
    for (let i = at; i < this.offset; i++) {
      if (this.bytes[i] < 0x80) continue;
      if (!isUtf8(this.bytes.subarray(at, this.offset))) throw this.error('a string is not UTF-8', at);
      return;
    }
  }

  private skip(size: number): void {
    const left = this.bytes.length - this.offset;
    if (size > left) throw this.error(`${size} bytes are promised, ${left} are left`);
    this.offset += size;
  }

  private uint(size: number): number {
    const at = this.offset;
    this.skip(size);
    let value = 0;
    for (let i = at; i < this.offset; i++) value = value * 256 + this.bytes[i];
    return value;
  }
}
