/** Performance of the cores of a trace over a range, in one pass over the segments that the range touches. */
import { UscopeError } from '../../../base/errors.js';
import type { FrameCursor } from '../../../format/frame.js';
import type { LoadedSegment, TimePs, Trace } from '../../../reader/index.js';
import { stateBefore } from '../../../reader/queries/state-before.js';
import { segmentToBeginWith } from '../../lifecycle/history.js';
import { SegmentAccess } from '../../lifecycle/segments.js';
import { type CpuCore, findCore, findCores, requirePeriod } from '../cores.js';
import { askedRange, coveredRange, MAX_POINTS } from '../query-range.js';
import { CoreAnalysis, type Handler } from './core-analysis.js';
import { PERCENTILE_ERROR } from './histogram.js';
import type { CoreReport, PerformanceReport } from './report.js';
import { CycleWindow } from './window.js';

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
  const { points = DEFAULT_POINTS, lookback = DEFAULT_LOOKBACK } = options;
  if (!(Number.isInteger(points) && points >= 0 && points <= MAX_POINTS)) {
    throw new UscopeError('READER_RANGE', `a series has 0 to ${MAX_POINTS} points, not ${points}`);
  }
  const cores = selectCores(trace, options.cores);
  const access = await SegmentAccess.of(trace);
  const { unit } = options;
  const asked = askedRange({ from: options.from, to: options.to, unit, core: cores[0] });
  const { from, to } = await coveredRange(trace, asked, requirePeriod(cores[0]));
  const before = await stateBefore(trace, from);
  const first = await firstSegment(access, cores, from, lookback);
  const windows = new Map<bigint, CycleWindow>();
  const analyses = cores.map((core) => {
    const period = requirePeriod(core);
    const window = windows.get(period) ?? new CycleWindow(period, from, to, points);
    windows.set(period, window);
    return new CoreAnalysis(trace, core, window, before, {
      interleaved: trace.isInterleaved,
      strictSlots: trace.session !== null,
      adoptsStrangers: first > 0,
    });
  });
  if (to > from) await pass(trace, access, analyses, [...windows.values()], { first, from, to }, options);
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

/** Reads the segments from `first` to the end of the range and hands everything in them to the analyses. */
async function pass(
  trace: Trace,
  access: SegmentAccess,
  analyses: readonly CoreAnalysis[],
  windows: readonly CycleWindow[],
  { first, from, to }: { first: number; from: bigint; to: bigint },
  { onProgress, signal }: PerformanceOptions,
): Promise<void> {
  const ops: (Handler | undefined)[] = new Array(trace.schema.storages.length).fill(undefined);
  const events: (Handler | undefined)[] = new Array(trace.schema.events.length).fill(undefined);
  for (const analysis of analyses) analysis.handlers(ops, events);
  const pipelines = analyses.flatMap(({ pipeline }) => pipeline ?? []);
  // Several segments may begin at one instant: what precedes the first one is in its checkpoint.
  let hasBegun = false;
  /** A segment whose first frame has not come yet. */
  let begun: LoadedSegment | null = null;
  await trace.scan(
    { from: await access.start(first), to },
    {
      segment: async (segment) => {
        signal?.throwIfAborted();
        if (segment.index === first) {
          const state = await access.stateBefore(segment.index);
          for (const pipeline of pipelines) pipeline.begin(state);
          hasBegun = true;
        } else if (hasBegun) begun = segment;
        onProgress?.(shareOf(segment.header.timeStartPs, from, to));
      },
      frame: (cursor: FrameCursor) => {
        for (const window of windows) window.advance(cursor);
        if (hasBegun) for (const pipeline of pipelines) pipeline.frame();
        if (!begun) return;
        for (const analysis of analyses) analysis.continueFrom(begun);
        begun = null;
      },
      op: (cursor: FrameCursor) => {
        if (hasBegun) ops[cursor.storageId]?.(cursor);
      },
      event: (cursor: FrameCursor) => {
        if (hasBegun) events[cursor.eventType]?.(cursor);
      },
    },
  );
}

function shareOf(timePs: bigint, from: bigint, to: bigint): number {
  return timePs <= from ? 0 : Number(timePs - from) / Number(to - from);
}
