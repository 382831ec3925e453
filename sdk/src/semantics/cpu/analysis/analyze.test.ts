/** The analysis of small traces, figure by figure. */
import { describe, expect, it } from 'vitest';
import { add, clear, frame, set, TraceBuilder } from '../../../../../test/support/build-trace.js';
import { event, modelSchema, PERIOD_PS, u32 } from '../../../../../test/support/pipeline-model.js';
import {
  analyze,
  build,
  COMMITTED,
  dut,
  generator,
  record,
  schemaWithBuffer,
} from '../../../../../test/support/recorded-run.js';
import type { Frame } from '../../../format/types.js';
import { memorySource, openTrace } from '../../../reader/index.js';
import { occupancy } from '../../storages/occupancy.js';
import { analyzePerformance } from './analyze.js';
import type { CoreReport } from './report.js';

const born = (id: number) => set(0, id, 0, id);
const enters = (id: number, stage: number) => event(0, ...u32(id), stage);
const flush = (id: number, reason: number) => event(3, ...u32(id), reason);
const at = (cycle: number, ...items: Parameters<typeof frame>[1][]) => frame(cycle * PERIOD_PS, ...items);
const traceOf = (...frames: Frame[]): Uint8Array => build(frames, 1000);

describe('the analysis', () => {
  /** Two instructions that retire, one that is squashed. */
  const small = traceOf(
    at(0, born(0), enters(0, 0)),
    at(1, born(1), enters(1, 0), enters(0, 1)),
    at(4, born(2), enters(2, 0), enters(0, 2), enters(1, 1)),
    at(5, enters(0, 3), flush(2, 0), clear(0, 2)),
    at(6, clear(0, 0), enters(1, 2)),
    at(7, enters(1, 3)),
    at(9, clear(0, 1)),
  );

  it('of a small trace', async () => {
    const core = await analyze(small, {});
    expect(core.cycles).toBe(10);
    expect(core.instructions).toMatchObject({ retired: 2, ipc: 0.2, cpi: 5, fetched: 3, squashed: 1 });
    expect(core.instructions.retiredPerCycle).toEqual([8, 2]);
    expect(core.flushes).toEqual({
      flushes: 1,
      perKiloInstructions: 500,
      reasons: [{ reason: 'mispredict', flushes: 1, squashed: 1, perKiloInstructions: 500, share: 1 }],
    });
    expect(
      core.stages.map(({ stage, latency, squashed }) => [stage, latency.mean, latency.max, squashed]),
    ).toEqual([
      ['fetch', 2, 3, 1],
      ['decode', 2.5, 3, 0],
      ['execute', 1, 1, 0],
      ['writeback', 1.5, 2, 0],
    ]);
    expect(core.lifetime).toMatchObject({ count: 2, mean: 7, min: 6, median: 6, max: 8 });
    expect(core.buffers[0]).toMatchObject({ buffer: 'entities', max: 3, histogram: [1, 4, 4, 1] });
  });

  it('of a part knows when what was in flight at its start began', async () => {
    const core = await analyze(small, { from: 6, to: 10 });
    expect(core.instructions).toMatchObject({
      retired: 2,
      fetched: 0,
      squashed: 0,
      inFlightAtStart: 2,
      inFlightAtEnd: 0,
    });
    expect(core.stages[1]).toMatchObject({ stage: 'decode', latency: { count: 1, max: 2 }, unknown: 0 });
    expect(core.lifetime).toMatchObject({ count: 2, max: 8 });
  });

  it('counts a slot taken again without a CLEAR as lost', async () => {
    const core = await analyze(traceOf(at(0, born(0)), at(2, set(0, 0, 0, 7)), at(3, clear(0, 0))), {});
    expect(core.instructions).toMatchObject({ fetched: 2, lost: 1, retired: 1, inFlightAtEnd: 0 });
  });

  it('loses at a disabled scope what was in flight, there and in buffers', async () => {
    const builder = new TraceBuilder({ schema: modelSchema(), dut })
      .segment({ frames: [at(0, born(0), born(1)), at(1, clear(0, 1))], end: BigInt(2 * PERIOD_PS) })
      .segment({ frames: [at(2), at(8)], emptied: [0], end: BigInt(9 * PERIOD_PS) })
      .segment({ frames: [at(9, born(0))] });
    const bytes = builder.finalize().bytes;
    const core = await analyze(bytes, {});
    expect(core.instructions).toMatchObject({ fetched: 3, lost: 1, retired: 1, inFlightAtEnd: 1 });
    expect(core.buffers[0]).toMatchObject({ buffer: 'entities', max: 2, histogram: [7, 2, 1] });
    const trace = await openTrace(memorySource(bytes));
    const [entities] = await occupancy(trace, { buffers: ['core0/entities'] });
    expect(entities).toMatchObject({ last: 1, max: 2 });
    expect(entities.histogram.slice(0, 3)).toEqual([7, 2, 1].map((cycles) => BigInt(cycles * PERIOD_PS)));
  });

  it('takes what was flushed and never cleared for gone when its slot is taken again', async () => {
    const core = await analyze(
      traceOf(at(0, born(0)), at(1, flush(0, 1)), at(3, born(0)), at(5, clear(0, 0))),
      {},
    );
    expect(core.instructions).toMatchObject({ fetched: 2, lost: 0, squashed: 1, retired: 1 });
    expect(core.lifetime).toMatchObject({ count: 1, max: 2 });
  });

  it('gives events in front of the birth, in the same frame, to the one born', async () => {
    const core = await analyze(
      traceOf(at(0, enters(3, 0), born(3)), at(4, enters(3, 1)), at(5, clear(0, 3))),
      {},
    );
    expect(core.stages[0]).toMatchObject({ latency: { count: 1, max: 4 } });
  });

  it('counts repeated stalls of one cycle once, and runs of cycles', async () => {
    const stall = (reason: number) => event(4, reason);
    const bytes = traceOf(
      at(0, stall(0), stall(0), stall(1)),
      at(1, stall(0)),
      at(3, stall(0)),
      at(7, stall(9)),
    );
    const { stalls } = await analyze(bytes, {});
    expect(stalls.cycles).toBe(4);
    expect(stalls.reasons).toEqual([
      { reason: 'rob_full', events: 4, cycles: 3, share: 3 / 8, episodes: 2, longest: 2 },
      { reason: '9', events: 1, cycles: 1, share: 1 / 8, episodes: 1, longest: 1 },
      { reason: 'fetch_miss', events: 1, cycles: 1, share: 1 / 8, episodes: 1, longest: 1 },
    ]);
  });

  it('follows counters that are set, count down and wrap', async () => {
    const top = 2n ** 64n - 1n;
    const bytes = traceOf(
      at(0, set(COMMITTED, 0, 0, top)),
      at(2, add(COMMITTED, 0, 0, 3)),
      at(3, add(COMMITTED, 0, 0, -1)),
    );
    const { counters } = await analyze(bytes, { from: 1 });
    expect(counters[0]).toMatchObject({ start: top, end: 1n, delta: 1n - top });
    const { series } = await analyze(bytes, { from: 1, points: 3 });
    expect(series!.counters[0]!.delta).toEqual([0, 3, -1]);
  });

  it('takes the cycles a core counts for its cycles only where they are close to those of the clock', async () => {
    const schema = schemaWithBuffer();
    const named = schema.storages.map((one) =>
      one.storageId === COMMITTED ? { ...one, name: 'cycles' } : one,
    );
    const counting = async (count: number): Promise<CoreReport> => {
      const builder = new TraceBuilder({ schema: { ...schema, storages: named }, dut });
      const frames = [at(0, born(0), add(COMMITTED, 0, 0, count)), at(9, clear(0, 0))];
      return analyze(builder.segment({ frames }).finalize().bytes, {});
    };
    expect(await counting(9)).toMatchObject({ clockCycles: 10, cycles: 9, cyclesCounter: 'cycles' });
    expect((await counting(9)).instructions.ipc).toBe(1 / 9);
    expect(await counting(4)).toMatchObject({ clockCycles: 10, cycles: 10, cyclesCounter: null });
    expect((await counting(4)).checks).toMatchObject([
      { what: 'cycles', counted: 10, counter: 'cycles', value: 4n },
    ]);
  });

  it('of a trace that still grows is that of what has been committed', async () => {
    const { frames } = record(generator(3), 120);
    const growing = new TraceBuilder({ schema: schemaWithBuffer(), dut });
    growing.segment({ frames: frames.slice(0, 50) }).segment({ frames: frames.slice(50, 80) });
    const then = await analyze(growing.bytes, {});
    expect(then).toEqual(await analyze(build(frames.slice(0, 80), 50), {}));
    growing.segment({ frames: frames.slice(80) });
    expect(await analyze(growing.bytes, { to: then.toCycle })).toEqual(then);
  });

  it('needs no series', async () => {
    expect((await analyze(small, { points: 0 })).series).toBeNull();
  });

  it('says how far it is, and ends on request', async () => {
    const { frames } = record(generator(1), 100);
    const trace = await openTrace(memorySource(build(frames, 10)));
    const shares: number[] = [];
    await analyzePerformance(trace, { onProgress: (share) => shares.push(share) });
    expect(shares.length).toBeGreaterThan(5);
    expect(shares).toEqual([...shares].sort((x, y) => x - y));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(analyzePerformance(trace, { signal })).rejects.toThrow('enough');
  });

  it.each([
    [{ from: 5, to: 3 }, 'READER_RANGE'],
    [{ from: 100, to: 200 }, 'READER_RANGE'],
    [{ points: 1e9 }, 'READER_RANGE'],
    [{ cores: ['core9'] }, 'READER_NAME'],
  ])('of %o fails with %s', async (options, code) => {
    await expect(analyze(small, options)).rejects.toMatchObject({ code });
  });
});

describe('the analysis of two cores', () => {
  it('keeps them apart', async () => {
    const schema = modelSchema({ cores: 2 });
    const builder = new TraceBuilder({ schema, dut });
    builder.segment({
      frames: [
        at(0, set(0, 1, 0, 1), set(2, 1, 0, 1), event(0, ...u32(1), 0), event(5, ...u32(1), 2)),
        at(3, clear(2, 1), event(9, 1)),
        at(4, event(3, ...u32(1), 2), clear(0, 1)),
      ],
    });
    const trace = await openTrace(memorySource(builder.finalize().bytes));
    const { cores } = await analyzePerformance(trace);
    expect(cores.map(({ core }) => core)).toEqual(['core0', 'core1']);
    expect(cores.map(({ instructions: { retired, squashed } }) => [retired, squashed])).toEqual([
      [0, 1],
      [1, 0],
    ]);
    expect(cores.map(({ stalls }) => stalls.cycles)).toEqual([0, 1]);
    expect(cores[1]!.stages[2]).toMatchObject({ stage: 'execute', latency: { count: 1, max: 3 } });
    const one = await analyzePerformance(trace, { cores: ['core1'] });
    expect(one.cores).toEqual([cores[1]]);
  });
});
