/**
 * Counters of the cpu protocol over a range: values, change, rate, extremes per cycle, and a series. The result is the same whether it comes from
 * checkpoints, from the trace summary (docs/reference/format.md#trace-summary) or from replay; a wide range takes the summary where the trace has one that agrees with the values.
 */
import type { TraceSummary } from '../../format/tsum.js';
import { isCounterStorage, type StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { stateBefore } from '../../reader/queries/state-before.js';
import { askedRange, coveredRange, earlier, later, type PsRange } from '../cpu/query-range.js';
import { chosenStorages } from './chosen-storages.js';
import { CounterReplay } from './counter-replay.js';
import { type CounterOptions, type CounterReport, CounterWork, type Middle } from './counter-work.js';

/** Ranges of fewer segments are replayed: the summary would save little. */
const NARROW_SEGMENTS = 4;

/**
 * The counters of a trace over a range, by default all of them over the whole trace, in the order of the schema (or of `counters`).
 * @throws UscopeError READER_NAME (no such counter, or a storage that is none), READER_RANGE (range empty or outside the trace),
 *   READER_NO_CYCLES, FORMAT_* for damage
 */
export async function counters(trace: Trace, options: CounterOptions = {}): Promise<CounterReport[]> {
  const work = await counterWork(trace, options);
  if (wantsDetail(options)) await readDetail(trace, work, options);
  return work.map((one) => one.report(trace, options));
}

function wantsDetail({ points, perCycle }: CounterOptions): boolean {
  return points !== undefined || perCycle === true;
}

/** What is asked of each counter, with the values at both ends. @throws UscopeError as `counters` */
export async function counterWork(trace: Trace, options: CounterOptions): Promise<CounterWork[]> {
  const defs = selectCounters(trace, options);
  const asked = askedRange(options);
  const summary = wantsDetail(options) ? await usableSummary(trace) : null;
  const work: CounterWork[] = [];
  for (const def of defs) {
    const periodPs = BigInt(trace.clockOf(def.scopeId)?.periodPs ?? 0);
    const range = await coveredRange(trace, asked, periodPs);
    const known =
      periodPs > 0n ? (summary?.counters.find((c) => c.storageId === def.storageId) ?? null) : null;
    work.push(new CounterWork(def, periodPs, range, options.points, summary, known, trace.totalTimePs));
  }
  await readEnds(trace, work);
  return work;
}

function selectCounters(trace: Trace, { counters: names, core }: CounterOptions): readonly StorageDef[] {
  const usual = core ? core.counters : trace.schema.storages.filter(isCounterStorage);
  const why = 'is not a counter: a counter is dense and has one slot with one u64 field';
  return chosenStorages(trace, names, usual, core !== undefined, isCounterStorage, why);
}

async function usableSummary(trace: Trace): Promise<TraceSummary | null> {
  const summary = await trace.summary();
  return summary && summary.baseIntervalCycles > 0 ? summary : null;
}

/** Values at both ends of the ranges, from the states there. */
async function readEnds(trace: Trace, work: readonly CounterWork[]): Promise<void> {
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
async function readDetail(
  trace: Trace,
  work: readonly CounterWork[],
  options: CounterOptions,
): Promise<void> {
  const left = new Set(work);
  for (const group of options.exact ? [] : await summaryGroups(trace, work)) {
    for (const one of await fromSummary(trace, group, options)) left.delete(one);
  }
  const rest = [...left];
  const [first] = rest;
  if (!first) return;
  const from = rest.map(({ range }) => range.from).reduce(earlier, first.range.from);
  const to = rest.map(({ range }) => range.to).reduce(later, first.range.to);
  const replay = replayOf(rest);
  await run(trace, replay, { from, to }, options);
  rest.forEach((one, index) => {
    one.take(replay, index, 'replay');
  });
}

function replayOf(work: readonly CounterWork[]): CounterReplay {
  return new CounterReplay(
    work.map(({ def, tickPs, grid }) => ({ storageId: def.storageId, tickPs, grid })),
    work.map(({ startValue }) => startValue),
  );
}

async function isWide(trace: Trace, { from, to }: PsRange): Promise<boolean> {
  const first = await trace.firstSegmentReaching(from);
  return (await trace.segmentAt(to - 1n)) - first >= NARROW_SEGMENTS;
}

interface SummaryGroup {
  readonly work: CounterWork[];
  readonly range: PsRange;
  readonly middle: Middle;
}

/** The counters that the summary helps with; those whose replayed edges are the same together. */
async function summaryGroups(trace: Trace, work: readonly CounterWork[]): Promise<SummaryGroup[]> {
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
  { signal }: CounterOptions,
): Promise<CounterWork[]> {
  const replay = replayOf(work);
  await run(trace, replay, { from: range.from, to: middle.fromPs }, { signal });
  work.forEach((one, index) => {
    one.addMiddle(replay, index, middle);
  });
  const state = await stateBefore(trace, middle.toPs);
  const agrees = work.map((one, index) => replay.value(index) === state.value(one.def.storageId, 0, 0));
  await run(trace, replay, { from: middle.toPs, to: range.to }, { signal });
  return work.filter((one, index) => {
    if (agrees[index]) one.take(replay, index, 'summary');
    return agrees[index];
  });
}

async function run(
  trace: Trace,
  replay: CounterReplay,
  { from, to }: PsRange,
  { progress, signal }: CounterOptions,
): Promise<void> {
  if (from >= to) return;
  await trace.scan(
    { from, to },
    {
      segment: ({ header }) => {
        signal?.throwIfAborted();
        progress?.(Number(header.timeStartPs - from) / Number(to - from));
      },
      op: (cursor) => replay.op(cursor),
    },
  );
  progress?.(1);
}
