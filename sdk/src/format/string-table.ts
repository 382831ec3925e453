/** String table (docs/format.md#string-table): runtime strings that FT_STRING_REF fields name by index. */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { decodeUtf8, encodeUtf8 } from '../base/utf8.js';

export const STRING_TABLE_HEADER_SIZE = 8;
export const STRING_ENTRY_SIZE = 8;
/** Offsets of the entries are u32. */
export const MAX_STRING_DATA = 0xffff_ffff;

/** Streaming writers: header (8 bytes), then every entry, then every text with its NUL. */
export function encodeStringTableHeader(numEntries: number): Uint8Array {
  return new ByteWriter(STRING_TABLE_HEADER_SIZE).u32(numEntries).u32(0).finish();
}

/** Streaming writers: puts one entry (8 bytes) at `target[at]`. `offset` counts from the end of the entries, `length` without the NUL. */
export function putStringEntry(target: Uint8Array, at: number, offset: number, length: number): void {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  view.setUint32(at, offset, true);
  view.setUint32(at + 4, length, true);
}

/** A whole table in memory. */
export function encodeStringTable(strings: readonly (string | Uint8Array)[]): Uint8Array {
  const texts = strings.map((text) => (typeof text === 'string' ? encodeUtf8(text) : text));
  const writer = new ByteWriter(1024).bytes(encodeStringTableHeader(texts.length));
  let offset = 0;
  for (const text of texts) {
    writer.u32(offset).u32(text.length);
    offset += text.length + 1;
  }
  for (const text of texts) writer.bytes(text).u8(0);
  return writer.finish();
}

/** Strings decoded when asked for; only the header is looked at on construction. */
export class StringTable {
  readonly length: number;
  private readonly reader: ByteReader;
  private readonly dataStart: number;

  /** @param bytes the section; FORMAT_TRUNCATED when it cannot hold its entries */
  constructor(bytes: Uint8Array, baseOffset = 0) {
    this.reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
    this.length = this.reader.u32();
    this.reader.skip(4);
    this.reader.need(this.length * STRING_ENTRY_SIZE, `string table with ${this.length} entries`);
    this.dataStart = STRING_TABLE_HEADER_SIZE + this.length * STRING_ENTRY_SIZE;
  }

  /** FORMAT_ID when there is no such string, FORMAT_LENGTH when it reaches past the section, FORMAT_UTF8. */
  get(index: number): string {
    const bytes = this.bytes(index);
    const { reader } = this;
    return decodeUtf8(bytes, { offset: reader.base + bytes.byteOffset - reader.data.byteOffset });
  }

  /** UTF-8 bytes of a string, a view. */
  bytes(index: number): Uint8Array {
    const { reader } = this;
    if (!(index >= 0 && index < this.length && Number.isInteger(index))) {
      throw new UscopeError('FORMAT_ID', `string ${index} is not in the table of ${this.length} strings`, {
        offset: reader.base,
      });
    }
    const entryAt = STRING_TABLE_HEADER_SIZE + index * STRING_ENTRY_SIZE;
    reader.offset = entryAt;
    const start = this.dataStart + reader.u32();
    const size = reader.u32();
    if (start + size > reader.end) {
      throw reader.error(
        'FORMAT_LENGTH',
        `string ${index} of ${size} bytes reaches past the string table`,
        entryAt,
      );
    }
    return reader.data.subarray(start, start + size);
  }
}
