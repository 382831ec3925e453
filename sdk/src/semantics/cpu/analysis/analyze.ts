/** Performance of the cores of a trace over a range, in one pass over the segments that the range touches. */
import { UscopeError } from '../../../base/errors.js';
import type { TimePs, Trace } from '../../../reader/index.js';
import { segmentToBeginWith } from '../../lifecycle/history.js';
import { SegmentAccess } from '../../lifecycle/segments.js';
import { type CpuCore, findCore, findCores, requirePeriod } from '../cores.js';
import { askedRange, coveredRange, MAX_POINTS } from '../query-range.js';
import type { CoreAnalysis } from './core-analysis.js';
import { PERCENTILE_ERROR } from './histogram.js';
import type { CoreReport, PerformanceReport } from './report.js';
import { type AnalysisRange, emptyAnalyses, scanRange } from './scan.js';

export interface PerformanceOptions {
  /** Start of the range, inclusive; default: the beginning of the trace. What lies outside the trace is not part of the range. */
  readonly from?: TimePs | undefined;
  /** End of the range, exclusive; default: the end of the trace. */
  readonly to?: TimePs | undefined;
  /** What `from` and `to` count: picoseconds (default) or cycles, of the first core's clock where there are several. */
  readonly unit?: 'ps' | 'cycles' | undefined;
  /** Names of the cores (see `findCore`); default: all. */
  readonly cores?: readonly string[] | undefined;
  /** Most intervals of the series over time. Default 200; 0: no series. */
  readonly points?: number | undefined;
  /** The intervals are multiples of this number of cycles, 1 by default. An index has buckets of 256 cycles. */
  readonly grain?: number | undefined;
  /** Segments read before the range to learn when the instructions in flight at its start were born. Default 16. */
  readonly lookback?: number | undefined;
  /** Called now and then with the share of the range that has been read, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
  /** Ends the analysis: it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** DUT property of traces made from formats without time: how their cycles were made up. */
export const SYNTHETIC_TIME = 'time.synthetic';

const DEFAULT_POINTS = 200;
const DEFAULT_LOOKBACK = 16;

/**
 * Analyses a range of a trace: instructions, flushes, stalls, stage latencies, buffers, counters, and how they went over time. Memory does
 * not depend on the length of the range; only the segments that it touches are read, and at most `lookback` before it.
 * @throws UscopeError READER_NAME (no such core), READER_NO_CYCLES (the period of a core's clock is not known), READER_RANGE (the range ends
 *   before it begins or lies outside the trace; more than 65,536 points), FORMAT_* for damage
 */
export async function analyzePerformance(
  trace: Trace,
  options: PerformanceOptions = {},
): Promise<PerformanceReport> {
  const range = await analysisRange(trace, options);
  const analyses = await emptyAnalyses(trace, range);
  await scanRange(trace, range, analyses, options);
  return reportOf(trace, range, analyses);
}

/** @throws UscopeError as `analyzePerformance`, except for damage */
export async function analysisRange(trace: Trace, options: PerformanceOptions): Promise<AnalysisRange> {
  const { points = DEFAULT_POINTS, grain = 1, lookback = DEFAULT_LOOKBACK } = options;
  if (!(Number.isInteger(points) && points >= 0 && points <= MAX_POINTS)) {
    throw new UscopeError('READER_RANGE', `a series has 0 to ${MAX_POINTS} points, not ${points}`);
  }
  const cores = selectCores(trace, options.cores);
  const access = await SegmentAccess.of(trace);
  const { unit } = options;
  const asked = askedRange({ from: options.from, to: options.to, unit, core: cores[0] });
  const { from, to } = await coveredRange(trace, asked, requirePeriod(cores[0]));
  const first = await firstSegment(access, cores, from, lookback);
  return { from, to, points, grain, first, cores };
}

export function reportOf(
  trace: Trace,
  { from, to, points }: AnalysisRange,
  analyses: readonly CoreAnalysis[],
): PerformanceReport {
  const made = analyses.map((analysis) => analysis.report(points > 0));
  const reports = trace.dutProperty(SYNTHETIC_TIME) === undefined ? made : made.map(withoutRates);
  return { fromPs: from, toPs: to, percentiles: PERCENTILE_ERROR, cores: reports };
}

/** Its cycles were made up when the trace was made from one without time: instructions per cycle would say nothing. */
function withoutRates(report: CoreReport): CoreReport {
  return { ...report, instructions: { ...report.instructions, ipc: null, cpi: null } };
}

/** @throws UscopeError READER_NAME */
function selectCores(trace: Trace, names: readonly string[] | undefined): CpuCore[] {
  if (names) {
    // The same core may have been named in two ways.
    const named = names.map((name) => findCore(trace, name));
    return [...new Map(named.map((core) => [core.scopeId, core])).values()];
  }
  const cores = findCores(trace);
  // Of a trace without any, findCore says why.
  return cores.length > 0 ? cores : [findCore(trace)];
}

async function firstSegment(
  access: SegmentAccess,
  cores: readonly CpuCore[],
  from: bigint,
  lookback: number,
): Promise<number> {
  if (access.count === 0) return 0;
  let first = await access.firstReaching(from);
  for (const { entities } of cores) {
    if (entities) first = Math.min(first, await segmentToBeginWith(access, entities, from, lookback));
  }
  return first;
}
