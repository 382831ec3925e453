/** The analysis of a whole trace from its index: what `analyzePerformance` finds by reading all of it. */
import { IndexPart, type IndexPartBytes } from '../../format/index-container.js';
import type { Trace } from '../../reader/index.js';
import { analysisRange, type PerformanceOptions, reportOf } from '../../semantics/cpu/analysis/analyze.js';
import type { CoreAnalysis } from '../../semantics/cpu/analysis/core-analysis.js';
import type { FlushCounts } from '../../semantics/cpu/analysis/flush-stats.js';
import type { MeterCounts } from '../../semantics/cpu/analysis/occupancy.js';
import type { PerformanceReport } from '../../semantics/cpu/analysis/report.js';
import { type AnalysisRange, emptyAnalyses } from '../../semantics/cpu/analysis/scan.js';
import { lastFramePs } from '../../semantics/cpu/query-range.js';
import type { StorageState } from '../../state/storage-state.js';
import { BUCKET_CYCLES, type Channel } from '../channels.js';
import type { TraceIndex } from '../questions/trace-index.js';
import {
  type ChannelSums,
  type CoreChannels,
  coreChannels,
  reasonColumns,
  reasonNames,
  sumsOf,
  total,
} from './core-channels.js';
import { HeldTimes } from './held-times.js';
import { SegmentStats } from './segment-stats.js';

/**
 * The same as `analyzePerformance(trace, { ...options, grain: 256 })`, number for number: the intervals of the series are multiples of 256 cycles.
 * @returns null where the index cannot answer: for a part of the trace, more intervals than it has buckets, where instructions were in flight before
 *   the trace, where a model supplied states, or where many segments lack their part STATS
 * @throws UscopeError as `analyzePerformance`
 */
export async function performanceFromIndex(
  index: TraceIndex,
  options: PerformanceOptions = {},
): Promise<PerformanceReport | null> {
  const { trace } = index;
  const asked = await onBuckets(trace, options);
  if (!asked) return null;
  const { range, analyses } = asked;
  const totals: CoreTotals[] = [];
  const end = (await trace.stateAt(trace.totalTimePs)).raw;
  for (const analysis of analyses) {
    const channels = coreChannels(index, analysis);
    if (!channels) return null;
    const sums = await sumsOf(index, channels, analysis.window);
    if (!sums) return null;
    totals.push(new CoreTotals(index, analysis, channels, sums));
  }
  for (let segment = 0; segment < trace.segmentCount; segment++) {
    options.signal?.throwIfAborted();
    const parts = await index.storedParts(segment);
    for (const core of totals) if (!parts || !(await core.add(segment, parts))) return null;
    if (segment % 64 === 0) options.onProgress?.(segment / trace.segmentCount);
  }
  for (const core of totals) if (!core.finish(end)) return null;
  options.onProgress?.(1);
  return reportOf(trace, range, analyses);
}

/** `grain` of an analysis by a scan whose intervals are those of the answer from an index. */
export async function grainOfIndex(trace: Trace, options: PerformanceOptions): Promise<number> {
  return (await onBuckets(trace, options)) ? BUCKET_CYCLES : 1;
}

/** What is asked, where that is of a whole trace, in intervals that an index has; else null. */
async function onBuckets(
  trace: Trace,
  options: PerformanceOptions,
): Promise<{ readonly range: AnalysisRange; readonly analyses: readonly CoreAnalysis[] } | null> {
  const range = await analysisRange(trace, { ...options, grain: BUCKET_CYCLES });
  if (trace.segmentCount === 0 || range.first !== 0) return null;
  if (range.from !== (await trace.segment(0)).timeStartPs || range.to <= lastFramePs(trace)) return null;
  const analyses = await emptyAnalyses(trace, range);
  return analyses.every((one) => isOnBuckets(one, range.points)) ? { range, analyses } : null;
}

/** The intervals begin and end where buckets do, and all numbers are exact. */
function isOnBuckets({ window }: CoreAnalysis, points: number): boolean {
  const { fromCycle, toCycle, cycles } = window;
  if (fromCycle % BigInt(BUCKET_CYCLES) !== 0n || !Number.isSafeInteger(Number(toCycle))) return false;
  return points * BUCKET_CYCLES <= cycles;
}

const NO_FLUSHES: FlushCounts = {
  reasons: [],
  flushes: 0,
  squashed: 0,
  flushesPerInterval: new Float64Array(),
  squashedPerInterval: new Float64Array(),
};

/** What the index says of one core, added to an analysis that has counted nothing. */
class CoreTotals {
  private readonly segments: SegmentStats;
  /** By storage. */
  private readonly times: ReadonlyMap<number, Float64Array>;
  private readonly held: HeldTimes;

