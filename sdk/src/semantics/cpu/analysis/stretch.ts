/** One stretch of an analysis: what lies in segments `begin` to `end` of the range. The whole range is a stretch too. */
import type { FrameCursor } from '../../../format/frame.js';
import type { LoadedSegment, Trace } from '../../../reader/index.js';
import { stateBefore } from '../../../reader/queries/state-before.js';
import type { StretchCall } from '../../common/stretches.js';
import { segmentToBeginWith } from '../../lifecycle/history.js';
import { SegmentAccess } from '../../lifecycle/segments.js';
import { type CpuCore, findCores, requirePeriod } from '../cores.js';
import { CoreAnalysis, type CoreCarry, type CorePart, type Handler } from './core-analysis.js';
import { CycleWindow } from './window.js';

/** A range of the trace, and who is looked at in it. */
export interface AnalysisRange {
  /** In ps; start inclusive, end exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  readonly points: number;
  /** Intervals of the series are multiples of so many cycles. */
  readonly grain: number;
  /** Scopes of the cores. */
  readonly scopes: readonly number[];
  /** The segment that is read first: before the range, so that the births of the instructions in flight at its start are known. */
  readonly first: number;
  readonly lookback: number;
}

/** The work of one stretch: plain data. */
export interface PerformanceStretch extends AnalysisRange {
  readonly begin: number;
  /** Exclusive; null: to the end of the range. */
  readonly end: number | null;
  /** What is known in front of `begin`, one for each core. Null: the segments in front of it tell, as many as `lookback` at most. */
  readonly carry: readonly CoreCarry[] | null;
}

/** What a stretch has found: plain data. */
export interface PerformancePart {
  readonly cores: readonly {
    readonly part: CorePart;
    /** What was known in front of the stretch and is known behind it. */
    readonly before: CoreCarry;
    readonly after: CoreCarry;
  }[];
  /** Times of its first and last frame in ps; null: it has none. */
  readonly firstPs: bigint | null;
  readonly lastPs: bigint | null;
}

/** @throws UscopeError FORMAT_* for damage; NotMergeable */
export async function performanceStretch(
  trace: Trace,
  stretch: PerformanceStretch,
  call: StretchCall,
): Promise<PerformancePart> {
  const walk = await StretchWalk.of(trace, stretch);
  await walk.run(call);
  return walk.part();
}

export class StretchWalk {
  /** What was known in front of the stretch, once its segments are reached. */
  private before: CoreCarry[] | null = null;
  private hasBegun = false;
  /** A segment whose first frame has not come yet. */
  private begun: LoadedSegment | null = null;
  /** The stretch is reached, but no frame of it that lies in the range. */
  private isOpening = false;
  private hasFrames = false;
  private firstPs = 0n;
  private lastLo = 0;
  private lastHi = 0;

  private constructor(
    private readonly trace: Trace,
    private readonly stretch: PerformanceStretch,
    private readonly access: SegmentAccess,
    readonly analyses: readonly CoreAnalysis[],
    private readonly windows: readonly CycleWindow[],
    /** Segment that is read first. */
    private readonly start: number,
  ) {}

  static async of(trace: Trace, stretch: PerformanceStretch): Promise<StretchWalk> {
    const { from, to, points, grain, scopes, first, begin, carry } = stretch;
    const access = await SegmentAccess.of(trace);
    const cores = coresOf(trace, scopes);
    const isFirst = begin === first;
    const before = isFirst ? await stateBefore(trace, from) : await access.stateBefore(begin);
    const windows = new Map<bigint, CycleWindow>();
    const analyses = cores.map((core) => {
      const period = requirePeriod(core);
      const window = windows.get(period) ?? new CycleWindow(period, from, to, points, grain);
      windows.set(period, window);
      return new CoreAnalysis(trace, core, window, before, {
        interleaved: trace.isInterleaved,
        strictSlots: trace.session !== null,
        adoptsStrangers: first > 0,
      });
    });
    const start = isFirst || carry ? begin : await warmUpFrom(access, cores, stretch);
    return new StretchWalk(trace, stretch, access, analyses, [...windows.values()], start);
  }

