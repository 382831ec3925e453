/**
 * The tables of a finalized trace as a whole: of strings (docs/reference/format.md#string-table) and of segments (docs/reference/format.md#segment-table). The
 * library writes them piece by piece and looks up single entries.
 */
import { ByteReader, ByteWriter } from '../../sdk/src/base/bytes.js';
import { UscopeError } from '../../sdk/src/base/errors.js';
import { decodeUtf8, encodeUtf8 } from '../../sdk/src/base/utf8.js';
import { SEGMENT_ENTRY_SIZE, type SegmentIndexEntry } from '../../sdk/src/format/segment.js';
import {
  encodeStringTableHeader,
  STRING_ENTRY_SIZE,
  STRING_TABLE_HEADER_SIZE,
} from '../../sdk/src/format/string-table.js';

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

export function encodeSegmentTable(entries: readonly SegmentIndexEntry[]): Uint8Array {
  const writer = new ByteWriter(entries.length * SEGMENT_ENTRY_SIZE);
  for (const entry of entries) writer.u64(entry.offset).u64(entry.timeStartPs).u64(entry.timeEndPs);
  return writer.finish();
}

/** FORMAT_LENGTH when the section is not a multiple of 24 bytes. Order and offsets are for the reader to check. */
export function decodeSegmentTable(bytes: Uint8Array, baseOffset = 0): SegmentIndexEntry[] {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  if (bytes.length % SEGMENT_ENTRY_SIZE !== 0) {
    throw reader.error(
      'FORMAT_LENGTH',
      `segment table of ${bytes.length} bytes is not a multiple of ${SEGMENT_ENTRY_SIZE}`,
    );
  }
  const entries: SegmentIndexEntry[] = [];
  while (reader.remaining > 0) {
    const offset = reader.u64();
    const timeStartPs = reader.u64();
    entries.push({ offset, timeStartPs, timeEndPs: reader.u64() });
  }
  return entries;
}
