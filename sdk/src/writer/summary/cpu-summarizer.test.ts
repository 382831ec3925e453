import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { decodeTraceSummary, encodeTraceSummary, type TraceSummary } from '../../format/tsum.js';
import { Action, isCounterStorage, type Schema } from '../../format/types.js';
import { clockOfScope, parseSchema } from '../../schema/index.js';
import type { Summarizer } from '../frames/summarizer.js';
import { createCpuSummarizer } from './cpu-summarizer.js';

const SCHEMA = parseSchema(`
uscope: 1
clocks: {core_clk: 1000, bus_clk: 2500, lost_clk: 0}
clock: bus_clk
storages:
  beats: counter
scopes:
  core0:
    protocol: cpu
    clock: core_clk
    storages:
      entities: {slots: 4, kind: sparse, fields: {entity_id: u32, pc: u64}}
      cycles: counter
      committed: counter
      two_slots: {slots: 2, kind: dense, fields: {count: u64}}
      narrow: {slots: 1, kind: dense, fields: {count: u32}}
      two_fields: {slots: 1, kind: dense, fields: {a: u64, b: u64}}
      sparse: {slots: 1, kind: sparse, fields: {count: u64}}
    scopes:
      lsu: {storages: {committed: counter}}
  core1:
    clock: lost_clk
    storages:
      entities: {slots: 4, kind: sparse, fields: {entity_id: u32}}
      idle: counter
`).schema;

const id = (path: string): number => {
  const [name, ...scope] = path.split('/').reverse();
  const scopeName = scope[0];
  return SCHEMA.storages.findIndex(
    (def) => def.name === name && (SCHEMA.scopes[def.scopeId]?.name ?? undefined) === scopeName,
  );
};
const ENTITIES = id('core0/entities');
const CYCLES = id('core0/cycles');
const COMMITTED = id('core0/committed');
const BEATS = id('beats');

type Op = readonly [action: Action, storageId: number, field: number, value: bigint];
interface TestFrame {
  readonly timePs: bigint;
  readonly ops: readonly Op[];
}

