/** Finds the index containers of a trace: in its commit records, or in a file beside it. */
import { isUscopeError } from '../../base/errors.js';
import {
  COMMIT_HEADER_SIZE,
  type Crc32,
  commitRecordSize,
  indexOfRecord,
} from '../../format/commit-record.js';
import { decodeIndexContainer, type IndexContainer } from '../../format/index-container.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { commitRecordOffset } from '../../reader/commit-strings.js';
import type { Trace } from '../../reader/index.js';

/** Why a segment has no container that can be used. */
export interface NoContainer {
  readonly reason: 'absent' | 'damaged' | 'other-plan' | 'other-segment';
  readonly detail: string;
}

export interface ContainerSource {
  /** @throws UscopeError READER_* when the file cannot be read; never for its bytes */
  read(segment: number): Promise<IndexContainer | NoContainer>;
}

export function isContainer(found: IndexContainer | NoContainer): found is IndexContainer {
  return 'parts' in found;
}

/** Read in one piece after a segment: most records are smaller. */
const READ_AHEAD = 32 * 1024;

/** Containers of a trace that carries them. One segment takes two reads: of its header, and of what follows it. */
export class ContainersInRecords implements ContainerSource {
  constructor(
    private readonly trace: Trace,
    private readonly planCrc: number,
  ) {}

  async read(segment: number): Promise<IndexContainer | NoContainer> {
    const { trace } = this;
    const { offset } = await trace.segment(segment);
    const header = decodeSegmentHeader(await trace.bytes(offset, SEGMENT_HEADER_SIZE), offset);
    const size = SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
    const recordAt = commitRecordOffset(offset + size);
    const next =
      segment + 1 < trace.segmentCount ? (await trace.segment(segment + 1)).offset : Number.POSITIVE_INFINITY;
    const known = Math.max(COMMIT_HEADER_SIZE, Math.min(next - recordAt, READ_AHEAD));
    const bytes = await trace.bytes(recordAt, known);
    const recordSize = commitRecordSize(bytes);
    if (recordSize === 0) return absent(offset);
    const record = bytes.length >= recordSize ? bytes : await trace.bytes(recordAt, recordSize);
    const index = indexOfRecord(record);
    if (!index) return absent(offset);
    const at = recordAt + index.offset;
    // A copy: it is kept, and what was read with it is not.
    const container = record.slice(index.offset, index.offset + index.size);
    return checkedContainer(container, at, offset, this.planCrc, trace.crc32);
  }
}

/** Decodes a container and checks that it is the one wanted. */
export function checkedContainer(
  bytes: Uint8Array,
  at: number,
  segmentOffset: number,
  planCrc: number,
  crc32: Crc32,
): IndexContainer | NoContainer {
  try {
    const container = decodeIndexContainer(bytes, at, crc32);
    if (!container) {
      return { reason: 'other-plan', detail: `the index container at ${at} has a layout of another release` };
    }
    if (container.planCrc !== planCrc) {
      return { reason: 'other-plan', detail: `the index container at ${at} was made by other rules` };
    }
    if (container.segmentOffset !== BigInt(segmentOffset)) {
      const detail = `the index container at ${at} is that of the segment at ${container.segmentOffset}, not of the one at ${segmentOffset}`;
      return { reason: 'other-segment', detail };
    }
    return container;
  } catch (error) {
    if (!isUscopeError(error) || !error.code.startsWith('FORMAT_')) throw error;
    return {
      reason: 'damaged',
      detail: `${error.detail} (${error.code}, offset ${error.place.offset ?? at})`,
    };
  }
}

function absent(offset: number): NoContainer {
  return { reason: 'absent', detail: `the segment at ${offset} has no index container` };
}
