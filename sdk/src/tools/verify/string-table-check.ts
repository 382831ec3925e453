/** The string table (docs/reference/format.md#string-table) against the strings of the commit records. */
import type { SectionEntry } from '../../format/section-table.js';
import { STRING_ENTRY_SIZE, STRING_TABLE_HEADER_SIZE } from '../../format/string-table.js';
import { PagedSource } from '../../reader/paged-source.js';
import type { CheckedSource } from '../../reader/source.js';
import type { FindingLog } from './finding.js';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The string table, string by string: those of the commit records as the walk brings them, then the rest. */
export class StringTableCheck {
  private next = 0;
  /** Where the next text is if the texts follow each other. */
  private expectedOffset = 0;
  private failed = false;

  static async open(
    source: CheckedSource,
    section: SectionEntry,
    ours: boolean,
    log: FindingLog,
  ): Promise<StringTableCheck | null> {
    const table = new PagedSource(source, Number(section.offset), Number(section.size), 'the string table');
    try {
      const head = await table.bytes(0, STRING_TABLE_HEADER_SIZE);
      const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
      const count = view.getUint32(0, true);
      if (view.getUint32(4, true) !== 0) {
        log.add(
          'warning',
          'FORMAT_VALUE',
          table.start + 4,
          'reserved bytes of the string table are not zero',
        );
      }
      if (STRING_TABLE_HEADER_SIZE + count * STRING_ENTRY_SIZE > table.size) {
        log.add(
          'error',
          'FORMAT_LENGTH',
          table.start,
          `the string table's ${table.size} bytes cannot hold ${count} entries`,
        );
        return null;
      }
      return new StringTableCheck(table, count, ours, log);
    } catch (error) {
      log.caught(error, table.start);
      return null;
    }
  }

  private constructor(
    private readonly table: PagedSource,
    readonly count: number,
    private readonly ours: boolean,
    private readonly log: FindingLog,
  ) {}

  /** The strings of a commit record, the first of them with this index. */
  async record(first: number, texts: readonly Uint8Array[]): Promise<void> {
    if (this.failed) return;
    await this.skipTo(first);
    for (const text of texts) {
      if (this.next >= this.count) {
        this.differs(`the commit records hold string ${this.next}, the string table ends before`);
        return;
      }
      const index = this.next;
      const stored = await this.text();
      if (stored && Buffer.compare(stored, text) !== 0)
        this.differs(`string ${index} is not the one recorded`);
    }
  }

  /** Strings that no record brought. */
  async finish(): Promise<void> {
    await this.skipTo(this.count);
    const end = this.textStart + this.expectedOffset;
    if (this.ours && !this.failed && end !== this.table.size) {
      this.differs(`${this.table.size - end} bytes after the strings belong to none`);
    }
  }

  private async skipTo(index: number): Promise<void> {
    while (this.next < Math.min(index, this.count) && !this.failed) await this.text();
  }

  private get textStart(): number {
    return STRING_TABLE_HEADER_SIZE + this.count * STRING_ENTRY_SIZE;
  }

  /** Text of the next string; null (and a finding) when it lies outside. */
  private async text(): Promise<Uint8Array | null> {
    const index = this.next++;
    const at = STRING_TABLE_HEADER_SIZE + index * STRING_ENTRY_SIZE;
    try {
      const entry = await this.table.bytes(at, STRING_ENTRY_SIZE);
      const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
      const [offset, length] = [view.getUint32(0, true), view.getUint32(4, true)];
      if (this.ours && offset !== this.expectedOffset)
        this.differs(`string ${index} does not follow the one before`);
      this.expectedOffset = offset + length + 1;
      const withNul = await this.table.bytes(this.textStart + offset, length + 1);
      if (withNul[length] !== 0) {
        this.log.add(
          'error',
          'FORMAT_VALUE',
          this.table.start + at,
          `string ${index} does not end with a NUL`,
        );
      }
      const text = withNul.subarray(0, length);
      if (!isUtf8(text)) {
        this.log.add(
          'warning',
          'FORMAT_UTF8',
          this.table.start + this.textStart + offset,
          `string ${index} is not UTF-8`,
        );
      }
      return text;
    } catch (error) {
      this.log.caught(error, this.table.start + at);
      return null;
    }
  }

  private differs(detail: string): void {
    this.failed = true;
    this.log.add('error', 'VERIFY_STRINGS', this.table.start, detail);
  }
}
