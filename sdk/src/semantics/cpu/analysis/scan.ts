/** The analyses of the cores of a range, and the scan over the trace that feeds them. */
import type { FrameCursor } from '../../../format/frame.js';
import type { LoadedSegment, Trace } from '../../../reader/index.js';
import { stateBefore } from '../../../reader/queries/state-before.js';
import { SegmentAccess } from '../../lifecycle/segments.js';
import { type CpuCore, requirePeriod } from '../cores.js';
import type { PerformanceOptions } from './analyze.js';
import { CoreAnalysis, type Handler } from './core-analysis.js';
import { CycleWindow } from './window.js';

/** A range of the trace, and the cores that are analysed in it. */
export interface AnalysisRange {
  /** In ps; start inclusive, end exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  readonly points: number;
  /** Intervals of the series are multiples of this number of cycles. */
  readonly grain: number;
  readonly cores: readonly CpuCore[];
  /** The segment that is read first: before the range, so that the births of the instructions in flight at its start are known. */
  readonly first: number;
}

/** Analyses that have counted nothing yet, one for each core. */
export async function emptyAnalyses(
  trace: Trace,
  { from, to, points, grain, cores, first }: AnalysisRange,
): Promise<readonly CoreAnalysis[]> {
  const before = await stateBefore(trace, from);
  const windows = new Map<bigint, CycleWindow>();
  return cores.map((core) => {
    const period = requirePeriod(core);
    const window = windows.get(period) ?? new CycleWindow(period, from, to, points, grain);
    windows.set(period, window);
    return new CoreAnalysis(trace, core, window, before, {
      interleaved: trace.isInterleaved,
      strictSlots: trace.session !== null,
      adoptsStrangers: first > 0,
    });
  });
}

/** Gives the analyses all frames of the range. @throws UscopeError FORMAT_* for damage */
export async function scanRange(
  trace: Trace,
  { from, to, first }: AnalysisRange,
  analyses: readonly CoreAnalysis[],
  { signal, onProgress }: Pick<PerformanceOptions, 'signal' | 'onProgress'>,
): Promise<void> {
  const access = await SegmentAccess.of(trace);
  if (to <= from || access.count === 0) return;
  const ops: (Handler | undefined)[] = new Array(trace.schema.storages.length).fill(undefined);
  const events: (Handler | undefined)[] = new Array(trace.schema.events.length).fill(undefined);
  for (const analysis of analyses) analysis.handlers(ops, events);
  const windows = new Set(analyses.map(({ window }) => window));
  const pipelines = analyses.flatMap(({ pipeline }) => pipeline ?? []);
  const startPs = await access.start(first);
  // Several segments may begin at one instant: what precedes the first one is in its checkpoint.
  let hasBegun = false;
  /** A segment whose first frame has not come yet. */
  let begun: LoadedSegment | null = null;
  await trace.scan(
    { from: startPs, to },
    {
      segment: async (segment) => {
        signal?.throwIfAborted();
        if (segment.index === first) {
          const state = await access.stateBefore(first);
          for (const pipeline of pipelines) pipeline.begin(state);
          hasBegun = true;
        } else if (hasBegun) begun = segment;
        onProgress?.(shareOf(segment.header.timeStartPs, startPs, to));
        return true;
      },
      frame: (cursor: FrameCursor) => {
        if (!hasBegun) return;
        for (const window of windows) window.advance(cursor);
        for (const pipeline of pipelines) pipeline.frame();
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
  return timePs <= from || to <= from ? 0 : Math.min(1, Number(timePs - from) / Number(to - from));
}
