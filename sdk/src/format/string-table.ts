/** String table (docs/reference/format.md#string-table): runtime strings that FT_STRING_REF fields name by index. */
import { ByteWriter } from '../base/bytes.js';

export const STRING_TABLE_HEADER_SIZE = 8;
export const STRING_ENTRY_SIZE = 8;

/** Streaming writers: header (8 bytes), then every entry, then every text with its NUL. */
export function encodeStringTableHeader(numEntries: number): Uint8Array {
  return new ByteWriter(STRING_TABLE_HEADER_SIZE).u32(numEntries).u32(0).finish();
}

/** Streaming writers: puts one entry (8 bytes) at `target[at]`. `offset` counts from the end of the entries, `length` without the NUL. */
export function putStringEntry(target: Uint8Array, at: number, offset: number, length: number): void {
  // Without a view: there may be millions.
  for (let byte = 0; byte < 4; byte++) {
    target[at + byte] = offset >>> (8 * byte);
    target[at + 4 + byte] = length >>> (8 * byte);
  }
}
