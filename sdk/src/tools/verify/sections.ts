/** The section table of a finalized file (docs/reference/format.md#section-table): its entries, their places, and what lies between them. */
import { type FileHeader, Flag } from '../../format/header.js';
import {
  decodeSectionTable,
  SECTION_ENTRY_SIZE,
  type SectionEntry,
  SectionType,
} from '../../format/section-table.js';
import type { CheckedSource } from '../../reader/source.js';
import type { FindingLog } from './finding.js';

const MAX_TABLE_BYTES = 64 * 1024;
const ALIGNMENT = 8;

export interface Sections {
  readonly entries: readonly SectionEntry[];
  /** Where the first of them begins: segments end before. */
  readonly start: number;
  /** Where the section table ends. */
  readonly end: number;
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
    return { entries, start: Math.max(start, limits.start), end: Math.min(tableEnd, limits.size) };
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
