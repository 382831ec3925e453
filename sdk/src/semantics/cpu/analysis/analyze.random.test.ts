/** The analysis of made-up pipelines, whose every figure is computed again from the model's own record, the slow and obvious way. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../../../test/support/limits.js';
import { type Model, PERIOD_PS, STAGES } from '../../../../../test/support/pipeline-model.js';
import { analyze, build, generator, ROB_SLOTS, record } from '../../../../../test/support/recorded-run.js';
import { memorySource, openTrace } from '../../../reader/index.js';
import { instructions } from '../../instructions/instructions.js';
import { findCore } from '../index.js';
import type { CoreReport } from './report.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

/** A life of an instruction in cycles, as much of it as figures are made of. */
interface Life {
  readonly birth: number;
  readonly stages: readonly { readonly name: string; readonly cycle: number }[];
  readonly flush: { readonly reason: string; readonly cycle: number } | null;
  readonly end: number | null;
}

const byRank = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? null;

function distributionOf(values: readonly number[]) {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    count: sorted.length,
    mean: sorted.length > 0 ? expect.closeTo(sorted.reduce((a, b) => a + b, 0) / sorted.length, 9) : null,
    min: sorted[0] ?? null,
    median: byRank(sorted, 0.5),
    p90: byRank(sorted, 0.9),
    p99: byRank(sorted, 0.99),
    max: sorted.at(-1) ?? null,
  };
}

/** What the analysis of cycles `from` to `to` has to find in these lives. */
function expectedOf(lives: readonly Life[], from: number, to: number) {
  const isIn = (cycle: number | null | undefined): boolean =>
    cycle !== null && cycle !== undefined && cycle >= from && cycle < to;
  const retired = lives.filter(({ end, flush }) => !flush && isIn(end));
  const flushed = lives.filter(({ flush }) => isIn(flush?.cycle));
  const cyclesOf = (some: readonly Life[]): number => new Set(some.map(({ flush }) => flush!.cycle)).size;
  return {
    retired: retired.length,
    fetched: lives.filter(({ birth }) => isIn(birth)).length,
    squashed: flushed.length,
    flushes: cyclesOf(flushed),
    reasons: Object.fromEntries(
      [...new Set(flushed.map(({ flush }) => flush!.reason))].map((reason) => {
        const some = flushed.filter(({ flush }) => flush!.reason === reason);
        return [reason, { flushes: cyclesOf(some), squashed: some.length }];
      }),
    ),
    lifetime: distributionOf(retired.map(({ birth, end }) => end! - birth)),
    stages: STAGES.map((stage) => expectedStage(lives, stage, isIn)),
    retiredIn: (a: number, b: number) => retired.filter(({ end }) => end! >= a && end! < b).length,
  };
}

function expectedStage(lives: readonly Life[], stage: string, isIn: (cycle: number | null) => boolean) {
  const latencies: number[] = [];
  let squashed = 0;
  for (const { stages, flush, end } of lives) {
    stages.forEach(({ name, cycle }, index) => {
      if (name !== stage) return;
      const next = stages[index + 1]?.cycle;
      const left = next ?? (flush ? null : end);
      if (left !== null && isIn(left)) latencies.push(left - cycle);
      else if (next === undefined && flush && isIn(flush.cycle)) squashed++;
    });
  }
  return { stage, latency: distributionOf(latencies), squashed, unknown: 0 };
}

/** Random runs: cycles, frames per segment, and a range within. */
const runs = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  cycles: fc.integer({ min: 1, max: 160 }),
  perSegment: fc.integer({ min: 1, max: 60 }),
  a: fc.double({ min: 0, max: 0.99, noNaN: true }),
  b: fc.double({ min: 0.01, max: 1, noNaN: true }),
  points: fc.integer({ min: 1, max: 40 }),
});

