/** Damaged segments, and the stretches between them. */
import { isDamage, type UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';

export interface Gap {
  readonly segment: number;
  readonly error: UscopeError;
}

/** Reads all segments from one on. */
export async function damagedSegments(trace: Trace, from = 0): Promise<Gap[]> {
  const gaps: Gap[] = [];
  for (let segment = from; segment < trace.segmentCount; segment++) {
    try {
      await trace.scanSegment(segment, {}, {});
    } catch (error) {
      if (!isDamage(error)) throw error;
      gaps.push({ segment, error });
    }
  }
  return gaps;
}

/** Intact segments next to each other, from segment `from` on. `end`: exclusive. */
export function* stretchesOf(
  { segmentCount }: Trace,
  damaged: ReadonlySet<number>,
  from = 0,
): Generator<{ readonly first: number; readonly end: number }> {
  for (let first = from; first < segmentCount; first++) {
    if (damaged.has(first)) continue;
    let end = first;
    while (end < segmentCount && !damaged.has(end)) end++;
    yield { first, end };
    first = end;
  }
}
