import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { buildMipmap, createMipmapLevel, type TraceSummary } from '../../format/tsum.js';
import { Action, type Frame } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { findCore } from '../cpu/cores.js';
import type { CounterOptions } from './counter-work.js';
import { counters } from './counters.js';

const { schema } = parseSchema(`
uscope: 1
clocks: {core_clk: 10, bus_clk: 25, lost_clk: 0}
scopes:
  core0:
    protocol: cpu
    clock: core_clk
    storages: {committed: counter, misses: counter, regs: {slots: 2, kind: dense, fields: {x: u64}}}
  bus: {clock: bus_clk, storages: {beats: counter}}
  lost: {clock: lost_clk, storages: {idle: counter}}
`);
const COMMITTED = 0;
const MISSES = 1;
const BEATS = 3;
const IDLE = 4;
const COUNTERS = [COMMITTED, MISSES, BEATS, IDLE];
const PERIODS = new Map([
  [COMMITTED, 10n],
  [MISSES, 10n],
  [BEATS, 25n],
]);
const BASE = 8;

/** Value of a counter after all frames before `time`, by going through them. */
function valueAt(frames: readonly Frame[], id: number, time: bigint): bigint {
  let value = 0n;
  for (const { timePs, items } of frames) {
    for (const item of items) {
      if (timePs >= time || item.kind !== 'op' || item.storageId !== id) continue;
      if (item.action === Action.ADD) value += item.value;
      else value = item.action === Action.SET ? item.value : 0n;
    }
  }
  return BigInt.asUintN(64, value);
}

/** Changes of a counter by cycle, those that are not zero. */
function changes(frames: readonly Frame[], id: number, from: bigint, to: bigint): Map<bigint, bigint> {
  const period = PERIODS.get(id) ?? 1n;
  const result = new Map<bigint, bigint>();
  const times = [...new Set(frames.map(({ timePs }) => timePs))].filter((t) => t >= from && t < to);
  for (const time of times) {
    const delta = valueAt(frames, id, time + 1n) - valueAt(frames, id, time);
    const sum = BigInt.asUintN(64, (result.get(time / period) ?? 0n) + delta);
    result.set(time / period, sum);
  }
  return new Map([...result].filter(([, sum]) => sum !== 0n));
}

function extremes(frames: readonly Frame[], id: number, from: bigint, to: bigint) {
  const sums = [...changes(frames, id, from, to).values()].sort((a, b) => (a < b ? -1 : 1));
  return sums.length > 0 ? { min: sums[0], max: sums.at(-1) } : null;
}

/** The summary a writer would have made: ADD only. */
function summaryOf(frames: readonly Frame[]): TraceSummary {
  const adds = frames.map(({ timePs, items }) => ({
    timePs,
    items: items.filter((item) => item.kind === 'op' && item.action === Action.ADD),
  }));
  const end = frames.at(-1)?.timePs ?? 0n;
  return {
    baseIntervalCycles: BASE,
    fanOut: 4,
    totalInstructions: 0n,
    density: [],
    counters: [...PERIODS].map(([storageId, period]) => {
      const level = createMipmapLevel(Number(end / period / BigInt(BASE)) + 1);
      for (const [cycle, sum] of changes(adds, storageId, 0n, end + 1n)) {
        const bucket = Number(cycle / BigInt(BASE));
        if (level.max[bucket] === 0n || sum < level.min[bucket]) level.min[bucket] = sum;
        if (sum > level.max[bucket]) level.max[bucket] = sum;
        level.sum[bucket] += sum;
      }
      return { name: `c${storageId}`, storageId, levels: buildMipmap(level, 4) };
    }),
  };
}

interface Built {
  readonly frames: readonly Frame[];
  readonly perSegment: number;
}

async function open({ frames, perSegment }: Built, summary: TraceSummary | null): Promise<Trace> {
  const builder = new TraceBuilder({ schema });
  for (let at = 0; at < frames.length; at += perSegment) {
    const part = frames.slice(at, at + perSegment);
    builder.segment({ frames: part, start: at === 0 ? 0n : part[0].timePs });
  }
  if (summary) builder.finalize({ summary });
  return openTrace(memorySource(builder.bytes));
}

const ops = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constantFrom(...COUNTERS), fc.nat(3)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...COUNTERS), fc.bigInt(0n, (1n << 64n) - 1n)) },
);
const built: fc.Arbitrary<Built> = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(60), fc.array(ops, { maxLength: 4 })), { minLength: 1, maxLength: 80 }),
    fc.integer({ min: 1, max: 12 }),
  )
  .map(([steps, perSegment]) => {
    let time = 0;
    const frames = steps.map(([step, items]) => {
      time += step;
      return frame(time, ...items.map(([id, value]) => add(id, 0, 0, value)));
    });
    return { frames, perSegment };
  });

/** The same question to a trace without summary, and to one with. */
async function both(made: Built, options: CounterOptions) {
  const replayed = await counters(await open(made, null), options);
  const summed = await counters(await open(made, summaryOf(made.frames)), options);
  return { replayed, summed };
}

