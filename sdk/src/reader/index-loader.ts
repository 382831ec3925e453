/** Header, preamble and tables of a trace: what opening it reads, and what finalization adds. */
import { UscopeError } from '../base/errors.js';
import type { Crc32 } from '../format/commit-record.js';
import { decodeHeader, type FileHeader, Flag, HEADER_SIZE, HEADER_TAIL_OFFSET } from '../format/header.js';
import { decodePreamble, type Preamble } from '../format/preamble.js';
import { checkPreamble, type PreambleCheck } from '../format/preamble-check.js';
import { decodeSectionTable, type SectionEntry, SectionType } from '../format/section-table.js';
import { walkChain } from './segment-chain.js';
import { chainError, type SegmentColumns, type SegmentPlaces, safeOffset } from './segment-list.js';
import { SegmentTableIndex } from './segment-table-index.js';
import type { CheckedSource } from './source.js';

/** Preambles hold a schema of at most a few MiB; more than this is damage. */
const MAX_PREAMBLE_BYTES = 256 * 1024 * 1024;
/** Bytes looked at for the END entry of the section table: more than 2,700 sections. */
const MAX_SECTION_TABLE_BYTES = 64 * 1024;

export function isComplete(header: FileHeader): boolean {
  return (header.flags & Flag.COMPLETE) !== 0;
}

/** @throws UscopeError FORMAT_MAGIC, FORMAT_VERSION, FORMAT_TRUNCATED, … */
export async function readHeader(source: CheckedSource): Promise<FileHeader> {
  // A file shorter than a header may still begin with something else than our magic: then that is the better message.
  return decodeHeader(await source.upTo(0, HEADER_SIZE));
}

/** @param crc32 a faster one than our own */
export async function readPreamble(
  source: CheckedSource,
  header: FileHeader,
  crc32?: Crc32 | undefined,
): Promise<{ preamble: Preamble; check: PreambleCheck }> {
  const length = header.preambleEnd - HEADER_SIZE;
  if (length > MAX_PREAMBLE_BYTES) {
    throw new UscopeError(
      'FORMAT_LENGTH',
      `preamble_end ${header.preambleEnd} makes a preamble of ${length} bytes`,
      {
        offset: 28,
      },
    );
  }
  const bytes = await source.exactly(HEADER_SIZE, length, 'the preamble');
  const preamble = decodePreamble(bytes, header.versionMinor);
  return { preamble, check: checkPreamble(header, bytes, crc32) };
}

/**
 * The section table of a finalized file; every section lies within the file, and the segment table has the length that the header says: nobody
 * counts to a number that nothing holds.
 */
export async function readSections(source: CheckedSource, header: FileHeader): Promise<SectionEntry[]> {
  const offset = safeOffset(header.sectionTableOffset, 32);
  if (offset < header.preambleEnd) {
    chainError(
      `the section table at ${offset} lies before the end of the preamble at ${header.preambleEnd}`,
      32,
    );
  }
  if (!(await source.reaches(offset + 1))) {
    throw new UscopeError(
      'FORMAT_TRUNCATED',
      `the trace was finalized with its section table at ${offset}, but the file ends before: it was cut`,
      { offset },
    );
  }
  const sections = decodeSectionTable(await source.upTo(offset, MAX_SECTION_TABLE_BYTES), offset);
  for (const { type, offset: start, size } of sections) {
    if (await source.reaches(safeOffset(start + size, offset))) continue;
    throw new UscopeError(
      'FORMAT_LENGTH',
      `section 0x${type.toString(16)} of ${size} bytes at ${start} reaches past the end of the file`,
      { offset },
    );
  }
  const segments = findSection(sections, SectionType.SEGMENTS);
  if (segments) SegmentTableIndex.checkCount(header, segments);
  return sections;
}

export function findSection(sections: readonly SectionEntry[], type: number): SectionEntry | undefined {
  return sections.find((section) => section.type === type);
}

export async function readSection(
  source: CheckedSource,
  section: SectionEntry,
  what: string,
): Promise<Uint8Array> {
  return source.exactly(Number(section.offset), Number(section.size), what);
}

/**
 * The segments of a finalized file, from its segment table; the chain where it has none.
 * @throws UscopeError FORMAT_CHAIN when table and header disagree.
 */
export async function openSegmentTable(
  source: CheckedSource,
  header: FileHeader,
  sections: readonly SectionEntry[],
): Promise<SegmentPlaces> {
  const section = findSection(sections, SectionType.SEGMENTS);
  return section ? SegmentTableIndex.open(source, header, section) : readChain(source, header, 0);
}

/** Segments above `knownTail` (0: all), by walking the chain from the header's tail_offset. */
export async function readChain(
  source: CheckedSource,
  header: FileHeader,
  knownTail: number,
): Promise<SegmentColumns> {
  const tail = safeOffset(header.tailOffset, HEADER_TAIL_OFFSET);
  return walkChain(source, { tail, preambleEnd: header.preambleEnd, knownTail });
}
