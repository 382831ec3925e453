/** The tail of a finalized file: section table (§5), segment table (§8.3), string table (§7), trace summary (§6), against what the walk saw. */
import { type FileHeader, Flag } from '../../format/header.js';
import {
  decodeSectionTable,
  SECTION_ENTRY_SIZE,
  type SectionEntry,
  SectionType,
} from '../../format/section-table.js';
import { SEGMENT_ENTRY_SIZE } from '../../format/segment-table.js';
import { STRING_ENTRY_SIZE, STRING_TABLE_HEADER_SIZE } from '../../format/string-table.js';
import {
  coarserSummary,
  decodeTraceSummary,
  encodeTraceSummary,
  type TraceSummary,
} from '../../format/tsum.js';
import { PagedSource } from '../../reader/paged-source.js';
import type { CheckedSource } from '../../reader/source.js';
import type { FindingLog } from './finding.js';
import type { FoundSegment } from './segment-walk.js';

const MAX_TABLE_BYTES = 64 * 1024;
const ALIGNMENT = 8;

export interface Sections {
  readonly entries: readonly SectionEntry[];
  /** Where the first of them begins: segments end before. */
  readonly start: number;
}

/** null (and findings) when there is no usable section table. */
export async function readSections(
  source: CheckedSource,
  header: FileHeader,
  limits: { readonly start: number; readonly size: number; readonly ours: boolean },
  log: FindingLog,
): Promise<Sections | null> {
  const at = Number(header.sectionTableOffset);
  if (at < limits.start || at >= limits.size) {
    const detail = `the section table is said to be at ${at}, the file ends at ${limits.size}: it was cut, or the header is damaged`;
    log.add('error', 'FORMAT_CHAIN', 32, detail);
    return null;
  }
  const bytes = await source.upTo(at, Math.min(MAX_TABLE_BYTES, limits.size - at));
  try {
    const entries = decodeSectionTable(bytes, at, limits.size);
    const tableEnd = at + (entries.length + 1) * SECTION_ENTRY_SIZE;
    checkReserved(bytes, entries.length, at, log);
    const gaps = checkPlaces(entries, { ...limits, at, tableEnd }, log);
    if (limits.ours) await checkPadding(source, gaps, log);
    checkKinds(header, entries, at, log);
    const start = entries.reduce((least, { offset }) => Math.min(least, Number(offset)), at);
    return { entries, start: Math.max(start, limits.start) };
  } catch (error) {
    log.caught(error, at);
    return null;
  }
}

function checkReserved(bytes: Uint8Array, count: number, at: number, log: FindingLog): void {
  for (let i = 0; i <= count; i++) {
    const entry = bytes.subarray(i * SECTION_ENTRY_SIZE, (i + 1) * SECTION_ENTRY_SIZE);
    const reserved = i < count ? entry.subarray(2, 8) : entry;
    if (reserved.some((byte) => byte !== 0)) {
      log.add(
        'warning',
        'FORMAT_VALUE',
        at + i * SECTION_ENTRY_SIZE,
        'reserved bytes of a section entry are not zero',
      );
    }
  }
}

interface Limits {
  readonly start: number;
  readonly size: number;
  readonly ours: boolean;
  readonly at: number;
  readonly tableEnd: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Sections follow each other, up to padding; returns the paddings. */
function checkPlaces(entries: readonly SectionEntry[], limits: Limits, log: FindingLog): Gap[] {
  const { start, size, ours, at, tableEnd } = limits;
  const parts = entries.map(({ type, offset, size: length }) => ({
    what: `section 0x${type.toString(16)}`,
    from: Number(offset),
    to: Number(offset + length),
  }));
  parts.push({ what: 'the section table', from: at, to: tableEnd });
  parts.sort((a, b) => a.from - b.from);
  const gaps: Gap[] = [];
  let before = parts[0];
  if (before.from < start) {
    log.add('error', 'VERIFY_LAYOUT', before.from, `${before.what} lies in the preamble`);
  }
  for (const part of parts.slice(1)) {
    const gap = part.from - before.to;
    if (gap < 0) {
      log.add('error', 'VERIFY_LAYOUT', part.from, `${part.what} overlaps ${before.what}`);
    } else if (ours && gap >= ALIGNMENT) {
      log.add('error', 'VERIFY_LAYOUT', before.to, `${gap} bytes before ${part.what} belong to nothing`);
    } else gaps.push({ from: before.to, to: part.from });
    before = part;
  }
  if (before.to < size) {
    const detail = `${size - before.to} bytes follow the last structure`;
    log.add(ours ? 'error' : 'info', 'VERIFY_LAYOUT', before.to, detail);
  }
  return gaps;
}

async function checkPadding(source: CheckedSource, gaps: readonly Gap[], log: FindingLog): Promise<void> {
  for (const { from, to } of gaps) {
    const bytes = await source.upTo(from, Math.min(ALIGNMENT, to - from));
    if (bytes.some((byte) => byte !== 0)) {
      log.add('warning', 'FORMAT_VALUE', from, 'the padding between two sections is not zero');
    }
  }
}

function checkKinds(header: FileHeader, entries: readonly SectionEntry[], at: number, log: FindingLog): void {
  const kinds = new Set<number>();
  for (const { type } of entries) {
    if (kinds.has(type))
      log.add('error', 'VERIFY_LAYOUT', at, `two sections have the type 0x${type.toString(16)}`);
    kinds.add(type);
  }
  const flagged = (header.flags & Flag.HAS_STRINGS) !== 0;
  if (flagged !== kinds.has(SectionType.STRINGS)) {
    const state = flagged ? 'set, but there is no string table' : 'clear, but there is a string table';
    log.add('error', 'VERIFY_HEADER', 8, `F_HAS_STRINGS is ${state}`);
  }
}

/** Goes along with the walk: entry for segment, segment for entry. */
export class SegmentTableCheck {
  private readonly table: PagedSource;
  private readonly length: number;
  private next = 0;