  async run({ signal, progress, pause }: StretchCall): Promise<void> {
    const { trace, access, windows, analyses, stretch, start } = this;
    const { from, to, begin, end, first } = stretch;
    if (to <= from || access.count === 0) return;
    const ops: (Handler | undefined)[] = new Array(trace.schema.storages.length).fill(undefined);
    const events: (Handler | undefined)[] = new Array(trace.schema.events.length).fill(undefined);
    for (const analysis of analyses) analysis.handlers(ops, events);
    const pipelines = analyses.flatMap(({ pipeline }) => pipeline ?? []);
    if (begin !== first) this.close();
    const [startPs, endPs] = [
      await access.start(start),
      end !== null && end < access.count ? await access.start(end) : to,
    ];
    await trace.scan(
      { from: startPs, to },
      {
        segment: async (segment) => {
          signal?.throwIfAborted();
          await pause?.();
          if (end !== null && segment.index >= end) return false;
          await this.enter(segment);
          progress?.(shareOf(segment.header.timeStartPs, startPs, endPs));
          return true;
        },
        frame: (cursor: FrameCursor) => {
          for (const window of windows) window.advance(cursor);
          if (this.isOpening) this.open();
          if (!this.hasBegun) return;
          this.note(cursor);
          for (const pipeline of pipelines) pipeline.frame();
          if (!this.begun) return;
          for (const analysis of analyses) analysis.continueFrom(this.begun);
          this.begun = null;
        },
        // Several segments may begin at one instant: what precedes the first one is in its checkpoint.
        op: (cursor: FrameCursor) => {
          if (this.hasBegun) ops[cursor.storageId]?.(cursor);
        },
        event: (cursor: FrameCursor) => {
          if (this.hasBegun) events[cursor.eventType]?.(cursor);
        },
      },
    );
  }

  /** @throws NotMergeable */
  part(): PerformancePart {
    const { analyses, before, hasFrames } = this;
    return {
      cores: analyses.map((analysis, index) => {
        const part = analysis.part();
        const after = analysis.carry();
        return { part, after, before: before?.[index] ?? after };
      }),
      firstPs: hasFrames ? this.firstPs : null,
      lastPs: hasFrames ? (BigInt(this.lastHi) << 32n) | BigInt(this.lastLo) : null,
    };
  }

  private async enter(segment: LoadedSegment): Promise<void> {
    const { stretch, analyses, start } = this;
    const { index } = segment;
    const { carry, begin, first } = stretch;
    if (index === start) {
      const state = carry ? null : await this.access.stateBefore(index);
      analyses.forEach((analysis, core) => {
        if (state) analysis.pipeline?.begin(state);
        else if (carry) analysis.restore(carry[core]);
      });
      this.hasBegun = true;
    }
    if (this.hasBegun && (index !== start || carry)) this.begun = segment;
    if (index !== begin || begin === first) return;
    this.before = analyses.map((analysis) => analysis.carry());
    for (const window of this.windows) window.isOpen = true;
    this.isOpening = true;
    this.hasFrames = false;
  }

  private close(): void {
    for (const window of this.windows) window.isOpen = false;
    for (const analysis of this.analyses) analysis.openAt(null);
  }

  private open(): void {
    for (const analysis of this.analyses) if (analysis.window.inRange) analysis.openAt(analysis.window.cycle);
    this.isOpening = !this.windows.every(({ inRange }) => inRange);
  }

  private note(cursor: FrameCursor): void {
    if (!this.hasFrames) {
      this.hasFrames = true;
      this.firstPs = cursor.timePs;
    }
    this.lastLo = cursor.timeLo;
    this.lastHi = cursor.timeHi;
  }
}

function coresOf(trace: Trace, scopes: readonly number[]): CpuCore[] {
  const cores = new Map(findCores(trace).map((core) => [core.scopeId, core]));
  return scopes.flatMap((scope) => cores.get(scope) ?? []);
}

/** Where the instructions in flight at the stretch's begin are born, as far as `lookback` reaches. */
async function warmUpFrom(
  access: SegmentAccess,
  cores: readonly CpuCore[],
  { begin, first, lookback }: PerformanceStretch,
): Promise<number> {
  const at = await access.start(begin);
  let start = begin - 1;
  for (const { entities } of cores) {
    if (entities) start = Math.min(start, await segmentToBeginWith(access, entities, at, lookback));
  }
  return Math.max(first, start);
}

function shareOf(timePs: bigint, from: bigint, to: bigint): number {
  return timePs <= from || to <= from ? 0 : Math.min(1, Number(timePs - from) / Number(to - from));
}
