/** An analysis in stretches gives what one scan gives, wherever the borders are. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../../../test/support/build-trace.js';
import { cases } from '../../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../../test/support/limits.js';
import { event, modelSchema, STAGES } from '../../../../../test/support/pipeline-model.js';
import { build, generator, record } from '../../../../../test/support/recorded-run.js';
import { localRunner, maskedBorders } from '../../../../../test/support/stretches.js';
import { memorySource, openTrace } from '../../../reader/index.js';
import { analyzePerformance, type PerformanceOptions } from './index.js';

// Ten times the cases where all are tried.
limitOfFile(MANY_CASES_MS);

const runs = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  cycles: fc.integer({ min: 2, max: 160 }),
  perSegment: fc.integer({ min: 1, max: 40 }),
  mask: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  from: fc.double({ min: 0, max: 0.9, noNaN: true }),
  lookback: fc.constantFrom(0, 1, 2, 16),
  points: fc.integer({ min: 0, max: 40 }),
  interleaved: fc.boolean(),
});

/** The report of one scan and that of stretches, which must not have fallen back to one scan. */
async function both(bytes: Uint8Array, mask: number, options: PerformanceOptions) {
  const whole = await analyzePerformance(await openTrace(memorySource(bytes)), options);
  const runner = localRunner(bytes, maskedBorders(mask));
  const trace = await openTrace(memorySource(bytes));
  const scan = vi.spyOn(trace, 'scan');
  const divided = await analyzePerformance(trace, { ...options, stretches: runner });
  return { whole, divided, done: runner.done.length, scans: scan.mock.calls.length };
}

describe('an analysis in stretches', () => {
  it('equals one scan, wherever the borders are', async () => {
    let divisions = 0;
    await fc.assert(
      fc.asyncProperty(
        runs,
        async ({ seed, cycles, perSegment, mask, from, lookback, points, interleaved }) => {
          const { frames } = record(generator(seed), cycles);
          const bytes = build(frames, perSegment, interleaved);
          const options = { from: Math.floor(from * cycles), unit: 'cycles', lookback, points } as const;
          const { whole, divided, done, scans } = await both(bytes, mask, options);
          expect(divided).toEqual(whole);
          expect(scans).toBe(done > 0 ? 0 : 1);
          divisions += done;
        },
      ),
      { numRuns: cases(30) },
    );
    expect(divisions).toBeGreaterThan(0);
  });

  it('equals one scan of items that make no sense, with several segments in one cycle and storages emptied between them', async () => {
    const hostile = fc.record({
      seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      mask: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      lookback: fc.constantFrom(0, 1, 16),
      ours: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(hostile, async ({ seed, mask, lookback, ours }) => {
        const bytes = senselessTrace(generator(seed), ours);
        const { whole, divided } = await both(bytes, mask, { lookback, points: 7 });
        expect(divided).toEqual(whole);
      }),
      { numRuns: cases(30) },
    );
  });

  it('an instruction that waits for a long time is known on both sides of every border', async () => {
    const builder = new TraceBuilder({
      schema: modelSchema(),
      dut: [['cpu.pipeline_stages', STAGES.join(',')]],
    });
    const [birth, end] = [[set(0, 3, 0, 3), event(0, 3, 0, 0, 0, 1)], [clear(0, 3)]];
    for (let cycle = 0; cycle < 40; cycle++) {
      const other = cycle % 2 === 0 ? set(0, 5, 0, 5) : clear(0, 5);
      const own = cycle === 0 ? birth : cycle === 39 ? end : [];
      builder.segment({ frames: [frame(cycle * 500, ...own, other)] });
    }
    const { bytes } = builder.finalize();
    const { whole, divided, done, scans } = await both(bytes, 2 ** 31 - 1, { lookback: 1 });
    expect(whole.cores[0]!.lifetime.max).toBe(39);
    expect(divided).toEqual(whole);
    // Every stretch once, and the last one again: it sees that instruction end.
    expect([done, scans]).toEqual([41, 0]);
  });

  it('damage is reported as by one scan', async () => {
    const { frames } = record(generator(11), 60);
    const bytes = build(frames, 10);
    const trace = await openTrace(memorySource(bytes));
    const { offset } = await trace.segment(3);
    bytes[Number(offset) + 80]! ^= 0xff;
    const failures = [];
    for (const stretches of [undefined, localRunner(bytes, maskedBorders(2 ** 31 - 1))]) {
      const damaged = await openTrace(memorySource(bytes), { verify: true });
      const failure = await analyzePerformance(damaged, { stretches }).catch((error: unknown) => error);
      failures.push(failure instanceof Error ? failure.message : 'none');
    }
    expect(failures[0]).toMatch(/^FORMAT_|at offset/);
    expect(failures[1]).toBe(failures[0]);
  });

  it('ends with the reason of its signal', async () => {
    const { frames } = record(generator(11), 60);
    const bytes = build(frames, 5);
    const controller = new AbortController();
    const runner = localRunner(bytes, maskedBorders(2 ** 31 - 1));
    const run: typeof runner.run = (kind, work, call) => {
      controller.abort(new Error('enough'));
      return runner.run(kind, work, call);
    };
    const trace = await openTrace(memorySource(bytes));
    const analysis = analyzePerformance(trace, {
      signal: controller.signal,
      stretches: { ...runner, run },
    });
    await expect(analysis).rejects.toThrow('enough');
  });
});

/** Ids that are not slots', values without a name, retirements without births; times that are the same in several segments. */
function senselessTrace(choose: (below: number) => number, ours: boolean): Uint8Array {
  const builder = new TraceBuilder({
    schema: modelSchema({ cores: 2, slots: 6 }),
    ...(ours ? {} : { session: null }),
  });
  let time = 0;
  const segments = 2 + choose(12);
  for (let segment = 0; segment < segments; segment++) {
    const frames = Array.from({ length: choose(5) }, () => {
      time += [0, 100, 500, 1500][choose(4)]!;
      return frame(time, ...Array.from({ length: choose(6) }, () => senselessItem(choose)));
    });
    const start = BigInt(frames[0] ? Number(frames[0].timePs) : time);
    const emptied = segment > 0 && choose(5) === 0 ? [choose(2) * 2] : [];
    builder.segment({ frames, start, end: BigInt(time), emptied });
  }
  return builder.finalize().bytes;
}

function senselessItem(choose: (below: number) => number) {
  const core = choose(2);
  const [slot, id] = [choose(6), choose(4) === 0 ? 6 + choose(4) : choose(6)];
  switch (choose(7)) {
    case 0:
    case 1:
      return set(core * 2, slot, 0, choose(3) === 0 ? id : slot);
    case 2:
      return set(core * 2, slot, 2, 0x13 + choose(9));
    case 3:
      return clear(core * 2, slot);
    case 4:
      return event(core * 5 + 3, id, 0, 0, 0, choose(7));
    case 5:
      return event(core * 5 + 4, choose(5));
    default:
      return choose(3) === 0 ? set(core * 2 + 1, 0, 0, choose(9)) : event(core * 5, id, 0, 0, 0, choose(7));
  }
}
