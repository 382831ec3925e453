/** The segment table (docs/reference/format.md#segment-table) against the segments that the walk finds. */
import type { SectionEntry } from '../../format/section-table.js';
import { SEGMENT_ENTRY_SIZE } from '../../format/segment.js';
import { PagedSource } from '../../reader/paged-source.js';
import type { CheckedSource } from '../../reader/source.js';
import type { FindingLog } from './finding.js';
import type { FoundSegment } from './segment-walk.js';

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
        `the segment table's ${size} bytes are not a multiple of 24`,
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
