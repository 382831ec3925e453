/** String pool (docs/reference/format.md#string-pool): NUL-terminated UTF-8 texts at the end of the schema chunk, named by u16 offsets. */
import { UscopeError } from '../base/errors.js';
import { decodeUtf8, encodeUtf8 } from '../base/utf8.js';

/** Offsets are u16 and 0xFFFF means "none" (docs/reference/format.md#scopes), so the last byte is at 65,534. */
export const MAX_STRING_POOL_BYTES = 65_535;

/** Texts may overlap in a pool; a pool whose overlapping texts add up to more than this was made to exhaust memory. */
const MAX_DECODED_BYTES = 16 << 20;

/** Collects texts, each once. */
export class StringPoolBuilder {
  private readonly offsets = new Map<string, number>();
  private readonly parts: Uint8Array[] = [];
  private size = 0;

  /** Offset of `text` in the pool. SCHEMA_LIMIT when the pool is full, SCHEMA_NAME when the text holds a NUL. */
  add(text: string): number {
    const known = this.offsets.get(text);
    if (known !== undefined) return known;
    if (text.includes('\0')) {
      throw new UscopeError(
        'SCHEMA_NAME',
        `${JSON.stringify(text)} holds a NUL character, which ends a text in the file`,
      );
    }
    const bytes = encodeUtf8(text);
    const offset = this.size;
    if (offset + bytes.length + 1 > MAX_STRING_POOL_BYTES) {
      throw new UscopeError(
        'SCHEMA_LIMIT',
        `names and DUT properties need more than ${MAX_STRING_POOL_BYTES} bytes of string pool (at ${JSON.stringify(text.slice(0, 40))}); shorten or drop some`,
      );
    }
    this.offsets.set(text, offset);
    this.parts.push(bytes);
    this.size += bytes.length + 1;
    return offset;
  }

  finish(): Uint8Array {
    const pool = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      pool.set(part, at);
      at += part.length + 1;
    }
    return pool;
  }
}

/** Texts of a file's pool by offset. Texts may share tails: any offset inside the pool is legal. */
export class StringPool {
  private readonly cache = new Map<number, string>();
  private readonly bytes: Uint8Array;
  private decodedBytes = 0;

  /** @param baseOffset file offset of the pool, for errors */
  constructor(
    bytes: Uint8Array,
    private readonly baseOffset = 0,
  ) {
    this.bytes = bytes.subarray(0, MAX_STRING_POOL_BYTES + 1);
  }

  /** FORMAT_STRING_POOL when the offset is outside or the text not terminated, FORMAT_UTF8 when it is not UTF-8. */
  get(offset: number): string {
    const cached = this.cache.get(offset);
    if (cached !== undefined) return cached;
    const place = { offset: this.baseOffset + offset };
    if (offset >= this.bytes.length) {
      throw new UscopeError(
        'FORMAT_STRING_POOL',
        `string pool offset ${offset} is not inside the pool of ${this.bytes.length} bytes`,
        place,
      );
    }
    const end = this.bytes.indexOf(0, offset);
    if (end < 0) {
      throw new UscopeError(
        'FORMAT_STRING_POOL',
        `the text at pool offset ${offset} has no terminating NUL`,
        place,
      );
    }
    this.decodedBytes += end - offset;
    if (this.decodedBytes > MAX_DECODED_BYTES) {
      throw new UscopeError('FORMAT_STRING_POOL', 'the texts of the pool overlap far too much', place);
    }
    const text = decodeUtf8(this.bytes.subarray(offset, end), place);
    this.cache.set(offset, text);
    return text;
  }
}
