/** What a trace that is being written has got since. The starts of a run of days are millions: only those that are new are sent. */

export interface Growth {
  /** Index of `cycles[0]` in the cycles at which segments begin: that of the end that was known before. */
  readonly from: number;
  /** Where the new segments begin, and at last where the trace ends. */
  readonly cycles: Float64Array;
  readonly isComplete: boolean;
}

/** What of a trace changes while it grows. */
interface Growing {
  readonly segmentCycles: Float64Array;
  readonly isComplete: boolean;
}

/** @param known not to be used any more: its array is continued where it has room */
export function grown<T extends Growing>(known: T, { from, cycles, isComplete }: Growth): T {
  const length = from + cycles.length;
  const segmentCycles = withRoom(known.segmentCycles, length).subarray(0, length);
  segmentCycles.set(cycles, from);
  return { ...known, segmentCycles, isComplete };
}

/** All that an array's buffer holds, or a larger copy. */
function withRoom(values: Float64Array, length: number): Float64Array {
  const all = new Float64Array(values.buffer);
  if (values.byteOffset === 0 && all.length >= length) return all;
  const larger = new Float64Array(2 * length);
  larger.set(values);
  return larger;
}
