/** Section table (docs/reference/format.md#section-table): 24-byte entries, ended by one of 24 zero bytes. Written when a trace is finalized. */
import { ByteReader, ByteWriter } from '../base/bytes.js';

export const SECTION_ENTRY_SIZE = 24;

export const SectionType = {
  END: 0x0000,
  SUMMARY: 0x0001,
  STRINGS: 0x0002,
  SEGMENTS: 0x0003,
  /** TSUM or CSUM. */
  COUNTER_SUMMARY: 0x0010,
} as const;

export interface SectionEntry {
  /** A `SectionType`, or one this release does not know. */
  readonly type: number;
  readonly flags: number;
  /** File offset and size in bytes. */
  readonly offset: bigint;
  readonly size: bigint;
}

/** The entries given, then END. */
export function encodeSectionTable(entries: readonly SectionEntry[]): Uint8Array {
  const writer = new ByteWriter((entries.length + 1) * SECTION_ENTRY_SIZE);
  for (const entry of entries) {
    writer.u16(entry.type).u16(entry.flags).u32(0).u64(entry.offset).u64(entry.size);
  }
  return writer.zeros(SECTION_ENTRY_SIZE).finish();
}

/**
 * Entries up to END; bytes after it are ignored. With `fileSize` every section must lie inside the file.
 * Errors: FORMAT_TRUNCATED (END missing), FORMAT_LENGTH (a section reaches past the file).
 */
export function decodeSectionTable(
  bytes: Uint8Array,
  baseOffset = 0,
  fileSize?: number | bigint,
): SectionEntry[] {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const entries: SectionEntry[] = [];
  for (;;) {
    const at = reader.offset;
    reader.need(SECTION_ENTRY_SIZE, 'section table without END: entry');
    const type = reader.u16();
    const flags = reader.u16();
    reader.skip(4);
    const offset = reader.u64();
    const size = reader.u64();
    if (type === SectionType.END) return entries;
    if (fileSize !== undefined && offset + size > BigInt(fileSize)) {
      const range = `${offset}..${offset + size}`;
      throw reader.error(
        'FORMAT_LENGTH',
        `section of type ${type} at ${range} reaches past the file's ${fileSize} bytes`,
        at,
      );
    }
    entries.push({ type, flags, offset, size });
  }
}
