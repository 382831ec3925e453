/** What a flight recorder keeps at this moment, from the files of its spool directory: of each segment only the header is read. */
import { open, readdir } from 'node:fs/promises';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { spoolDirectory } from '../../writer/ring/index.js';
import { ordinalOf, segmentPath } from '../../writer/ring/layout.js';

/** One segment of a ring. Times are simulated ps. */
export interface RingSegment {
  /** From 0 at the start of the run. */
  readonly ordinal: number;
  readonly fromPs: number;
  readonly toPs: number;
  readonly bytes: number;
}

/** A ring of small segments has thousands: more are not drawn apart. */
const MAX_SEGMENTS = 4096;

/** The segments kept, the oldest first; null: the trace is none of a flight recorder, or its ring is gone. */
export async function ringOf(tracePath: string): Promise<RingSegment[] | null> {
  const directory = spoolDirectory(tracePath);
  const names = await readdir(directory).catch(() => null);
  if (!names) return null;
  const ordinals = names.map(ordinalOf).filter((ordinal) => ordinal !== null);
  const newest = ordinals.sort((a, b) => a - b).slice(-MAX_SEGMENTS);
  const segments = await Promise.all(newest.map((ordinal) => segmentOf(directory, ordinal)));
  return segments.filter((segment) => segment !== null);
}

/** null: it was dropped meanwhile, or is being written. */
async function segmentOf(directory: string, ordinal: number): Promise<RingSegment | null> {
  try {
    const file = await open(segmentPath(directory, ordinal));
    try {
      const bytes = Buffer.alloc(SEGMENT_HEADER_SIZE);
      const { bytesRead } = await file.read(bytes, 0, SEGMENT_HEADER_SIZE, 0);
      if (bytesRead < SEGMENT_HEADER_SIZE) return null;
      const { timeStartPs, timeEndPs } = decodeSegmentHeader(bytes);
      const { size } = await file.stat();
      return { ordinal, fromPs: Number(timeStartPs), toPs: Number(timeEndPs), bytes: size };
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