  constructor(
    source: CheckedSource,
    section: SectionEntry,
    private readonly log: FindingLog,
  ) {
    const size = Number(section.size);
    this.table = new PagedSource(source, Number(section.offset), size, 'the segment table');
    this.length = Math.floor(size / SEGMENT_ENTRY_SIZE);
    if (size % SEGMENT_ENTRY_SIZE !== 0) {
      log.add(
        'error',
        'FORMAT_LENGTH',
        this.table.start,
        `the segment table's ${size} bytes are no multiple of 24`,
      );
    }
  }

  get count(): number {
    return this.length;
  }

  async segment({ offset, header }: FoundSegment): Promise<void> {
    for (; this.next < this.length; this.next++) {
      const entry = await this.entry(this.next);
      if (entry.offset >= BigInt(offset)) break;
      this.missing(entry.offset);
    }
    const entry = this.next < this.length ? await this.entry(this.next) : null;
    if (entry === null || entry.offset !== BigInt(offset)) {
      this.log.add('error', 'FORMAT_CHAIN', offset, `the segment at ${offset} is not in the segment table`);
      return;
    }
    if (entry.start !== header.timeStartPs || entry.end !== header.timeEndPs) {
      const detail = `the segment table says ${entry.start} to ${entry.end} ps, the segment ${header.timeStartPs} to ${header.timeEndPs}`;
      this.log.add('error', 'FORMAT_CHAIN', this.placeOf(this.next), detail);
    }
    this.next++;
  }

  async finish(): Promise<void> {
    for (; this.next < this.length; this.next++) this.missing((await this.entry(this.next)).offset);
  }

  private missing(offset: bigint): void {
    const detail = `the segment table names a segment at ${offset}, where none was found`;
    this.log.add('error', 'FORMAT_CHAIN', this.placeOf(this.next), detail);
  }

  private placeOf(index: number): number {
    return this.table.start + index * SEGMENT_ENTRY_SIZE;
  }

  private async entry(index: number): Promise<{ offset: bigint; start: bigint; end: bigint }> {
    const bytes = await this.table.bytes(index * SEGMENT_ENTRY_SIZE, SEGMENT_ENTRY_SIZE);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return {
      offset: view.getBigUint64(0, true),
      start: view.getBigUint64(8, true),
      end: view.getBigUint64(16, true),
    };
  }
}

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
  /** Where the next text stands if the texts follow each other. */
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
      this.differs(`${this.table.size - end} bytes behind the strings belong to none`);
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

/** @param expected the summary of the frames; null where they could not all be replayed, or the file is not of ours */
export async function checkSummary(
  source: CheckedSource,
  section: SectionEntry,
  expected: TraceSummary | null,
  numStorages: number,
  log: FindingLog,
): Promise<void> {
  const offset = Number(section.offset);
  try {
    const bytes = await source.exactly(offset, Number(section.size), 'the trace summary');
    const summary = decodeTraceSummary(bytes, offset);
    checkShape(summary, numStorages, offset, log);
    if (expected === null || isEmpty(summary)) return;
    // A recorder's file may have longer buckets: late in a long run most of them are of what is gone.
    let should = expected;
    while (should.baseIntervalCycles < summary.baseIntervalCycles) should = coarserSummary(should);
    if (Buffer.compare(bytes, encodeTraceSummary(should)) !== 0) {
      log.add('error', 'VERIFY_SUMMARY', offset, differenceOf(summary, should));
    }
  } catch (error) {
    log.caught(error, offset);
  }
}

/** What a writer leaves that was given no summarizer. */
function isEmpty(summary: TraceSummary): boolean {
  return summary.totalInstructions === 0n && summary.density.length === 0 && summary.counters.length === 0;
}

function checkShape(summary: TraceSummary, numStorages: number, offset: number, log: FindingLog): void {
  const { fanOut, density, counters } = summary;
  const lengths = [
    density.map((level) => level.length),
    ...counters.map(({ levels }) => levels.map((l) => l.sum.length)),
  ];
  const isPyramid = (sizes: readonly number[]): boolean =>
    sizes.every((size, i) => i === 0 || size === Math.ceil(sizes[i - 1] / fanOut));
  if (fanOut < 2 || summary.baseIntervalCycles === 0 || !lengths.every(isPyramid)) {
    log.add('error', 'VERIFY_SUMMARY', offset, 'the levels of the summary do not build on each other');
  }
  for (const { name, storageId } of counters) {
    if (storageId >= numStorages)
      log.add(
        'error',
        'FORMAT_ID',
        offset,
        `counter "${name}" is of storage ${storageId}, which is not defined`,
      );
  }
}

function differenceOf(is: TraceSummary, should: TraceSummary): string {
  if (is.totalInstructions !== should.totalInstructions) {
    return `the summary counts ${is.totalInstructions} instructions, the frames give ${should.totalInstructions}`;
  }
  const sumOf = ({ counters }: TraceSummary, name: string): bigint =>
    counters.find((counter) => counter.name === name)?.levels.at(-1)?.sum[0] ?? 0n;
  const other = should.counters.find(({ name }) => sumOf(is, name) !== sumOf(should, name));
  if (!other) return 'a bucket of the summary is not what the frames give';
  return `the summary has ${sumOf(is, other.name)} for counter "${other.name}", the frames give ${sumOf(should, other.name)}`;
}
