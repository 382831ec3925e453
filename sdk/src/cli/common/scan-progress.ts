/** How far a scan over a range has come when it begins a segment. */
import type { LoadedSegment, Trace } from '../../reader/index.js';
import type { TimeBounds } from './ranges.js';

/** 0 to 1, by time. */
export function scanFraction(trace: Trace, { from = 0n, to }: TimeBounds, { header }: LoadedSegment): number {
  const end = to ?? trace.totalTimePs;
  return end > from ? Number(header.timeStartPs - from) / Number(end - from) : 1;
}