/** Drives a summarizer as the writer does. */
function feed(summarizer: Summarizer, frames: readonly TestFrame[]): void {
  for (const { timePs, ops } of frames) {
    const seen = ops.filter(([, storage]) => summarizer.watched[storage]);
    for (const [action, storage, field, value] of seen) {
      summarizer.op(action, storage, 0, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
    }
    if (seen.length > 0) summarizer.endFrame(Number(timePs & 0xffff_ffffn), Number(timePs >> 32n));
  }
}

function summarize(frames: readonly TestFrame[], maxBuckets?: number): TraceSummary {
  const summarizer = createCpuSummarizer(SCHEMA, maxBuckets === undefined ? {} : { maxBuckets });
  feed(summarizer, frames);
  return summarizer.finish();
}

const birth: Op = [Action.SET, ENTITIES, 0, 7n];
const add = (storage: number, value: bigint): Op => [Action.ADD, storage, 0, value];
const level0 = (summary: TraceSummary, name: string): [bigint, bigint, bigint][] => {
  const level = summary.counters.find((counter) => counter.name === name)?.levels[0];
  return level ? [...level.sum].map((sum, i) => [level.min[i]!, level.max[i]!, sum]) : [];
};

describe('what is summed', () => {
  it('watches entities and counters of known clocks, nothing else', () => {
    const watched = [...createCpuSummarizer(SCHEMA).watched].flatMap((flag, i) => (flag ? [i] : []));
    expect(watched).toEqual([BEATS, ENTITIES, CYCLES, COMMITTED, id('lsu/committed')]);
  });

  it('knows a counter by its shape', () => {
    const counters = SCHEMA.storages.filter(isCounterStorage).map((def) => def.name);
    expect(counters).toEqual(['beats', 'cycles', 'committed', 'committed', 'idle']);
  });

  it('names counters, with the scope only where names repeat', () => {
    expect(summarize([]).counters.map(({ name, storageId }) => [name, storageId])).toEqual([
      ['beats', BEATS],
      ['cycles', CYCLES],
      ['core0/committed', COMMITTED],
      ['core0/lsu/committed', id('lsu/committed')],
    ]);
  });

  it('has no levels for an empty trace', () => {
    const summary = summarize([]);
    expect(summary).toMatchObject({
      baseIntervalCycles: 1024,
      fanOut: 4,
      totalInstructions: 0n,
      density: [],
    });
    expect(summary.counters.every((counter) => counter.levels.length === 0)).toBe(true);
  });
});

describe('instructions', () => {
  it('every SET of field 0 is a birth, on a free slot or not; other ops are none', () => {
    const other: Op[] = [
      [Action.SET, ENTITIES, 1, 9n],
      [Action.CLEAR, ENTITIES, 0, 0n],
      [Action.ADD, ENTITIES, 0, 1n],
      [Action.PROP_SET, ENTITIES, 0, 1n],
    ];
    const summary = summarize([{ timePs: 0n, ops: [birth, birth, ...other] }]);
    expect(summary.totalInstructions).toBe(2n);
    expect(summary.density).toEqual([Uint32Array.of(2)]);
  });

  it('are counted in the bucket of their cycle', () => {
    const at = (cycle: bigint): TestFrame => ({ timePs: cycle * 1000n, ops: [birth] });
    const summary = summarize([at(0n), at(1023n), at(1024n), at(5121n)]);
    expect(summary.density).toEqual([
      Uint32Array.of(2, 1, 0, 0, 0, 1),
      Uint32Array.of(3, 1),
      Uint32Array.of(4),
    ]);
  });
});

describe('counters', () => {
  it('sum per cycle: frames of one cycle count together', () => {
    const frames = [0n, 0n, 400n, 999n, 1000n].map((timePs) => ({ timePs, ops: [add(COMMITTED, 3n)] }));
    expect(level0(summarize(frames), 'core0/committed')).toEqual([[3n, 12n, 15n]]);
  });

  it('cycles without a change take no part in min', () => {
    const frames = [0n, 5n, 0n, 2n].map((value, i) => ({
      timePs: BigInt(i) * 1000n,
      ops: [add(CYCLES, value)],
    }));
    expect(level0(summarize(frames), 'cycles')).toEqual([[2n, 5n, 7n]]);
  });

  it('count the cycles of each clock', () => {
    const frames = Array.from({ length: 2048 }, (_, i) => ({
      timePs: BigInt(i) * 2500n,
      ops: [add(BEATS, 1n), add(CYCLES, 1n)],
    }));
    const summary = summarize(frames);
    expect(level0(summary, 'beats').map(([, , sum]) => sum)).toEqual([1024n, 1024n, 0n, 0n, 0n]);
    expect(level0(summary, 'cycles').map(([, , sum]) => sum)).toEqual([410n, 410n, 409n, 410n, 409n]);
  });

  it('keep 64 bits and wrap', () => {
    const frames = [
      { timePs: 0n, ops: [add(CYCLES, 0xffff_ffffn), add(CYCLES, 1n)] },
      { timePs: 1000n, ops: [add(CYCLES, 0x8000_0000_0000_0000n), add(CYCLES, 0x7fff_ffff_ffff_ffffn)] },
    ];
    const max = 2n ** 64n - 1n;
    expect(level0(summarize(frames), 'cycles')).toEqual([[2n ** 32n, max, 2n ** 32n - 1n]]);
  });

  /** `count` ADDs of 2^32 - 1 in one frame. */
  const addLargest = (summarizer: Summarizer, count: number, cycle: number): void => {
    for (let i = 0; i < count; i++) summarizer.op(Action.ADD, CYCLES, 0, 0, 0xffff_ffff, 0);
    summarizer.endFrame(cycle * 1000, 0);
  };

  it('stay exact when the sum of a cycle passes 2^53', () => {
    const summarizer = createCpuSummarizer(SCHEMA);
    for (let i = 0; i < 50; i++) addLargest(summarizer, 60_001, 7);
    feed(summarizer, [{ timePs: 7000n, ops: [add(CYCLES, 2n ** 40n)] }]);
    addLargest(summarizer, 2, 7);
    addLargest(summarizer, 1, 8);
    const large = 2n ** 32n - 1n;
    const sum = 3_000_052n * large + 2n ** 40n;
    expect(level0(summarizer.finish(), 'cycles')).toEqual([[large, sum, sum + large]]);
  });

  it('stay exact when the sum of a bucket passes 2^53', () => {
    const summarizer = createCpuSummarizer(SCHEMA);
    for (let cycle = 0; cycle < 1000; cycle++) addLargest(summarizer, 3001, cycle);
    const sum = 3001n * (2n ** 32n - 1n);
    expect(level0(summarizer.finish(), 'cycles')).toEqual([[sum, sum, 1000n * sum]]);
  });

  it('ignore SET', () => {
    expect(
      level0(summarize([{ timePs: 0n, ops: [[Action.SET, CYCLES, 0, 5n], add(CYCLES, 1n)] }]), 'cycles'),
    ).toEqual([[1n, 1n, 1n]]);
  });
});

describe('long traces', () => {
  it('coarsen by the fan-out when the buckets are used up', () => {
    const frames = Array.from({ length: 20 }, (_, i) => ({
      timePs: BigInt(i) * 1024_000n,
      ops: [birth, add(CYCLES, 1n)],
    }));
    const summary = summarize(frames, 8);
    expect(summary.baseIntervalCycles).toBe(4096);
    expect(summary.density[0]).toEqual(Uint32Array.of(4, 4, 4, 4, 4));
    expect(level0(summary, 'cycles')).toEqual(Array(5).fill([1n, 1n, 4n]));
  });

  it('coarsen while another counter is in the middle of a bucket', () => {
    const slow = [1030n, 1031n].map((cycle) => ({ timePs: cycle * 1000n, ops: [add(COMMITTED, 3n)] }));
    const fast = [9000n, 9001n].map((cycle) => ({ timePs: cycle * 1000n, ops: [add(CYCLES, 1n)] }));
    const summary = summarize([...slow, ...fast, { timePs: 9_002_000n, ops: [add(COMMITTED, 1n)] }], 8);
    expect(summary.baseIntervalCycles).toBe(4096);
    expect(level0(summary, 'core0/committed')).toEqual([
      [3n, 3n, 6n],
      [0n, 0n, 0n],
      [1n, 1n, 1n],
    ]);
  });

  it('stay within 65,536 buckets', () => {
    const last = 65_536n * 1024n;
    const at = (cycle: bigint): TestFrame => ({ timePs: cycle * 1000n, ops: [birth] });
    expect(summarize([at(0n), at(last - 1n)])).toMatchObject({ baseIntervalCycles: 1024 });
    const longer = summarize([at(0n), at(last - 1n), at(last)]);
    expect(longer.baseIntervalCycles).toBe(4096);
    expect(longer.density[0]).toHaveLength(16_385);
  });

  it('put times above 2^53 into exactly their cycle', () => {
    const boundary = 2n ** 30n * 33_000n * 1000n;
    const buckets = (timePs: bigint): number => summarize([{ timePs, ops: [birth] }]).density[0]!.length;
    expect([buckets(boundary - 1n), buckets(boundary)]).toEqual([33_000, 33_001]);
  });

  it('survive the largest time there is, and keep every count', () => {
    const frames = [0n, 2n ** 53n, 2n ** 64n - 1n].map((timePs) => ({
      timePs,
      ops: [birth, add(CYCLES, 2n)],
    }));
    const summary = summarize(frames);
    expect(summary.baseIntervalCycles).toBe(2 ** 30);
    expect(summary.density.at(-1)).toEqual(Uint32Array.of(3));
    expect(summary.counters[1]?.levels.at(-1)?.sum).toEqual(BigUint64Array.of(6n));
  });

  it('give many counters fewer buckets each', () => {
    const storages = Array.from({ length: 1000 }, (_, i) => `c${i}: counter`).join(', ');
    const { schema } = parseSchema(`uscope: 1\nclocks: {clk: 1}\nstorages: {${storages}}\n`);
    const summarizer = createCpuSummarizer(schema);
    summarizer.op(Action.ADD, 999, 0, 0, 1, 0);
    summarizer.endFrame(0xffff_ffff, 0);
    const length = summarizer.finish().counters[0]!.levels[0]!.sum.length;
    expect(length * 1000 * 24).toBeLessThanOrEqual(128 * 1024 * 1024);
  });
});

it('finish may be asked for in the middle of a cycle and changes nothing', () => {
  const frames = [0n, 100n, 200n].map((timePs) => ({ timePs, ops: [add(CYCLES, 1n)] }));
  const summarizer = createCpuSummarizer(SCHEMA);
  feed(summarizer, frames.slice(0, 2));
  expect(level0(summarizer.finish(), 'cycles')).toEqual([[2n, 2n, 2n]]);
  feed(summarizer, frames.slice(2));
  expect(level0(summarizer.finish(), 'cycles')).toEqual([[3n, 3n, 3n]]);
});

describe('against a model that keeps everything', () => {
  const CHOICES = [
    BEATS,
    ENTITIES,
    CYCLES,
    COMMITTED,
    id('lsu/committed'),
    id('core1/idle'),
    id('core0/narrow'),
  ];
  const op = fc.tuple(
    fc.constantFrom<Action>(
      Action.ADD,
      Action.ADD,
      Action.ADD,
      Action.ADD,
      Action.SET,
      Action.SET,
      Action.CLEAR,
      Action.PROP_SET,
    ),
    fc.constantFrom(...CHOICES),
    fc.constantFrom(0, 0, 0, 1),
    fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 64n - 1n)),
  );
  const step = fc.oneof(
    fc.bigInt(0n, 3000n),
    fc.bigInt(0n, 9000n),
    fc.bigInt(0n, 5_000_000n),
    fc.bigInt(0n, 2n ** 36n),
  );
  const trace = fc.array(fc.tuple(step, fc.array(op, { maxLength: 6 })), { maxLength: 60 });

  it('every level of every row is the same', () => {
    fc.assert(
      fc.property(trace, fc.constantFrom(4, 5, 16, 1000), (steps, maxBuckets) => {
        let timePs = 0n;
        const frames = steps.map(([delta, ops]) => {
          timePs += delta;
          return { timePs, ops };
        });
        const summary = summarize(frames, maxBuckets);
        expect(summary).toEqual(model(SCHEMA, frames, maxBuckets));
        expect(decodeTraceSummary(encodeTraceSummary(summary))).toEqual(summary);
      }),
      { numRuns: cases(20, 240) },
    );
  });
});

