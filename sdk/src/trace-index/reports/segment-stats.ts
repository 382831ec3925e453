/** Adds the parts STATS of all segments to an analysis. */
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import type { CoreAnalysis } from '../../semantics/cpu/analysis/core-analysis.js';
import type { FlushPart } from '../../semantics/cpu/analysis/flush-stats.js';
import type { MeterPart } from '../../semantics/cpu/analysis/occupancy.js';
import type { PipelinePart } from '../../semantics/cpu/analysis/pipeline.js';
import type { WidthsPart } from '../../semantics/cpu/analysis/retire-widths.js';
import type { StallPart } from '../../semantics/cpu/analysis/stall-stats.js';
import type { TraceIndex } from '../questions/trace-index.js';
import { decodeStatsPart, type StallRuns, type StatsPart, type WidthCounts } from '../stats/stats-part.js';
import { type CoreChannels, reasonNames } from './core-channels.js';

/** Segments without the part that are counted anew, at least, and of all of them; a scan of the trace is better for more. */
const MIN_COUNTED = 4;
const MAX_COUNTED_SHARE = 0.02;
const NOTHING = new Float64Array(0);

export const NO_FLUSHES: FlushPart = {
  names: [],
  reasons: [],
  squashed: 0,
  flushes: 0,
  firstCycle: Number.NEGATIVE_INFINITY,
  lastCycle: Number.NEGATIVE_INFINITY,
  flushesPerInterval: NOTHING,
  squashedPerInterval: NOTHING,
};
const NO_METER: MeterPart = { from: null, since: 0, level: 0, cyclesAt: NOTHING, sums: NOTHING };
const NO_WIDTHS: WidthsPart = { cycles: [], busy: 0, first: 0, firstWidth: 0, last: 0, lastWidth: 0 };

/** A part of a pipeline in which nothing happened. */
export const NO_PIPELINE: PipelinePart = {
  fetched: 0,
  retired: 0,
  lost: 0,
  inFlightAtStart: null,
  stages: { unlisted: [], stats: [] },
  flushes: NO_FLUSHES,
  lifetime: { count: 0, min: Number.POSITIVE_INFINITY, max: 0, sum: 0, counts: NOTHING },
  inFlight: NO_METER,
  widths: NO_WIDTHS,
  retiredPerInterval: NOTHING,
  mix: NOTHING,
  wasReplaced: false,
};

export class SegmentStats {
  /** By reason. */
  readonly squashed: number[];
  private readonly lastStalls: (bigint | null)[];
  private left: number;
  private readonly fromCycle: bigint;

  constructor(
    private readonly index: TraceIndex,
    private readonly analysis: CoreAnalysis,
    private readonly channels: CoreChannels,
  ) {
    const { shape } = channels;
    this.squashed = new Array<number>(shape.squashed).fill(0);
    this.lastStalls = new Array<bigint | null>(shape.stalls).fill(null);
    this.left = Math.max(MIN_COUNTED, Math.floor(index.trace.segmentCount * MAX_COUNTED_SHARE));
    this.fromCycle = analysis.window.fromCycle;
  }

  /** Adds the next segment. False: what it says does not suffice. @throws UscopeError FORMAT_* */
  async add(segment: number, parts: readonly IndexPartBytes[]): Promise<boolean> {
    const { core, shape } = this.channels;
    const isIt = ({ kind, subject }: IndexPartBytes) => kind === IndexPart.STATS && subject === core;
    const bytes = parts.find(isIt)?.bytes ?? (await this.counted(segment));
    const stats = bytes && decodeStatsPart(bytes, shape);
    if (!stats?.isExact) return false;
    const other = stats.stages.at(-1)!;
    if (other.cut > 0 || other.latency.count > 0) return false;
    this.analysis.pipeline!.absorb(this.pipelinePart(stats));
    stats.squashed.forEach((count, reason) => {
      this.squashed[reason]! += count;
    });
    return this.addStalls(stats.stalls);
  }

  private async counted(segment: number): Promise<Uint8Array | null> {
    if (this.left-- <= 0) return null;
    return this.index.countedPart(segment, IndexPart.STATS, this.channels.core);
  }

  private pipelinePart({ births, lost, widths, mix, stages, lifetime }: StatsPart): PipelinePart {
    return {
      ...NO_PIPELINE,
      fetched: births,
      lost,
      inFlightAtStart: 0,
      stages: {
        unlisted: [],
        stats: stages.slice(0, -1).map(({ cut, latency }) => ({ latency, squashed: cut, unknown: 0 })),
      },
      lifetime,
      widths: widths ? this.widthsPart(widths) : NO_WIDTHS,
      mix: Float64Array.from(mix),
    };
  }

  private widthsPart({ cycles, first, firstWidth, last, lastWidth }: WidthCounts): WidthsPart {
    return {
      cycles: [0, ...cycles],
      busy: cycles.reduce((sum, count) => sum + count, 0),
      first: Number(first - this.fromCycle),
      firstWidth,
      last: Number(last - this.fromCycle),
      lastWidth,
    };
  }

  /** Cycles are counted by the index by time, which knows those that two segments share. False: it does not know of which run they are. */
  private addStalls(stalls: readonly (StallRuns | null)[]): boolean {
    const { stalls: channel } = this.channels;
    const names: string[] = [];
    const reasons: StallPart['reasons'][number][] = [];
    for (const [reason, runs] of stalls.entries()) {
      if (!runs || !channel) continue;
      if (runs.first === this.lastStalls[reason]) return false;
      this.lastStalls[reason] = runs.last;
      names.push(reasonNames(channel)[reason]!);
      reasons.push(this.runsPart(runs));
    }
    const cycle = Number.NEGATIVE_INFINITY;
    this.analysis.stalls?.absorb({ names, reasons, cycles: 0, firstCycle: cycle, lastCycle: cycle });
    return true;
  }

  private runsPart({ events, episodes, longest, first, last, head, run }: StallRuns) {
    return {
      events,
      cycles: 0,
      episodes,
      longest,
      first: Number(first - this.fromCycle),
      last: Number(last - this.fromCycle),
      headRun: head,
      run,
      perInterval: NOTHING,
    };
  }
}
