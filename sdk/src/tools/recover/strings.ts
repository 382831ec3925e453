/** The strings of the output: from the commit records, and from the string table where that is still there. */
import type { SectionEntry } from '../../format/section-table.js';
import { STRING_ENTRY_SIZE, STRING_TABLE_HEADER_SIZE } from '../../format/string-table.js';
import { PagedSource } from '../../reader/paged-source.js';
import type { CheckedSource } from '../../reader/source.js';
import { isFormatError } from '../verify/finding.js';

/** Replaces a lost string, so that those after it keep their indices. */
export const LOST_STRING = new TextEncoder().encode('<lost>');

/** A string table that may be damaged: each text, or null. */
export class SavedStrings {
  /** null when the table cannot even hold its entries. */
  static async open(source: CheckedSource, section: SectionEntry | undefined): Promise<SavedStrings | null> {
    if (!section) return null;
    const table = new PagedSource(source, Number(section.offset), Number(section.size), 'the string table');
    try {
      const head = await table.bytes(0, STRING_TABLE_HEADER_SIZE);
      const count = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
      const fits = STRING_TABLE_HEADER_SIZE + count * STRING_ENTRY_SIZE <= table.size;
      return fits ? new SavedStrings(table, count) : null;
    } catch (error) {
      if (!isFormatError(error)) throw error;
      return null;
    }
  }

  private constructor(
    private readonly table: PagedSource,
    readonly count: number,
  ) {}

  async text(index: number): Promise<Uint8Array | null> {
    if (index >= this.count) return null;
    try {
      const at = STRING_TABLE_HEADER_SIZE + index * STRING_ENTRY_SIZE;
      const entry = await this.table.bytes(at, STRING_ENTRY_SIZE);
      const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
      const start = STRING_TABLE_HEADER_SIZE + this.count * STRING_ENTRY_SIZE + view.getUint32(0, true);
      return (await this.table.bytes(start, view.getUint32(4, true))).slice();
    } catch (error) {
      if (!isFormatError(error)) throw error;
      return null;
    }
  }
}
