/** What a slice of a trace covers, and what it says of itself. */
import { UscopeError } from '../../base/errors.js';
import type { DutProperties } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { traceStart } from '../../reader/queries/state-before.js';

/** Start inclusive, end exclusive, in ps. */
export interface SlicePlan {
  readonly fromPs: bigint;
  readonly toPs: bigint;
  readonly dut: DutProperties;
}

/** DUT properties that identify a slice: name of the trace it is of, and its range in ps. */
export const SLICE_KEYS = { of: 'uscope.slice_of', from: 'uscope.slice_from_ps', to: 'uscope.slice_to_ps' };

/**
 * The range as far as the trace has it. By default it begins with the trace, and ends with it.
 * @throws UscopeError READER_RANGE when the range is empty or lies outside the trace
 */
export async function planSlice(
  trace: Trace,
  name: string,
  range: { readonly from?: bigint | undefined; readonly to?: bigint | undefined },
): Promise<SlicePlan> {
  const start = await traceStart(trace);
  const end = trace.totalTimePs + 1n;
  const fromPs = range.from === undefined || range.from < start ? start : range.from;
  const toPs = range.to === undefined || range.to > end ? end : range.to;
  if (range.from !== undefined && range.to !== undefined && range.to <= range.from) {
    throw new UscopeError(
      'READER_RANGE',
      `the range ends at ${range.to} ps, not after its begin at ${range.from} ps`,
    );
  }
  if (fromPs >= end || toPs <= start) {
    const asked = `${range.from ?? 'the begin'} to ${range.to ?? 'the end'}`;
    throw new UscopeError(
      'READER_RANGE',
      `the trace lasts from ${start} to ${end - 1n} ps; ${asked} is outside`,
    );
  }
  return { fromPs, toPs, dut: sliceDut(trace.dut, name, fromPs, toPs) };
}

/** The trace's own properties, and what slice this is; a slice of a slice names only the last cut. */
function sliceDut(dut: DutProperties, name: string, fromPs: bigint, toPs: bigint): DutProperties {
  const ours = new Set(Object.values(SLICE_KEYS));
  return [
    ...dut.filter(([key]) => !ours.has(key)),
    [SLICE_KEYS.of, name],
    [SLICE_KEYS.from, String(fromPs)],
    [SLICE_KEYS.to, String(toPs)],
  ];
}
