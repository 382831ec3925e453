/**
 * Where the segments are: from the segment table of a finalized file (§8.3) or by walking the chain of a live one (§8.2).
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

export class SegmentList {
  readonly entries: SegmentEntry[] = [];

  get count(): number {
    return this.entries.length;
  }

  /** @throws UscopeError FORMAT_CHAIN when the segments do not follow each other in file and time. */
  append(added: readonly SegmentEntry[]): void {
    let previous = this.entries.at(-1);
    for (const entry of added) {
      if (previous && entry.offset < previous.offset + SEGMENT_HEADER_SIZE) {
        chainError(`segment at ${entry.offset} does not follow the one at ${previous.offset}`, entry.offset);
      }
      if (previous && entry.timeStartPs < previous.timeStartPs) {
        chainError(
          `segment starts at ${entry.timeStartPs} ps, before its predecessor (${previous.timeStartPs} ps)`,
          entry.offset,
        );
      }
      this.entries.push(entry);
      previous = entry;
    }
  }

  /**
   * The segment whose checkpoint and frames give the state at `timePs`: the last that starts at or before it. Every frame of an earlier
   * segment lies at or before that start, whether ends are stored inclusive or exclusive. -1: before the first segment.
   */
  lastStartingAtOrBefore(timePs: bigint): number {
    return this.lowerBound((entry) => entry.timeStartPs > timePs) - 1;
  }

  /**
   * The first segment that may hold frames at or after `fromPs`. The last one that starts *before* it may still reach it, and several
   * may start exactly there (a hard cut inside one instant).
   */
  firstReaching(fromPs: bigint): number {
    return Math.max(0, this.lowerBound((entry) => entry.timeStartPs >= fromPs) - 1);
  }

  /** Index of the first entry for which the (monotone) predicate holds; `count` if for none. */
  private lowerBound(holds: (entry: SegmentEntry) => boolean): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(this.entries[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export interface ChainLimits {
  /** Offset the chain starts from (tail_offset). */
  readonly tail: number;
  /** No segment may lie below. */
  readonly preambleEnd: number;
  /** Stop at this segment, already known; 0 walks to the first. */
  readonly knownTail: number;
}

/**
 * Follows `prev_segment_offset` from the tail down; returns the segments above `knownTail` in file order. Offsets must fall strictly and a
 * segment must end before its successor begins, so a loop or a forward link ends the walk with an error, never with a hang.
 * @throws UscopeError FORMAT_CHAIN, FORMAT_TRUNCATED, FORMAT_MAGIC
 */
export async function walkChain(source: CheckedSource, limits: ChainLimits): Promise<SegmentEntry[]> {
  const found: SegmentEntry[] = [];
  let offset = limits.tail;
  let successor = Number.POSITIVE_INFINITY;
  while (offset !== limits.knownTail) {
    if (offset < Math.max(limits.preambleEnd, limits.knownTail)) {
      chainError(
        `the segment chain leads to ${offset}, ${limits.knownTail ? 'past the segments already seen' : 'into the preamble'}`,
        offset,
      );
    }
    const header = await readSegmentHeader(source, offset);
    if (offset + segmentSize(header) > successor) {
      chainError(`the segment at ${offset} reaches into its successor at ${successor}`, offset);
    }
    found.push({ offset, timeStartPs: header.timeStartPs, timeEndPs: header.timeEndPs });
    const previous = safeOffset(header.prevSegmentOffset, offset);
    if (previous >= offset) {
      chainError(
        `the segment at ${offset} names ${previous} as its predecessor: the chain must lead backward`,
        offset,
      );
    }
    successor = offset;
    offset = previous;
  }
  await requireWhole(source, found[0]?.offset);
  return found.reverse();
}

/** Only the tail's size is not bounded by a successor: it must fit into the file. */
async function requireWhole(source: CheckedSource, tail: number | undefined): Promise<void> {
  if (tail === undefined) return;
  const header = await readSegmentHeader(source, tail);
  if (await source.reaches(tail + segmentSize(header))) return;
  throw new UscopeError(
    'FORMAT_TRUNCATED',
    `the last segment at ${tail} needs ${segmentSize(header)} bytes and the file ends before; it was cut`,
    { offset: tail },
  );
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