  constructor(
    index: TraceIndex,
    private readonly analysis: CoreAnalysis,
    private readonly channels: CoreChannels,
    private readonly sums: ChannelSums,
  ) {
    const { storages } = index.plan.schema;
    this.segments = new SegmentStats(index, analysis, channels);
    this.times = new Map(
      channels.buffers.map(({ subject }) => [subject, new Float64Array(storages[subject]!.numSlots + 1)]),
    );
    this.held = new HeldTimes(channels.group, this.times);
  }

  /** Adds the next segment. False: what its index says does not suffice. @throws UscopeError FORMAT_* */
  async add(segment: number, parts: readonly IndexPartBytes[]): Promise<boolean> {
    const { index: group } = this.channels.group;
    const isIt = ({ kind, subject }: IndexPartBytes) => kind === IndexPart.OCCUPANCY && subject === group;
    return this.held.add(parts.find(isIt)?.bytes ?? null) && (await this.segments.add(segment, parts));
  }

  /** Adds what is known of the whole. False: it is not what the segments say. @param end state at the end */
  finish(end: StorageState): boolean {
    const { analysis, channels, sums } = this;
    const { pipeline, buffers, counters } = analysis;
    const [inFlight, ...levels] = channels.buffers.map(({ subject }) => this.meterCounts(subject, end));
    const flushes = this.flushCounts();
    if (!pipeline || !inFlight || !flushes || levels.includes(null)) return false;
    const [retiredPerInterval] = sums.get(channels.retired)!;
    pipeline.addTrace({
      retired: total(retiredPerInterval!),
      retiredPerInterval: retiredPerInterval!,
      flushes,
      inFlight,
    });
    for (const [position, { meter }] of buffers.entries()) meter.addCounted(levels[position]!);
    return counters.every((_, position) => this.addCounter(position, end)) && this.addStalls();
  }

  private meterCounts(storage: number, end: StorageState): MeterCounts | null {
    const { channels, held, analysis, sums } = this;
    const { cycles, toCycle, intervals, intervalCycles } = analysis.window;
    const { periodPs } = channels.group;
    const last = end.occupancy(storage);
    if (held.endPs === null || !held.isAligned) return null;
    // What the last frame has left lasts until the end of its cycle.
    const rest = Number(toCycle - held.endPs / BigInt(periodPs));
    const cyclesAt = this.times.get(storage)!.map((time) => time / periodPs);
    cyclesAt[last] = cyclesAt[last]! + rest;
    if (total(cyclesAt) !== cycles) return null;
    const channel = channels.buffers.find(({ subject }) => subject === storage)!;
    const inIntervals = sums.get(channel)![0]!.map((sum) => sum / periodPs);
    if (intervals > 0) inIntervals[intervals - 1] = inIntervals[intervals - 1]! + last * rest;
    if (rest > cycles - (intervals - 1) * intervalCycles) return null;
    return { level: last, cyclesAt, sums: inIntervals };
  }

  /** False: the changes do not add up. */
  private addCounter(position: number, end: StorageState): boolean {
    const channel = this.channels.counters[position]!;
    const [deltas] = this.sums.get(channel)!;
    const counter = this.analysis.counters[position]!;
    const after = end.value(channel.subject, 0, 0);
    const sum = total(deltas!);
    if (!Number.isSafeInteger(sum) || BigInt.asIntN(64, after - counter.start) !== BigInt(sum)) return false;
    counter.addCounted(after, deltas!);
    return true;
  }

  private flushCounts(): FlushCounts | null {
    const { channels, sums, segments } = this;
    const { flushes: channel, squashed } = channels;
    if (!channel || !squashed) return NO_FLUSHES;
    const columns = sums.get(channel)!;
    const [squashedPerInterval] = sums.get(squashed)!;
    const all = reasonColumns(channel, columns).map((column, reason) => ({
      name: reasonNames(channel)[reason]!,
      flushes: total(column),
      squashed: segments.squashed[reason]!,
    }));
    const found = all.filter((one) => one.flushes > 0 || one.squashed > 0);
    if (hasOthers(channel, found)) return null;
    return {
      reasons: found,
      flushes: total(columns[0]!),
      squashed: total(squashedPerInterval!),
      flushesPerInterval: columns[0]!,
      squashedPerInterval: squashedPerInterval!,
    };
  }

  /** Their runs have been added with the segments. False: the index lumps some reasons together. */
  private addStalls(): boolean {
    const { channels, sums, analysis } = this;
    const { stalls: channel } = channels;
    if (!channel) return true;
    const columns = sums.get(channel)!;
    const found = reasonColumns(channel, columns)
      .map((perInterval, reason) => ({
        name: reasonNames(channel)[reason]!,
        cycles: total(perInterval),
        perInterval,
      }))
      .filter(({ cycles }) => cycles > 0);
    if (hasOthers(channel, found)) return false;
    analysis.stalls?.addCycles(found, total(columns[0]!));
    return true;
  }
}

/** Values without a label are not counted separately: an analysis would name them. */
function hasOthers({ labels }: Channel, found: readonly { readonly name: string }[]): boolean {
  return labels !== null && found.some(({ name }) => name === labels.names.at(-1));
}
