/**
 * Runtime strings (docs/reference/format.md#string-table), which STRING_REF values name by index: from the string table of a finalized file, from the commit records of a live one.
 * Nothing is loaded until it is asked for, and no more is kept than a bounded cache: tables may be larger than memory.
 */
import { isUscopeError } from '../base/errors.js';
import type { SectionEntry } from '../format/section-table.js';
import { STRING_ENTRY_SIZE, STRING_TABLE_HEADER_SIZE } from '../format/string-table.js';
import { wholeNumber } from './arguments.js';
import { CommitStrings } from './commit-strings.js';
import { PagedSource } from './paged-source.js';
import type { SegmentList } from './segment-list.js';
import type { CheckedSource } from './source.js';
import type { Warnings } from './warnings.js';

/** Bytes that decoded strings take, about, of those kept between two calls of `load`. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of a string besides its characters, with its entry of the cache. */
const STRING_BYTES = 64;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export class TraceStrings {
  private readonly cache = new Map<number, string>();
  private cachedBytes = 0;
  private readonly records: CommitStrings;
  private table: PagedSource | null = null;
  private tableLength: number | null = null;
  private tableBytes = 0;

  constructor(
    private readonly source: CheckedSource,
    list: SegmentList,
    private readonly warnings: Warnings,
    ready: () => Promise<void>,
  ) {
    this.records = new CommitStrings(source, list, ready);
  }

  /** The trace has been finalized: from now on its table answers. Not part of the public interface. */
  useTable(section: SectionEntry | undefined): void {
    const [start, size] = section ? [Number(section.offset), Number(section.size)] : [0, 0];
    this.table = new PagedSource(this.source, start, size, 'the string table');
    this.tableBytes = size;
    this.tableLength = section ? null : 0;
  }

  /** Number of strings known now. */
  async count(): Promise<number> {
    return this.table ? this.entries(this.table) : this.records.count();
  }

  /**
   * Text of string `index`; null when the trace has no such string: the index is damaged, the trace has no strings, or (in a live
   * trace of another writer) they are written at its end only.
   * @throws UscopeError READER_RANGE for what is not a whole number
   */
  async get(index: number | bigint): Promise<string | null> {
    const number = Number(wholeNumber(index, 'the index of a string'));
    if (number < 0) return null;
    const known = this.cache.get(number);
    if (known !== undefined) return known;
    await this.load([number]);
    return this.cache.get(number) ?? null;
  }

  /** Text of a string brought in by the last `load` or by `get`; undefined when it was not, or does not exist. For loops that cannot wait. */
  peek(index: number): string | undefined {
    return this.cache.get(index);
  }

  /** Brings strings into memory: until the next call, `peek` answers for all of them that exist. */
  async load(indices: Iterable<number>): Promise<void> {
    if (this.cachedBytes > CACHE_BYTES) {
      this.cache.clear();
      this.cachedBytes = 0;
    }
    const missing = [...indices].filter((index) => !this.cache.has(index)).sort((a, b) => a - b);
    for (const index of missing) {
      if (this.cache.has(index)) continue;
      if (this.table) {
        if (!this.takeFromTable(this.table, index)) await this.loadFromTable(this.table, index);
      } else await this.loadFromRecords(index);
    }
  }

  /**
   * Like `load`, for all strings of a trace whose string table takes at most this number of bytes. False, and nothing was done: it is larger, damaged,
   * or not written yet. Not part of the public interface.
   */
  async loadAll(mostBytes: number): Promise<boolean> {
    if (!this.table || this.tableBytes > mostBytes) return false;
    try {
      await this.load(Array(await this.entries(this.table)).keys());
      return true;
    } catch (error) {
      if (isUscopeError(error)) return false;
      throw error;
    }
  }

  /** Without waiting; false: entry or text are not here, or there is no such string. */
  private takeFromTable(table: PagedSource, index: number): boolean {
    if (this.tableLength === null || index >= this.tableLength) return false;
    const entry = table.peek(STRING_TABLE_HEADER_SIZE + index * STRING_ENTRY_SIZE, STRING_ENTRY_SIZE);
    if (entry === null) return false;
    const start = STRING_TABLE_HEADER_SIZE + this.tableLength * STRING_ENTRY_SIZE + wordAt(entry, 0);
    const text = table.peek(start, wordAt(entry, 4));
    if (text !== null) this.keep(index, text);
    return text !== null;
  }

  private async loadFromTable(table: PagedSource, index: number): Promise<void> {
    const length = await this.entries(table);
    if (index >= length) return;
    const entry = await table.bytes(STRING_TABLE_HEADER_SIZE + index * STRING_ENTRY_SIZE, STRING_ENTRY_SIZE);
    const start = STRING_TABLE_HEADER_SIZE + length * STRING_ENTRY_SIZE + wordAt(entry, 0);
    this.keep(index, await table.bytes(start, wordAt(entry, 4)));
  }

  private async loadFromRecords(index: number): Promise<void> {
    const found = await this.records.around(index);
    found?.texts.forEach((text, i) => {
      this.keep(found.first + i, text);
    });
  }

  /** Number of entries, checked against the section's size. */
  private async entries(table: PagedSource): Promise<number> {
    if (this.tableLength === null) {
      const head = await table.bytes(0, STRING_TABLE_HEADER_SIZE);
      const count = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
      if (count > 0)
        await table.bytes(STRING_TABLE_HEADER_SIZE + (count - 1) * STRING_ENTRY_SIZE, STRING_ENTRY_SIZE);
      this.tableLength = count;
    }
    return this.tableLength;
  }

  private keep(index: number, bytes: Uint8Array): void {
    const text = this.decode(index, bytes);
    this.cache.set(index, text);
    this.cachedBytes += text.length + STRING_BYTES;
  }

  /** Writers in C store whatever bytes they are given: a bad one must not hide the rest of the trace. */
  private decode(index: number, bytes: Uint8Array): string {
    try {
      return strictUtf8.decode(bytes);
    } catch {
      this.warnings.add(
        'string-not-utf8',
        `string ${index} is not valid UTF-8; bad bytes are shown as U+FFFD`,
      );
      return lenientUtf8.decode(bytes);
    }
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