function ascending(values: readonly bigint[]): bigint[] {
  return [...values].sort((a, b) => (a < b ? -1 : 1));
}

/** The definition, computed from all frames at once. */
function model(schema: Schema, frames: readonly TestFrame[], maxBuckets: number): TraceSummary {
  const period = (storage: number): bigint =>
    BigInt(clockOfScope(schema, schema.storages[storage]!.scopeId)!.periodPs);
  const births: bigint[] = [];
  const cycles = new Map<number, Map<bigint, bigint>>();
  const seen: bigint[] = [];
  for (const { timePs, ops } of frames) {
    for (const [action, storage, field, value] of ops) {
      if (field !== 0 || period(storage) === 0n) continue;
      const cycle = timePs / period(storage);
      if (storage === ENTITIES && action === Action.SET) births.push(cycle);
      if (!isCounterStorage(schema.storages[storage]!) || action !== Action.ADD) continue;
      const sums = cycles.get(storage) ?? new Map<bigint, bigint>();
      sums.set(cycle, BigInt.asUintN(64, (sums.get(cycle) ?? 0n) + value));
      cycles.set(storage, sums);
    }
  }
  seen.push(
    ...births,
    ...[...cycles.values()].flatMap((sums) => [...sums].flatMap(([cycle, sum]) => (sum ? [cycle] : []))),
  );
  const last = ascending(seen).at(-1) ?? -1n;
  let interval = 1024n;
  while (last / interval >= BigInt(maxBuckets)) interval *= 4n;
  const levels = <T>(make: (width: bigint, length: number) => T): T[] => {
    const all: T[] = [];
    for (let width = interval; last >= 0n; width *= 4n) {
      const length = Number(last / width) + 1;
      all.push(make(width, length));
      if (length === 1) break;
    }
    return all;
  };
  const counters = schema.storages.filter((def) => isCounterStorage(def) && period(def.storageId) > 0n);
  const names = ['beats', 'cycles', 'core0/committed', 'core0/lsu/committed'];
  return {
    baseIntervalCycles: Number(interval),
    fanOut: 4,
    totalInstructions: BigInt(births.length),
    density: levels((width, length) => {
      const level = new Uint32Array(length);
      for (const cycle of births) level[Number(cycle / width)]!++;
      return level;
    }),
    counters: counters.map(({ storageId }, index) => ({
      name: names[index]!,
      storageId,
      levels: levels((width, length) => {
        const buckets = Array.from({ length }, () => [] as bigint[]);
        for (const [cycle, sum] of cycles.get(storageId) ?? [])
          if (sum !== 0n) buckets[Number(cycle / width)]!.push(sum);
        const fold = (each: (values: bigint[]) => bigint): BigUint64Array =>
          BigUint64Array.from(buckets, (values) => (values.length > 0 ? each(values) : 0n));
        return {
          min: fold((values) => ascending(values)[0]!),
          max: fold((values) => ascending(values).at(-1)!),
          sum: fold((values) => values.reduce((a, b) => BigInt.asUintN(64, a + b))),
        };
      }),
    })),
  };
}
