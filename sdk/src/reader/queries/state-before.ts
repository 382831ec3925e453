/** The state in front of a time: where histories, counters and occupancies of a range begin. */
import { StorageState } from '../../state/storage-state.js';
import { wholeNumber } from '../arguments.js';
import type { Trace } from '../trace.js';
import type { TimePs } from '../walker.js';

/**
 * The state before the first frame at `timePs` (ps): all earlier frames are in it. At or before the first segment it is what that
 * segment begins with: empty, or the checkpoint of a trace whose beginning was not kept. The result is the caller's to change.
 * @throws UscopeError FORMAT_* for damage
 */
export async function stateBefore(trace: Trace, timePs: TimePs): Promise<StorageState> {
  const time = wholeNumber(timePs, 'a time');
  const start = await firstSegmentStart(trace);
  if (start === null) return new StorageState(trace.schema);
  return (time > start ? await trace.stateAt(time - 1n) : await trace.stateBefore(0)).raw;
}

/** The time at which the trace begins, in ps: its first segment's start; 0 without segments. */
export async function traceStart(trace: Trace): Promise<bigint> {
  return (await firstSegmentStart(trace)) ?? 0n;
}

/** The time at which the first segment starts, in ps; null: there is none. */
export async function firstSegmentStart(trace: Trace): Promise<bigint | null> {
  return trace.segmentCount > 0 ? (await trace.segment(0)).timeStartPs : null;
}
