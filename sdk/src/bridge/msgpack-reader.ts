/**
 * Strict reader for the msgpack of control messages. What a stranger sends is not read by a general library, which
 * would also decode extensions, and floats that look like integers. Every length is checked against the bytes
 * at hand; nothing is allocated on its word.
 */
import { UscopeError } from '../base/errors.js';

/** A value of a type that no key of the protocol uses: read over, so that later versions may add keys of any type. */
export const OTHER = Symbol('a value of another type');
export type WireValue = number | bigint | string | boolean | Uint8Array | WireMap | typeof OTHER;
export type WireMap = ReadonlyMap<string, WireValue>;

/** Nesting of maps and arrays. */
const MAX_DEPTH = 16;
/** Map entries of one message, nested ones included: bounds what the maps of a 4 MiB message may take in memory. */
const MAX_ENTRIES = 20_000;

/** Bytes of the fixed-size integers 0xcc..0xcf and 0xd0..0xd3. */
const INTEGER_SIZES = [1, 2, 4, 8];

/** The map that is the whole of `bytes`. @throws UscopeError BRIDGE_MESSAGE with the offset inside the message */
export function readControlMap(bytes: Uint8Array): WireMap {
  const reader = new MsgpackReader(bytes);
  const value = reader.value(0);
  if (!(value instanceof Map)) throw reader.error('a control message is a map', 0);
  if (reader.offset !== bytes.length)
    throw reader.error(`${bytes.length - reader.offset} bytes follow the map`);
  return value;
}

class MsgpackReader {
  offset = 0;
  private entries = 0;
  private readonly view: DataView;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  error(detail: string, at = this.offset): UscopeError {
    return new UscopeError('BRIDGE_MESSAGE', `${detail}; the peer is broken or no µScope client`, {
      file: 'control message',
      offset: at,
    });
  }

  value(depth: number): WireValue {
    const tag = this.uint(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.map(tag & 0x0f, depth);
    if (tag < 0xa0) return this.array(tag & 0x0f, depth);
    if (tag < 0xc0) return this.text(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    switch (tag) {
      case 0xc0:
        return OTHER;
      case 0xc2:
      case 0xc3:
        return tag === 0xc3;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.take(this.uint(1 << (tag - 0xc4)));
      case 0xca:
      case 0xcb:
        this.take(tag === 0xca ? 4 : 8);
        return OTHER;
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.uint(INTEGER_SIZES[tag - 0xcc]);
      case 0xcf:
        return this.wide(false);
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return this.int(INTEGER_SIZES[tag - 0xd0]);
      case 0xd3:
        return this.wide(true);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.text(this.uint(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.array(this.uint(tag === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.map(this.uint(tag === 0xde ? 2 : 4), depth);
      default:
        throw this.error(`msgpack type 0x${tag.toString(16)} is not used by the protocol`, this.offset - 1);
    }
  }

  private map(count: number, depth: number): WireMap {
    this.checkCount(count, 2, depth);
    this.entries += count;
    if (this.entries > MAX_ENTRIES) throw this.error(`more than ${MAX_ENTRIES} map entries`);
    const map = new Map<string, WireValue>();
    for (let i = 0; i < count; i++) {
      const at = this.offset;
      const key = this.value(MAX_DEPTH);
      if (typeof key !== 'string') throw this.error('a key is not a string', at);
      if (map.has(key)) throw this.error(`the key ${JSON.stringify(key.slice(0, 40))} stands twice`, at);
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  /** No key of the protocol holds an array, so its elements need not be kept. */
  private array(count: number, depth: number): typeof OTHER {
    this.checkCount(count, 1, depth);
    for (let i = 0; i < count; i++) this.value(depth + 1);
    return OTHER;
  }

  private checkCount(count: number, bytesEach: number, depth: number): void {
    if (depth >= MAX_DEPTH) throw this.error(`nested deeper than ${MAX_DEPTH}`);
    if (count * bytesEach > this.bytes.length - this.offset) {
      throw this.error(`${count} entries are promised, ${this.bytes.length - this.offset} bytes are left`);
    }
  }

  private text(size: number): string {
    const at = this.offset;
    try {
      return this.utf8.decode(this.take(size));
    } catch (error) {
      throw error instanceof UscopeError ? error : this.error('a string is not UTF-8', at);
    }
  }

  private take(size: number): Uint8Array {
    const start = this.offset;
    if (size > this.bytes.length - start) {
      throw this.error(`${size} bytes are promised, ${this.bytes.length - start} are left`);
    }
    this.offset = start + size;
    return this.bytes.subarray(start, this.offset);
  }

  private uint(size: number): number {
    let value = 0;
    for (const byte of this.take(size)) value = value * 256 + byte;
    return value;
  }

  private int(size: number): number {
    const value = this.uint(size);
    return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
  }

  private wide(signed: boolean): bigint {
    const at = this.offset;
    this.take(8);
    return signed ? this.view.getBigInt64(at) : this.view.getBigUint64(at);
  }
}
