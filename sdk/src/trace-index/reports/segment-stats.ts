/** Adds the parts STATS of all segments to an analysis. */
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import type { CoreAnalysis } from '../../semantics/cpu/analysis/core-analysis.js';
import type { SegmentCounts } from '../../semantics/cpu/analysis/pipeline.js';
import type { WidthsCounts } from '../../semantics/cpu/analysis/retire-widths.js';
import type { StallRunCounts } from '../../semantics/cpu/analysis/stall-stats.js';
import type { TraceIndex } from '../questions/trace-index.js';
import { decodeStatsPart, type StallRuns, type StatsPart, type WidthCounts } from '../stats/stats-part.js';
import { type CoreChannels, reasonNames } from './core-channels.js';

/** Segments without the part that are counted anew, at least, and of all of them; a scan of the trace is better for more. */
const MIN_COUNTED = 4;
const MAX_COUNTED_SHARE = 0.02;
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
    this.analysis.pipeline!.addSegment(this.countsOf(stats));
    stats.squashed.forEach((count, reason) => {
      this.squashed[reason]! += count;
    });
    return this.addStalls(stats.stalls);
  }

  private async counted(segment: number): Promise<Uint8Array | null> {
    if (this.left-- <= 0) return null;
    return this.index.countedPart(segment, IndexPart.STATS, this.channels.core);
  }

  private countsOf({ births, lost, widths, mix, stages, lifetime }: StatsPart): SegmentCounts {
    return {
      fetched: births,
      lost,
      stages: stages.slice(0, -1).map(({ cut, latency }) => ({ latency, squashed: cut })),
      lifetime,
      widths: widths && this.widthsOf(widths),
      mix: Float64Array.from(mix),
    };
  }

  private widthsOf({ cycles, first, firstWidth, last, lastWidth }: WidthCounts): WidthsCounts {
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
    for (const [reason, runs] of stalls.entries()) {
      if (!runs || !channel) continue;
      if (runs.first === this.lastStalls[reason]) return false;
      this.lastStalls[reason] = runs.last;
      this.analysis.stalls?.addRuns(reasonNames(channel)[reason]!, this.runsOf(runs));
    }
    return true;
  }

  private runsOf({ first, last, ...runs }: StallRuns): StallRunCounts {
    return { ...runs, first: Number(first - this.fromCycle), last: Number(last - this.fromCycle) };
  }
}
