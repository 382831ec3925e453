/** The segment table of a finalized file (docs/reference/format.md#segment-table), looked into where it is asked: a table of a million segments costs no more than one of ten. */
import { type FileHeader, HEADER_NUM_SEGMENTS_OFFSET } from '../format/header.js';
import type { SectionEntry } from '../format/section-table.js';
import { SEGMENT_ENTRY_SIZE, SEGMENT_HEADER_SIZE } from '../format/segment.js';
import { PagedSource } from './paged-source.js';
import { chainError, checkOrder, type SegmentEntry, type SegmentPlaces, safeOffset } from './segment-list.js';
import type { CheckedSource } from './source.js';

export class SegmentTableIndex implements SegmentPlaces {
  private constructor(
    private readonly source: CheckedSource,
    private readonly table: PagedSource,
    private readonly preambleEnd: number,
    readonly count: number,
  ) {}

  /** @throws UscopeError FORMAT_CHAIN when the table's length and the header's number of segments disagree */
  static checkCount({ numSegments }: FileHeader, { offset, size: bytes }: SectionEntry): void {
    const [size, start] = [Number(bytes), Number(offset)];
    if (size === numSegments * SEGMENT_ENTRY_SIZE) return;
    chainError(
      `the segment table of ${size} bytes lists ${size / SEGMENT_ENTRY_SIZE} segments, the header says ${numSegments}`,
      size % SEGMENT_ENTRY_SIZE === 0 ? HEADER_NUM_SEGMENTS_OFFSET : start,
    );
  }

  /**
   * @param section that `checkCount` has found right
   * @throws UscopeError FORMAT_LENGTH, FORMAT_CHAIN when table and header disagree
   */
  static async open(
    source: CheckedSource,
    header: FileHeader,
    section: SectionEntry,
  ): Promise<SegmentTableIndex> {
    const [start, size] = [Number(section.offset), Number(section.size)];
    const table = new PagedSource(source, start, size, 'the segment table');
    const count = header.numSegments;
    const index = new SegmentTableIndex(source, table, header.preambleEnd, count);
    const tail = count > 0 ? (await index.entry(count - 1)).offset : 0;
    if (BigInt(tail) !== header.tailOffset) {
      chainError(
        `the segment table ends with a segment at ${tail}, the header names one at ${header.tailOffset}`,
        start,
      );
    }
    return index;
  }

  /** @throws UscopeError FORMAT_CHAIN for an offset where no segment can be, or one that does not follow its predecessor */
  async entry(index: number): Promise<SegmentEntry> {
    const first = Math.max(0, index - 1);
    const at = first * SEGMENT_ENTRY_SIZE;
    const bytes = await this.table.bytes(at, (index - first + 1) * SEGMENT_ENTRY_SIZE);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const fileOffset = this.table.start + at;
    const entry = decodeEntry(view, index > first ? SEGMENT_ENTRY_SIZE : 0, fileOffset);
    if (index > first) checkOrder(decodeEntry(view, 0, fileOffset), entry);
    if (entry.offset < this.preambleEnd || !(await this.source.reaches(entry.offset + SEGMENT_HEADER_SIZE))) {
      chainError(
        `the segment table names a segment at ${entry.offset}, where there can be none`,
        this.table.start + index * SEGMENT_ENTRY_SIZE,
      );
    }
    return entry;
  }
}

function decodeEntry(view: DataView, at: number, fileOffset: number): SegmentEntry {
  return {
    offset: safeOffset(view.getBigUint64(at, true), fileOffset + at),
    timeStartPs: view.getBigUint64(at + 8, true),
    timeEndPs: view.getBigUint64(at + 16, true),
  };
}