function rangeOf(cycles: number, a: number, b: number): [from: number, to: number] {
  const from = Math.floor(a * cycles);
  return [from, Math.min(cycles, Math.max(from + 1, Math.ceil(b * cycles)))];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('the analysis of a random pipeline', () => {
  it('finds what its record says, in any range', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async ({ seed, cycles, perSegment, a, b, points }) => {
        const { model, added, occupied, frames } = record(generator(seed), cycles);
        const [from, to] = rangeOf(cycles, a, b);
        const core = await analyze(build(frames, perSegment), { from, to, points });
        const expected = expectedOf(model.instructions, from, to);

        expect([core.fromCycle, core.toCycle, core.cycles]).toEqual([BigInt(from), BigInt(to), to - from]);
        expect(core.instructions).toMatchObject({
          retired: expected.retired,
          ipc: expected.retired / (to - from),
          fetched: expected.fetched,
          squashed: expected.squashed,
          lost: 0,
        });
        expect(core.flushes.flushes).toBe(expected.flushes);
        const reasons = core.flushes.reasons.map(({ reason, flushes, squashed }) => [
          reason,
          { flushes, squashed },
        ]);
        expect(Object.fromEntries(reasons)).toEqual(expected.reasons);
        expect(core.lifetime).toMatchObject(expected.lifetime);
        expect(core.stages).toMatchObject(expected.stages);
        expectWidths(core, expected.retiredIn, from, to);
        expectStalls(core, model, from, to);
        expectOccupancy(core, 'rob', occupied.slice(from, to), ROB_SLOTS);
        const inFlight = Array.from({ length: to - from }, (_, i) => livesAt(model, from + i));
        expectOccupancy(core, 'entities', inFlight, 24);
        expectCounter(core, added, from, to);
        expectSeries(core, expected.retiredIn, from);
      }),
      { numRuns: 80 },
    );
  });

  it('agrees with the instructions read one by one, however frames are stored', async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.boolean(), async ({ seed, cycles, perSegment, a, b }, interleaved) => {
        const { frames } = record(generator(seed), cycles);
        const bytes = build(frames, perSegment, interleaved);
        const [from, to] = rangeOf(cycles, a, b);
        const expected = expectedOf(await livesIn(bytes), from, to);
        const core = await analyze(bytes, { from, to });
        expect(core.instructions).toMatchObject({
          retired: expected.retired,
          fetched: expected.fetched,
          squashed: expected.squashed,
        });
        expect(core.stages).toMatchObject(expected.stages);
        expect(core.lifetime).toMatchObject(expected.lifetime);
      }),
      { numRuns: 30 },
    );
  });

  it('without looking back says which visits it does not know the beginning of', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async ({ seed, cycles, a, b }) => {
        const { model, frames } = record(generator(seed), cycles);
        const [from, to] = rangeOf(cycles, a, b);
        const core = await analyze(build(frames, 10), { from, to, lookback: 0 });
        const expected = expectedOf(model.instructions, from, to);
        core.stages.forEach(({ latency, unknown }, index) => {
          expect(latency.count + unknown).toBeLessThanOrEqual(expected.stages[index]!.latency.count);
        });
        // Of what was flushed long ago and is cleared only now, nobody looked at the flush.
        const flushedBefore = model.instructions.filter(
          ({ flush, end }) => flush && flush.cycle < from && end !== null && end >= from && end < to,
        );
        expect(core.instructions.retired).toBeGreaterThanOrEqual(expected.retired);
        expect(core.instructions.retired).toBeLessThanOrEqual(expected.retired + flushedBefore.length);
      }),
      { numRuns: 20 },
    );
  });
});

/** How many instructions are in flight after a cycle's frame. */
function livesAt({ instructions: all }: Model, cycle: number): number {
  return all.filter(({ birth, end }) => birth <= cycle && (end === null || end > cycle)).length;
}

async function livesIn(bytes: Uint8Array): Promise<Life[]> {
  const trace = await openTrace(memorySource(bytes));
  const lives: Life[] = [];
  const cycle = (timePs: bigint): number => Number(timePs) / PERIOD_PS;
  for await (const { birthPs, stages, flush, endPs } of instructions(trace, findCore(trace))) {
    const before = flush ? stages.filter(({ timePs }) => timePs <= flush.timePs) : stages;
    lives.push({
      birth: cycle(birthPs!),
      stages: before.map(({ name, timePs }) => ({ name, cycle: cycle(timePs) })),
      flush: flush && { reason: flush.reason!, cycle: cycle(flush.timePs) },
      end: endPs === null ? null : cycle(endPs),
    });
  }
  return lives;
}