describe('counters over a range', () => {
  it('are what the frames add up to, from the summary and by replay', async () => {
    await fc.assert(
      fc.asyncProperty(
        built,
        fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
        fc.integer({ min: 1, max: 9 }),
        async (made, [a, b], points) => {
          const { frames } = made;
          const end = Number(frames.at(-1)?.timePs ?? 0n) + 1;
          const from = BigInt(Math.floor(Math.min(a, b) * (end - 1)));
          const to = BigInt(Math.floor(Math.max(a, b) * end)) + 1n;
          fc.pre(from < to);
          const { replayed, summed } = await both(made, { from, to, points, perCycle: true });
          for (const report of [...replayed, ...summed]) {
            const { storageId: id, startValue, endValue, delta, perCycle, series } = report;
            expect([startValue, endValue]).toEqual([valueAt(frames, id, from), valueAt(frames, id, to)]);
            expect(BigInt.asUintN(64, delta)).toBe(BigInt.asUintN(64, endValue - startValue));
            expect(perCycle).toEqual(PERIODS.has(id) ? extremes(frames, id, from, to) : null);
            expect(series?.length).toBeLessThanOrEqual(points);
            expect([series?.[0].fromPs, series?.at(-1)?.toPs]).toEqual([report.fromPs, report.toPs]);
            for (const point of series ?? []) {
              expect(point.value).toBe(valueAt(frames, id, point.toPs));
              expect(BigInt.asUintN(64, point.value - valueAt(frames, id, point.fromPs))).toBe(
                BigInt.asUintN(64, point.delta),
              );
            }
          }
        },
      ),
      { numRuns: cases(30) },
    );
  });

  const steady: Built = {
    frames: Array.from({ length: 400 }, (_, cycle) =>
      frame(cycle * 10, add(COMMITTED, 0, 0, cycle % 2), ...(cycle === 250 ? [add(COMMITTED, 0, 0, 9)] : [])),
    ),
    perSegment: 20,
  };

  it('give value, change, rate and extremes', async () => {
    const [committed] = await counters(await open(steady, summaryOf(steady.frames)), {
      core: findCore(await open(steady, null)),
      from: 100,
      to: 300,
      unit: 'cycles',
      perCycle: true,
    });
    expect(committed).toMatchObject({
      name: 'core0/committed',
      label: 'committed',
      fromPs: 1000n,
      toPs: 3000n,
      periodPs: 10n,
      cycles: 200,
      startValue: 50n,
      endValue: 159n,
      delta: 109n,
      rate: 109 / 200,
      perCycle: { min: 1n, max: 9n },
      series: null,
      source: 'summary',
    });
  });

  it('take the summary for wide ranges, replay for narrow ones, states where nothing more is asked', async () => {
    const trace = await open(steady, summaryOf(steady.frames));
    const source = async (options: CounterOptions) =>
      (await counters(trace, { counters: ['committed'], ...options }))[0].source;
    expect(await source({})).toBe('states');
    expect(await source({ perCycle: true })).toBe('summary');
    expect(await source({ points: 10 })).toBe('summary');
    expect(await source({ perCycle: true, from: 500, to: 900 })).toBe('replay');
    // Intervals shorter than the summary's buckets.
    expect(await source({ points: 100 })).toBe('replay');
    expect((await counters(await open(steady, null), { perCycle: true }))[0].source).toBe('replay');
  });

  it('do not believe a summary that disagrees with the values', async () => {
    const summary = summaryOf(steady.frames);
    summary.counters[0].levels[0].sum[3] += 1n;
    const [report] = await counters(await open(steady, summary), { perCycle: true });
    expect([report.source, report.perCycle]).toEqual(['replay', { min: 1n, max: 9n }]);
  });

  it('follow SET and CLEAR, which the summary does not count', async () => {
    const frames = Array.from({ length: 60 }, (_, cycle) =>
      frame(cycle * 10, cycle === 30 ? set(MISSES, 0, 0, 1000) : add(MISSES, 0, 0, 2)),
    );
    frames.push(frame(600, clear(MISSES, 0)), frame(610, add(MISSES, 0, 0, 5)));
    const made = { frames, perSegment: 5 };
    const [report] = await counters(await open(made, summaryOf(frames)), {
      counters: ['misses'],
      points: 4,
    });
    expect(report).toMatchObject({ source: 'replay', startValue: 0n, endValue: 5n, delta: 5n });
    expect(report.series?.map(({ value }) => value)).toEqual([32n, 1002n, 1034n, 5n]);
  });

  it('of the whole trace end with the cycle of the last frame', async () => {
    const [report] = await counters(await open(steady, null), { counters: [COMMITTED] });
    expect([report.fromPs, report.toPs, report.cycles]).toEqual([0n, 4000n, 400]);
  });

  it('of a clock without period have no rate and no extremes, but a series', async () => {
    const made = { frames: [frame(0, add(IDLE, 0, 0, 1)), frame(99, add(IDLE, 0, 0, 4))], perSegment: 9 };
    const [report] = await counters(await open(made, null), {
      counters: ['idle'],
      points: 2,
      perCycle: true,
    });
    expect(report).toMatchObject({ periodPs: 0n, cycles: null, rate: null, perCycle: null, delta: 5n });
    expect(report.series?.map(({ fromPs, delta }) => [fromPs, delta])).toEqual([
      [0n, 1n],
      [50n, 4n],
    ]);
  });

  it('of an empty trace are nothing', async () => {
    const trace = await openTrace(memorySource(new TraceBuilder({ schema }).bytes));
    const reports = await counters(trace, { perCycle: true, points: 3 });
    expect(reports.map(({ delta, rate, perCycle }) => [delta, rate, perCycle])).toEqual(
      COUNTERS.map(() => [0n, null, null]),
    );
  });

  it('refuse what is not a counter or a range', async () => {
    const trace = await open(steady, null);
    await expect(counters(trace, { counters: ['regs'] })).rejects.toThrow(/READER_NAME.*not a counter/);
    await expect(counters(trace, { counters: ['comitted'] })).rejects.toThrow(
      /READER_NAME.*core0\/committed/,
    );
    await expect(counters(trace, { from: 9, to: 9 })).rejects.toThrow(/READER_RANGE.*empty/);
    await expect(counters(trace, { from: 4000 })).rejects.toThrow(/READER_RANGE.*0 to 4000 ps/);
    await expect(counters(trace, { points: 0 })).rejects.toThrow(/READER_RANGE.*points/);
  });
});
