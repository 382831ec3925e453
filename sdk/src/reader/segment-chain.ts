/** The chain of segments of a live file (docs/reference/format.md#segment-chain), walked from its tail. */
import { UscopeError } from '../base/errors.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../format/segment.js';
import { chainError, readSegmentHeader, SegmentColumns, safeOffset, segmentSize } from './segment-list.js';
import type { CheckedSource } from './source.js';

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
export async function walkChain(source: CheckedSource, limits: ChainLimits): Promise<SegmentColumns> {
  const found = new SegmentColumns();
  const headers = new BackwardHeaders(source, limits.knownTail);
  let offset = limits.tail;
  let successor = Number.POSITIVE_INFINITY;
  if (offset !== limits.knownTail) await requireWhole(source, limits);
  while (offset !== limits.knownTail) {
    checkPlace(offset, limits);
    const header = await headers.at(offset);
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
  return found.reverse();
}

function checkPlace(offset: number, { preambleEnd, knownTail }: ChainLimits): void {
  if (offset >= Math.max(preambleEnd, knownTail)) return;
  const where = knownTail ? 'past the segments already seen' : 'into the preamble';
  chainError(`the segment chain leads to ${offset}, ${where}`, offset);
}

/** Only the tail's size is not bounded by a successor: it must fit into the file. */
async function requireWhole(source: CheckedSource, limits: ChainLimits): Promise<void> {
  const { tail } = limits;
  checkPlace(tail, limits);
  const header = await readSegmentHeader(source, tail);
  if (await source.reaches(tail + segmentSize(header))) return;
  throw new UscopeError(
    'FORMAT_TRUNCATED',
    `the last segment at ${tail} needs ${segmentSize(header)} bytes and the file ends before; it was cut`,
    { offset: tail },
  );
}

const WINDOW_BYTES = 64 * 1024;

/** Headers from the end of a file to its beginning. Where segments are small, one read brings many of them. */
class BackwardHeaders {
  private window: Uint8Array = new Uint8Array(0);
  private start = 0;
  private last = Number.POSITIVE_INFINITY;

  constructor(
    private readonly source: CheckedSource,
    /** Nothing before it is needed. */
    private readonly first: number,
  ) {}

  async at(offset: number): Promise<SegmentHeader> {
    const isNear = this.last - offset < WINDOW_BYTES / 2;
    this.last = offset;
    if (offset < this.start || offset + SEGMENT_HEADER_SIZE > this.start + this.window.byteLength) {
      if (!isNear) return readSegmentHeader(this.source, offset);
      await this.load(offset + SEGMENT_HEADER_SIZE);
    }
    return decodeSegmentHeader(this.window.subarray(offset - this.start), offset);
  }

  private async load(end: number): Promise<void> {
    this.start = Math.max(this.first, end - WINDOW_BYTES);
    this.window = await this.source.exactly(this.start, end - this.start, 'a segment header');
  }
}