function expectWidths(
  core: CoreReport,
  retiredIn: (a: number, b: number) => number,
  from: number,
  to: number,
) {
  const widths: number[] = [];
  for (let cycle = from; cycle < to; cycle++) {
    const width = retiredIn(cycle, cycle + 1);
    widths[width] = (widths[width] ?? 0) + 1;
  }
  expect(core.instructions.retiredPerCycle).toEqual(
    Array.from({ length: Math.max(1, widths.length) }, (_, width) => widths[width] ?? 0),
  );
}

function expectStalls(core: CoreReport, { stalls }: Model, from: number, to: number) {
  const inside = stalls.filter(({ cycle }) => cycle >= from && cycle < to);
  expect(core.stalls.cycles).toBe(inside.length);
  expect(core.stalls.share).toBe(inside.length / (to - from));
  expect(sum(core.stalls.reasons.map(({ events }) => events))).toBe(inside.length);
  for (const { reason, cycles, episodes, longest } of core.stalls.reasons) {
    const own = inside.filter((one) => one.reason === reason).map(({ cycle }) => cycle);
    const runs: number[] = [];
    own.forEach((cycle, index) => {
      if (own[index - 1] === cycle - 1) runs[runs.length - 1]!++;
      else runs.push(1);
    });
    expect([cycles, episodes, longest]).toEqual([own.length, runs.length, Math.max(...runs)]);
  }
}

function expectOccupancy(core: CoreReport, name: string, levels: readonly number[], slots: number) {
  const found = core.buffers.find(({ buffer }) => buffer === name)!;
  const { count: _, min: _min, p90: _p90, ...expected } = distributionOf(levels);
  expect(found).toMatchObject({
    ...expected,
    slots,
    fullShare: levels.filter((level) => level === slots).length / levels.length,
    emptyShare: levels.filter((level) => level === 0).length / levels.length,
  });
  expect(found.histogram).toEqual(
    Array.from(
      { length: Math.max(...levels) + 1 },
      (_, level) => levels.filter((one) => one === level).length,
    ),
  );
  const { series } = core;
  const means = series!.buffers.find(({ buffer }) => buffer === name)!.mean;
  series!.start.forEach((start, index) => {
    const part = levels.slice(start, start + series!.cycles[index]!);
    expect(means[index]).toBeCloseTo(sum(part) / part.length, 9);
  });
}

function expectCounter(core: CoreReport, added: readonly number[], from: number, to: number) {
  const delta = sum(added.slice(from, to));
  expect(core.counters).toEqual([
    {
      counter: 'committed_insns',
      start: BigInt(sum(added.slice(0, from))),
      end: BigInt(sum(added.slice(0, to))),
      delta: BigInt(delta),
      perCycle: delta / (to - from),
      perKiloInstructions: core.instructions.retired ? (delta * 1000) / core.instructions.retired : null,
    },
  ]);
  const { series } = core;
  expect(series!.counters[0]!.delta).toEqual(
    series!.start.map((start, i) => sum(added.slice(from + start, from + start + series!.cycles[i]!))),
  );
}

function expectSeries(core: CoreReport, retiredIn: (a: number, b: number) => number, from: number) {
  const { start, cycles, ipc, flushes, squashed, stalls } = core.series!;
  expect(sum(cycles)).toBe(core.clockCycles);
  expect(ipc).toEqual(start.map((at, i) => retiredIn(from + at, from + at + cycles[i]!) / cycles[i]!));
  expect(sum(flushes)).toBe(core.flushes.flushes);
  expect(sum(squashed)).toBe(core.instructions.squashed);
  expect(stalls.map(({ reason, cycles: all }) => [reason, sum(all)])).toEqual(
    core.stalls.reasons.map(({ reason, cycles: all }) => [reason, all]),
  );
}
