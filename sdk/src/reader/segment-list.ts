/**
 * Finds the segments: in the segment table of a finalized file (docs/reference/format.md#segment-table), which is looked into page by page and never held as a whole, or in
 * memory, as the chain of a live one gave them (docs/reference/format.md#segment-chain).
 */
import { UscopeError } from '../base/errors.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../format/segment.js';
import type { CheckedSource } from './source.js';

export interface SegmentEntry {
  /** File offset of the segment header. */
  readonly offset: number;
  readonly timeStartPs: bigint;
  /** Exclusive in files of ours; other writers store the last frame's time. Nothing is decided by it but reports. */
  readonly timeEndPs: bigint;
}

/** Anything that says where segment `index` is. `index` is below `count`. */
export interface SegmentPlaces {
  readonly count: number;
  entry(index: number): SegmentEntry | Promise<SegmentEntry>;
}

/** Entries in memory, 24 bytes each. */
export class SegmentColumns implements SegmentPlaces {
  count = 0;
  private offsets = new Float64Array(16);
  private starts = new BigUint64Array(16);
  private ends = new BigUint64Array(16);

  entry(index: number): SegmentEntry {
    return {
      offset: this.offsets[index],
      timeStartPs: this.starts[index],
      timeEndPs: this.ends[index],
    };
  }

  push({ offset, timeStartPs, timeEndPs }: SegmentEntry): void {
    if (this.count === this.offsets.length) this.grow();
    this.offsets[this.count] = offset;
    this.starts[this.count] = timeStartPs;
    this.ends[this.count] = timeEndPs;
    this.count++;
  }

  /** Turns the order round: a chain is walked from its end. */
  reverse(): this {
    for (const column of [this.offsets, this.starts, this.ends]) column.subarray(0, this.count).reverse();
    return this;
  }

  private grow(): void {
    const { offsets, starts, ends } = this;
    this.offsets = new Float64Array(this.count * 2);
    this.starts = new BigUint64Array(this.count * 2);
    this.ends = new BigUint64Array(this.count * 2);
    this.offsets.set(offsets);
    this.starts.set(starts);
    this.ends.set(ends);
  }
}

/** The segments of a trace, wherever they are listed. */
export class SegmentList {
  private readonly known = new SegmentColumns();
  private places: SegmentPlaces = this.known;

  get count(): number {
    return this.places.count;
  }

  /** End of the last segment of a live trace; 0 without one. */
  get lastEndPs(): bigint {
    return this.known.count > 0 ? this.known.entry(this.known.count - 1).timeEndPs : 0n;
  }

  /** Offset of the last segment that came from the chain; 0 without one. */
  get knownTail(): number {
    return this.known.count > 0 ? this.known.entry(this.known.count - 1).offset : 0;
  }

  /** @throws UscopeError READER_RANGE when there is no such segment, FORMAT_CHAIN for a table entry that leads nowhere */
  async entry(index: number): Promise<SegmentEntry> {
    if (Number.isInteger(index) && index >= 0 && index < this.count) return this.places.entry(index);
    throw new UscopeError('READER_RANGE', `there is no segment ${index}: the trace has ${this.count}`);
  }

  /**
   * Adds what a chain has grown by: all of it, or (when it does not continue what is there) nothing.
   * @throws UscopeError FORMAT_CHAIN
   */
  append(added: SegmentColumns): void {
    let previous = this.known.count > 0 ? this.known.entry(this.known.count - 1) : null;
    for (let i = 0; i < added.count; i++) {
      const entry = added.entry(i);
      if (previous) checkOrder(previous, entry);
      previous = entry;
    }
    for (let i = 0; i < added.count; i++) this.known.push(added.entry(i));
  }

  /**
   * From now on the table of the finalized file answers, if it continues what is known.
   * @returns false when the table is about other segments than those known
   */
  async useTable(table: SegmentPlaces): Promise<boolean> {
    const { known } = this;
    if (table.count < known.count) return false;
    for (let i = 0; i < known.count; i++) {
      if ((await table.entry(i)).offset !== known.entry(i).offset) return false;
    }
    this.places = table;
    return true;
  }

  /**
   * The segment whose checkpoint and frames give the state at `timePs`: the last that starts at or before it. Every frame of an earlier
   * segment lies at or before that start, whether ends are stored inclusive or exclusive. -1: before the first segment.
   */
  async lastStartingAtOrBefore(timePs: bigint): Promise<number> {
    return (await this.lowerBound((entry) => entry.timeStartPs > timePs)) - 1;
  }

  /**
   * The first segment that may hold frames at or after `fromPs`. The last one that starts *before* it may still reach it, and several
   * may start exactly there (a hard cut inside one instant).
   */
  async firstReaching(fromPs: bigint): Promise<number> {
    if (fromPs <= 0n) return 0;
    return Math.max(0, (await this.lowerBound((entry) => entry.timeStartPs >= fromPs)) - 1);
  }

  /** Index of the first entry for which the (monotone) predicate holds; `count` if for none. */
  private async lowerBound(holds: (entry: SegmentEntry) => boolean): Promise<number> {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (holds(await this.places.entry(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** @throws UscopeError FORMAT_CHAIN when a segment does not follow its predecessor in file and time. */
export function checkOrder(previous: SegmentEntry, entry: SegmentEntry): void {
  if (entry.offset < previous.offset + SEGMENT_HEADER_SIZE) {
    chainError(`segment at ${entry.offset} does not follow the one at ${previous.offset}`, entry.offset);
  }
  if (entry.timeStartPs < previous.timeStartPs) {
    chainError(
      `segment starts at ${entry.timeStartPs} ps, before its predecessor (${previous.timeStartPs} ps)`,
      entry.offset,
    );
  }
}

export async function readSegmentHeader(source: CheckedSource, offset: number): Promise<SegmentHeader> {
  return decodeSegmentHeader(await source.exactly(offset, SEGMENT_HEADER_SIZE, 'a segment header'), offset);
}

/** Bytes of header, checkpoint and deltas on disk. */
export function segmentSize(header: SegmentHeader): number {
  return SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
}

/** A 64-bit file offset as a number. @throws UscopeError FORMAT_CHAIN when no file can be that long. */
export function safeOffset(value: bigint, at: number): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) chainError(`offset ${value} lies outside any file`, at);
  return Number(value);
}

export function chainError(detail: string, offset: number): never {
  throw new UscopeError('FORMAT_CHAIN', detail, { offset });
}
