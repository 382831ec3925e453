/**
 * Strings of a trace that has no string table yet: each commit record carries those first used before it. String indices rise from segment to
 * segment, so the record that holds one is found by bisection, without reading the others.
 */
import { align8 } from '../base/bytes.js';
import { COMMIT_HEADER_SIZE, commitRecordSize, decodeCommitRecord } from '../format/commit-record.js';
import { readSegmentHeader, type SegmentList, segmentSize } from './segment-list.js';
import type { CheckedSource } from './source.js';

const NUM_STRINGS_AT = 12;
const NEXT_STRING_AT = 32;

interface RecordPlace {
  readonly offset: number;
  readonly size: number;
  readonly firstString: number;
  readonly nextString: number;
}

/** File offset of the commit record of a segment that ends at `segmentEnd`. */
export function commitRecordOffset(segmentEnd: number): number {
  return align8Large(segmentEnd);
}

/** `align8` works on 32 bits; file offsets have more. */
function align8Large(offset: number): number {
  const rest = offset % 8;
  return offset - rest + align8(rest);
}

export class CommitStrings {
  private readonly places = new Map<number, RecordPlace | null>();

  constructor(
    private readonly source: CheckedSource,
    private readonly list: SegmentList,
    /** Brings in the list of segments, where that waits to be needed. */
    private readonly ready: () => Promise<void>,
  ) {}

  /** Number of strings committed so far; 0 when the file has no commit records. */
  async count(): Promise<number> {
    await this.ready();
    const last = this.list.count - 1;
    return last < 0 ? 0 : ((await this.place(last))?.nextString ?? 0);
  }

  /** All strings of the record that holds string `index`, and the index of its first; null when there is none. */
  async around(index: number): Promise<{ first: number; texts: readonly Uint8Array[] } | null> {
    await this.ready();
    const segment = await this.find(index);
    const place = segment === null ? null : await this.place(segment);
    if (!place || index < place.firstString || index >= place.nextString) return null;
    const bytes = await this.source.exactly(place.offset, place.size, 'a commit record');
    return { first: place.firstString, texts: decodeCommitRecord(bytes, place.offset).strings };
  }

  /** The first segment whose record ends above string `index`; null when a record is missing or none does. */
  private async find(index: number): Promise<number | null> {
    let low = 0;
    let high = this.list.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const place = await this.place(middle);
      if (!place) return null;
      if (place.nextString > index) high = middle;
      else low = middle + 1;
    }
    return low < this.list.count ? low : null;
  }

  private async place(segment: number): Promise<RecordPlace | null> {
    let place = this.places.get(segment);
    if (place === undefined) {
      place = await this.locate((await this.list.entry(segment)).offset);
      this.places.set(segment, place);
    }
    return place;
  }

  private async locate(segmentOffset: number): Promise<RecordPlace | null> {
    const header = await readSegmentHeader(this.source, segmentOffset);
    const offset = commitRecordOffset(segmentOffset + segmentSize(header));
    const prefix = await this.source.upTo(offset, COMMIT_HEADER_SIZE);
    const size = commitRecordSize(prefix);
    if (size === 0) return null;
    const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength);
    const nextString = Number(view.getBigUint64(NEXT_STRING_AT, true));
    return { offset, size, firstString: nextString - view.getUint32(NUM_STRINGS_AT, true), nextString };
  }
}
