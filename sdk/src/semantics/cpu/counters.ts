/**
 * Counters of the cpu protocol over a range: values, change, rate, extremes per cycle, and a series. The result is the same whether it comes from
 * checkpoints, from the trace summary (docs/format.md#trace-summary) or from replay; a wide range takes the summary where the trace has one that agrees with the values.
 */
import type { CounterSummary, TraceSummary } from '../../format/tsum.js';
import type { StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { stateBefore } from '../../reader/queries/state-before.js';
import { askStretches, NotMergeable, type Stretch, type StretchCall } from '../common/stretches.js';
import { chosenStorages } from './chosen-storages.js';
import { CounterReplay, type PerCycle, type ReplayedCounter, type ReplayPart } from './counter-replay.js';
import { isCounterStorage } from './counter-storage.js';
import {
  askedRange,
  coveredRange,
  earlier,
  intervalStart,
  later,
  type PsRange,
  type QueryRange,
  type SeriesGrid,
  seriesGrid,
  tickOf,
} from './query-range.js';

export interface CounterOptions extends QueryRange {
  /** By path, own name or storage id; by default all counters (of `core`, where one is given). */
  readonly counters?: readonly (string | number)[] | undefined;
  /** Also a series of at most this number of intervals, 1 to 65,536. */
  readonly points?: number | undefined;
  /** Also the least and greatest change per cycle. Without this and `points` only checkpoints are read: quick for any range. */
  readonly perCycle?: boolean | undefined;
}

export interface CounterPoint {
  /** In ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Change of the value in the interval. */
  readonly delta: bigint;
  /** Value at its end. */
  readonly value: bigint;
}

export interface CounterReport {
  readonly storageId: number;
  /** Scope path and name: `core0/committed_insns`. */
  readonly name: string;
  /** The counter's own name: `committed_insns`. */
  readonly label: string;
  /** The part of the range that the trace covers, in ps; start inclusive, end exclusive. */
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** Period of its clock in ps; 0n: unknown, there are no cycles. */
  readonly periodPs: bigint;
  /** Length of the range in cycles, which may be fractional; null where there are none. */
  readonly cycles: number | null;
  /** Value before the first frame of the range and after its last one (unsigned). */
  readonly startValue: bigint;
  readonly endValue: bigint;
  /** How much the value changed, modulo 2^64, as a signed number. */
  readonly delta: bigint;
  /** `delta` per cycle; null where there are no cycles. */
  readonly rate: number | null;
  /** Extremes of the cycles that changed it; null when not asked for, when none did, or where there are no cycles. */
  readonly perCycle: PerCycle | null;
  /** null when not asked for. */
  readonly series: readonly CounterPoint[] | null;
  /** Where the numbers come from. */
  readonly source: 'states' | 'summary' | 'replay';
}

/** Ranges of fewer segments are replayed: the summary would save little. */
const NARROW_SEGMENTS = 4;

/**
 * The counters of a trace over a range, by default all of them over the whole trace, in the order of the schema (or of `counters`).
 * @throws UscopeError READER_NAME (no such counter, or a storage that is none), READER_RANGE (range empty or outside the trace),
 *   READER_NO_CYCLES, FORMAT_* for damage
 */
export async function counters(trace: Trace, options: CounterOptions = {}): Promise<CounterReport[]> {
  const defs = selectCounters(trace, options);
  const asked = askedRange(options);
  const wantsDetail = options.points !== undefined || options.perCycle === true;
  const summary = wantsDetail ? await usableSummary(trace) : null;
  const work: Work[] = [];
  for (const def of defs) {
    const periodPs = BigInt(trace.clockOf(def.scopeId)?.periodPs ?? 0);
    const range = await coveredRange(trace, asked, periodPs);
    const known =
      periodPs > 0n ? (summary?.counters.find((c) => c.storageId === def.storageId) ?? null) : null;
    work.push(new Work(def, periodPs, range, options.points, summary, known, trace.totalTimePs));
  }
  await readEnds(trace, work);
  if (wantsDetail) await readDetail(trace, work, options);
  return work.map((one) => one.report(trace, options));
}

function selectCounters(trace: Trace, { counters: names, core }: CounterOptions): readonly StorageDef[] {
  const usual = core ? core.counters : trace.schema.storages.filter(isCounterStorage);
  const why = 'is no counter: a counter is dense and has one slot with one u64 field';
  return chosenStorages(trace, names, usual, core !== undefined, isCounterStorage, why);
}

async function usableSummary(trace: Trace): Promise<TraceSummary | null> {
  const summary = await trace.summary();
  return summary && summary.baseIntervalCycles > 0 ? summary : null;
}

/** Buckets of the summary that lie wholly in a range, and where they begin and end in ps. */
interface Middle {
  readonly first: number;
  /** Exclusive. */
  readonly last: number;
  readonly fromPs: bigint;
  readonly toPs: bigint;
}

/** One counter, while its report is made. */
class Work {
  readonly tickPs: bigint;
  readonly grid: SeriesGrid | null;
  readonly baseTicks: bigint;
  startValue = 0n;
  endValue = 0n;
  extremes: PerCycle | null = null;
  deltas: readonly bigint[] | null = null;
  source: CounterReport['source'] = 'states';

  constructor(
    readonly def: StorageDef,
    readonly periodPs: bigint,
    readonly range: PsRange,
    points: number | undefined,
    summary: TraceSummary | null,
    readonly known: CounterSummary | null,
    private readonly totalTimePs: bigint,
  ) {
    this.tickPs = tickOf(periodPs);
    this.baseTicks = BigInt(summary?.baseIntervalCycles ?? 1);
    const step = known ? this.baseTicks : 1n;
    this.grid = points === undefined ? null : seriesGrid(range, this.tickPs, points, step);
  }

  /** The part of the range that the summary covers; null: none of it. */
  middle(): Middle | null {
    const level = this.known?.levels[0];
    if (!level || level.sum.length === 0) return null;
    if (this.grid && this.grid.widthTicks % this.baseTicks !== 0n) return null;
    const { from, to } = this.range;
    const width = this.baseTicks * this.tickPs;
    const count = BigInt(level.sum.length);
    const first = (from + width - 1n) / width;
    // Nothing is after the last bucket, and nothing in it is after the end of the trace.
    const last = to >= count * width || to > this.totalTimePs ? count : to / width;
    if (last <= first) return null;
    const end = last === count ? to : last * width;
    return { first: Number(first), last: Number(last), fromPs: first * width, toPs: end };
  }

  /** Adds the buckets of the summary to a replay that precedes them. */
  addMiddle(replay: CounterReplay, index: number, { first, last }: Middle): void {
    const level = this.known?.levels[0];
    if (!level) return;
    const { grid, baseTicks } = this;
    for (let bucket = first; bucket < last; bucket++) {
      if (level.max[bucket] === 0n) continue;
      const tick = BigInt(bucket) * baseTicks;
      const interval = grid ? Number((tick - grid.firstTick) / grid.widthTicks) : 0;
      replay.addKnown(index, interval, level.sum[bucket], { min: level.min[bucket], max: level.max[bucket] });
    }
  }

  take(replay: CounterReplay, index: number, source: CounterReport['source']): void {
    this.extremes = replay.perCycle(index);
    this.deltas = this.grid ? replay.deltas(index) : null;
    this.source = source;
  }

  report(trace: Trace, options: CounterOptions): CounterReport {
    const { def, periodPs, range, startValue, endValue } = this;
    const cycles = periodPs > 0n ? Number(range.to - range.from) / Number(periodPs) : null;
    const delta = BigInt.asIntN(64, endValue - startValue);
    return {
      storageId: def.storageId,
      name: trace.names.storageNames[def.storageId],
      label: def.name,
      fromPs: range.from,
      toPs: range.to,
      periodPs,
      cycles,
      startValue,
      endValue,
      delta,
      rate: cycles ? Number(delta) / cycles : null,
      perCycle: options.perCycle && periodPs > 0n ? this.extremes : null,
      series: this.series(),
      source: this.source,
    };
  }

  private series(): CounterPoint[] | null {
    const { grid, tickPs, range, deltas } = this;
    if (!grid || !deltas) return null;
    let value = this.startValue;
    return deltas.map((delta, index) => {
      value = BigInt.asUintN(64, value + delta);
      const fromPs = intervalStart(grid, tickPs, index, range);
      return { fromPs, toPs: intervalStart(grid, tickPs, index + 1, range), delta, value };
    });
  }
}

/** Values at both ends of the ranges, from the states there. */
async function readEnds(trace: Trace, work: readonly Work[]): Promise<void> {
  const times = new Set(work.flatMap(({ range }) => [range.from, range.to]));
  for (const time of times) {
    const state = await stateBefore(trace, time);
    for (const one of work) {
      const { storageId } = one.def;
      if (one.range.from === time) one.startValue = state.value(storageId, 0, 0);
      if (one.range.to === time) one.endValue = state.value(storageId, 0, 0);
    }
  }
}

/** Per-cycle extremes and series: from the summary where it is worth it and agrees with the values, else by replay. */
async function readDetail(trace: Trace, work: readonly Work[], options: CounterOptions): Promise<void> {
  const left = new Set(work);
  for (const group of await summaryGroups(trace, work)) {
    for (const one of await fromSummary(trace, group, options)) left.delete(one);
  }
  const rest = [...left];
  const [first] = rest;
  if (!first) return;
  const from = rest.map(({ range }) => range.from).reduce(earlier, first.range.from);
  const to = rest.map(({ range }) => range.to).reduce(later, first.range.to);
  const values = rest.map(({ startValue }) => startValue);
  const replay = await runDivided(trace, rest.map(replayed), values, { from, to }, options);
  rest.forEach((one, index) => {
    one.take(replay, index, 'replay');
  });
}

function replayed({ def, tickPs, grid }: Work) {
  return { storageId: def.storageId, tickPs, grid };
}

async function isWide(trace: Trace, { from, to }: PsRange): Promise<boolean> {
  const first = await trace.firstSegmentReaching(from);
  return (await trace.segmentAt(to - 1n)) - first >= NARROW_SEGMENTS;
}

interface SummaryGroup {
  readonly work: Work[];
  readonly range: PsRange;
  readonly middle: Middle;
}

/** The counters that the summary helps with; those whose replayed edges are the same together. */
async function summaryGroups(trace: Trace, work: readonly Work[]): Promise<SummaryGroup[]> {
  const groups = new Map<string, SummaryGroup>();
  for (const one of work) {
    const { range } = one;
    const middle = one.middle();
    if (!middle || !(await isWide(trace, range))) continue;
    const key = [range.from, range.to, middle.fromPs, middle.toPs, middle.first, middle.last].join();
    const group = groups.get(key);
    if (group) group.work.push(one);
    else groups.set(key, { work: [one], range, middle });
  }
  return [...groups.values()];
}

/** Those for which the summary agrees with the values behind it: it counts ADD only, and nobody checks that of other writers. */
async function fromSummary(
  trace: Trace,
  { work, range, middle }: SummaryGroup,
  { signal, pause }: CounterOptions,
): Promise<Work[]> {
  const replay = new CounterReplay(
    work.map(replayed),
    work.map(({ startValue }) => startValue),
  );
  await run(trace, replay, { from: range.from, to: middle.fromPs }, { signal, pause });
  work.forEach((one, index) => {
    one.addMiddle(replay, index, middle);
  });
  const state = await stateBefore(trace, middle.toPs);
  const agrees = work.map((one, index) => replay.value(index) === state.value(one.def.storageId, 0, 0));
  await run(trace, replay, { from: middle.toPs, to: range.to }, { signal, pause });
  return work.filter((one, index) => {
    if (agrees[index]) one.take(replay, index, 'summary');
    return agrees[index];
  });
}

async function run(
  trace: Trace,
  replay: CounterReplay,
  { from, to }: PsRange,
  { progress, signal, pause }: StretchCall,
  stretch: Stretch | null = null,
): Promise<void> {
  if (from >= to) return;
  const { begin, end } = stretch ?? { begin: 0, end: null };
  const startPs = stretch ? later(from, (await trace.segment(begin)).timeStartPs) : from;
  const stopPs = end !== null && end < trace.segmentCount ? (await trace.segment(end)).timeStartPs : to;
  let hasBegun = false;
  await trace.scan(
    { from: startPs, to },
    {
      segment: async ({ header, index }) => {
        signal?.throwIfAborted();
        await pause?.();
        if (stopPs > startPs) progress?.(Number(header.timeStartPs - startPs) / Number(stopPs - startPs));
        hasBegun = index >= begin;
        return end === null || index < end;
      },
      frame: (cursor) => {
        if (hasBegun) replay.frame(cursor);
      },
      op: (cursor) => {
        if (hasBegun) replay.op(cursor);
      },
    },
  );
  progress?.(1);
}

/** The kind of work that `counterStretch` does. */
export const COUNTERS = 'counters';

/** The work of one stretch: plain data. */
export interface CounterStretch extends Stretch, PsRange {
  readonly counters: readonly ReplayedCounter[];
  /** Values in front of it. Null: its checkpoint tells. */
  readonly values: readonly bigint[] | null;
}

/** What a stretch has found: plain data. */
export interface CounterStretchPart {
  readonly parts: readonly ReplayPart[];
  /** Times of its first and last frame in ps; null: it has none. */
  readonly firstPs: bigint | null;
  readonly lastPs: bigint | null;
}

/** @throws UscopeError FORMAT_* for damage */
export async function counterStretch(
  trace: Trace,
  { counters, values, from, to, begin, end }: CounterStretch,
  call: StretchCall,
): Promise<CounterStretchPart> {
  const isFirst = (await trace.segment(begin)).timeStartPs <= from;
  const state = isFirst ? await stateBefore(trace, from) : (await trace.stateBefore(begin)).raw;
  const own = counters.map(({ storageId }) => state.value(storageId, 0, 0));
  const replay = new CounterReplay(counters, values ?? own);
  replay.splitHead();
  await run(trace, replay, { from, to }, call, { begin, end });
  const { firstPs, lastPs } = replay.times;
  return { parts: replay.parts(), firstPs, lastPs };
}

/** In stretches where that is worth it, else in one scan. */
async function runDivided(
  trace: Trace,
  counters: readonly ReplayedCounter[],
  values: readonly bigint[],
  range: PsRange,
  options: CounterOptions,
): Promise<CounterReplay> {
  const { signal, progress, stretches } = options;
  const joined = new CounterReplay(counters, values);
  let last: bigint | null = null;
  const isDone = await askStretches<CounterStretchPart, readonly bigint[]>(trace, stretches, {
    kind: COUNTERS,
    ...range,
    signal,
    progress,
    work: (stretch, known): CounterStretch => ({ ...stretch, ...range, counters, values: known }),
    add: ({ parts, firstPs, lastPs }) => {
      if (firstPs !== null && last !== null && firstPs < last) throw new NotMergeable('time runs backwards');
      if (!joined.absorb(parts)) return false;
      last = lastPs ?? last;
      return true;
    },
    carry: () => counters.map((_, index) => joined.value(index)),
  });
  if (isDone) return joined;
  const replay = new CounterReplay(counters, values);
  await run(trace, replay, range, options);
  return replay;
}
