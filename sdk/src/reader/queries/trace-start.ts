/** Finds the time at which a trace begins. */
import type { Trace } from '../trace.js';

/** When the first segment starts, in ps; null: there is none. */
export async function firstSegmentStart(trace: Trace): Promise<bigint | null> {
  return trace.segmentCount > 0 ? (await trace.segment(0)).timeStartPs : null;
}
