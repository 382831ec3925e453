/**
 * Lives over more than 100 segments, cycles beyond 2^53, ids up to 2^32-1: what the index, a scan, a dataset, the timeline, a search and SQL
 * say of a random trace is what a simple model did. Where a form cannot say it exactly, it refuses.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { cases, someOf } from '../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { type CliResult, jsonLinesOf, runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';
import { createSegmentIndexer } from '../trace-index/recording/segment-indexer.js';
import { TraceWriter } from '../writer/index.js';
import { createCpuSummarizer } from '../writer/summary/cpu-summarizer.js';

limitOfFile(3 * MANY_CASES_MS);

const SLOTS = 8;
const SEGMENTS = 110;
const CYCLES_A_SEGMENT = 16;
const FIRST_ID = 2 ** 32 - SLOTS;
const LAST_CYCLE_OF_U64 = 2n ** 64n - 1n;

const schemaOf = (period: number) =>
  parseSchema(`
uscope: 1
dut: {cpu.protocol_version: "0.1", cpu.isa: RV32I, cpu.pipeline_stages: "fetch,execute"}
clocks: {clk: ${period}}
enums: {stage: [fetch, execute], reason: [wrong_path, trap]}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: ${SLOTS}, kind: sparse, fields: {entity_id: u32, pc: u64}}
      done: counter
    events:
      stage_transition: {entity_id: u32, stage: stage}
      flush: {entity_id: u32, reason: reason}
      stall: {reason: reason}
`).schema;

interface Life {
  readonly id: number;
  readonly pc: number;
  readonly birth: bigint;
  executed: bigint | null;
  end: bigint | null;
  outcome: 'retired' | 'squashed' | 'in_flight';
}

/** What the model did. */
interface Run {
  readonly lives: readonly Life[];
  /** What the counter grew by in each cycle that changed it. */
  readonly done: ReadonlyMap<bigint, number>;
  readonly stalled: ReadonlySet<bigint>;
  readonly last: bigint;
}

interface Place {
  readonly period: number;
  /** Cycle of the first frame; a trace begins at time 0. */
  readonly base: bigint;
}

async function write(path: string, { period, base }: Place, random: () => number): Promise<Run> {
  const writer = await TraceWriter.create({
    path,
    schema: schemaOf(period),
    index: createSegmentIndexer,
    summarizer: createCpuSummarizer,
    checkpointIntervalPs: BigInt(CYCLES_A_SEGMENT * period),
  });
  const lives: Life[] = [];
  const slots = new Array<Life | null>(SLOTS).fill(null);
  const done = new Map<bigint, number>();
  const stalled = new Set<bigint>();
  const frame = async (cycle: bigint, act: () => void): Promise<void> => {
    writer.beginCycle(cycle * BigInt(period));
    act();
    if (!writer.endCycle()) await writer.ready();
  };
  let cycle = base;
  const bear = (slot: number): void => {
    const life: Life = {
      id: FIRST_ID + slot,
      pc: 0x1000 + lives.length * 4,
      birth: cycle,
      executed: null,
      end: null,
      outcome: 'in_flight',
    };
    writer.slotSet('core0/entities', slot, 'entity_id', life.id);
    writer.slotSet('core0/entities', slot, 'pc', life.pc);
    writer.event('core0/stage_transition', { entity_id: life.id, stage: 'fetch' });
    slots[slot] = life;
    lives.push(life);
  };
  const execute = (life: Life): void => {
    life.executed = cycle;
    writer.event('core0/stage_transition', { entity_id: life.id, stage: 'execute' });
  };
  const end = (slot: number, outcome: 'retired' | 'squashed'): void => {
    const life = slots[slot]!;
    if (outcome === 'squashed') writer.event('core0/flush', { entity_id: life.id, reason: 'wrong_path' });
    else {
      const by = 1 + Math.floor(random() * 3);
      writer.slotAdd('core0/done', 0, 'count', by);
      done.set(cycle, (done.get(cycle) ?? 0) + by);
    }
    writer.slotClear('core0/entities', slot);
    Object.assign(life, { end: cycle, outcome });
    slots[slot] = null;
  };
  const steps = (SEGMENTS * CYCLES_A_SEGMENT) / 2;
  for (let step = 0; step < steps; step++) {
    await frame(cycle, () => {
      // Slot 0 has the one that lives long, slot 1 one that never ends.
      if (step === 0) for (const slot of [0, 1]) bear(slot);
      if (step === steps - 1) {
        execute(slots[0]!);
        end(0, 'retired');
      }
      const slot = 2 + Math.floor(random() * (SLOTS - 2));
      const life = slots[slot];
      if (!life) bear(slot);
      else if (life.executed === null && random() < 0.6) execute(life);
      else end(slot, random() < 0.7 ? 'retired' : 'squashed');
      if (random() < 0.3) {
        writer.event('core0/stall', { reason: 'trap' });
        stalled.add(cycle);
      }
    });
    if (step < steps - 1) cycle += 1n + BigInt(Math.floor(random() * 3));
  }
  const { segments } = await writer.close();
  expect(segments).toBeGreaterThan(100);
  return { lives, done, stalled, last: cycle };
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-far-'));
});
afterAll(() => rm(directory, { recursive: true }));

const run = (...args: string[]): Promise<CliResult> => runUscope(args);

async function good(...args: string[]): Promise<CliResult> {
  const result = await run(...args);
  expect([args[0], result.status, result.err]).toEqual([args[0], 0, '']);
  return result;
}

/** What is said of a life by all forms. */
const said = ({ id, birth, end, outcome }: Life) => ({ id, birth, end, outcome });
const big = (value: unknown): bigint | null => (value === null ? null : BigInt(value as string | number));

async function timeline(path: string, { base }: Place, { last }: Run) {
  const lines = jsonLinesOf(await good('timeline', path, '--cycles', `${base}:${last + 1n}`, '--json'));
  return (lines as { id: number; born: string; end: { kind: string; cycle: string | null } }[]).map(
    ({ id, born, end }) => ({ id, birth: big(born), end: big(end.cycle), outcome: end.kind }),
  );
}

async function dataset(path: string, name: string) {
  const root = join(directory, name);
  await good('export', path, '-o', root);
  const session = await questions(root);
  try {
    const rows = await session.ask(
      'select id, birth_cycle, end_cycle, outcome from instructions order by seq',
    );
    const [[retired]] = (await session.ask('select retired from traces')) as [[unknown]];
    return {
      retired: Number(retired),
      rows: rows.map(([id, birth, end, outcome]) => ({
        id: Number(id),
        birth: big(birth),
        end: big(end),
        outcome,
      })),
    };
  } finally {
    await session.close();
  }
}

async function check(place: Place, name: string, random: () => number): Promise<void> {
  const path = join(directory, `${name}.uscope`);
  const model = await write(path, place, random);
  const { lives, done, stalled, last } = model;
  const retired = lives.filter(({ outcome }) => outcome === 'retired');
  const period = BigInt(place.period);

  expect((await good('verify', path)).out).toContain(': no errors');
  expect(await timeline(path, place, model)).toEqual(lives.map(said));

  // A bounded look says that it ended, not that something was in flight.
  const short = await good('timeline', path, '--cycles', `${place.base}:${place.base + 2n}`, '--json');
  const [first] = jsonLinesOf(short) as { end: object }[];
  expect(first!.end).toEqual({ kind: 'unknown', cycle: null });

  const found = JSON.parse((await good('find', path, 'pc:0x1000', '--json')).out);
  const [long] = lives as [Life];
  expect(found.found).toHaveLength(1);
  expect([big(found.found[0].cycle), found.found[0].end]).toEqual([long.birth, long.outcome]);
  const flushes = JSON.parse((await good('find', path, 'event:flush', '--count', '--json')).out);
  expect(flushes.count).toBe(lives.filter(({ outcome }) => outcome === 'squashed').length);
  const number = retired.findIndex(
    (life) => life.pc === lives.findLast((one) => one.outcome === 'retired')!.pc,
  );
  const nth = JSON.parse((await good('find', path, `retired:${number}`, '--json')).out);
  expect(nth.found.map(({ pc }: { pc: string }) => Number(pc))).toEqual([retired[number]!.pc]);

  const extremes = JSON.parse((await good('counters', path, '--per-cycle', '--exact', '--json')).out);
  const amounts = [...done.values()];
  expect(extremes.counters[0].perCycle ?? extremes.counters[0]).toMatchObject({
    min: String(Math.min(...amounts)),
    max: String(Math.max(...amounts)),
  });

  const part = ['--cycles', `${place.base}:${last + 1n}`];
  for (const more of [[], ['--exact'], part]) {
    const stats = await run('stats', path, '--json', ...more);
    if (more !== part && last >= 2n ** 53n) {
      expect([stats.status, stats.err]).toEqual([1, expect.stringContaining('READER_RANGE')]);
      continue;
    }
    expect([stats.status, stats.err]).toEqual([0, '']);
    const [core] = JSON.parse(stats.out).cores;
    expect([core.instructions.retired, core.stalls.cycles]).toEqual([retired.length, stalled.size]);
  }

  const isTooLate = last >= 2n ** 53n;
  if (isTooLate) {
    const refused = await run('export', path, '-o', join(directory, `${name}-none`));
    expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('READER_RANGE')]);
  } else {
    const exported = await dataset(path, name);
    expect(exported).toEqual({ rows: lives.map(said), retired: retired.length });
  }

  const again = await run('index', path, '--force');
  if (last * period >= 2n ** 53n) expect(again.err).toContain('READER_RANGE');
  else {
    expect([again.status, again.err]).toEqual([0, '']);
    expect(JSON.parse((await good('find', path, 'event:flush', '--count', '--json')).out)).toEqual(flushes);
  }
  const middle = place.base + (last - place.base) / 2n;
  for (const [verb, ...more] of [
    ['slice', path, '--cycles', `${middle}:${last + 1n}`],
    ['merge', path, path],
    ['recover', path],
  ] as const) {
    const output = join(directory, `${name}-${verb}.uscope`);
    expect([verb, (await run(verb, ...more, '-o', output)).status]).toEqual([verb, 0]);
    expect((await good('verify', output)).out).toContain(': no errors');
  }
}

const NEAR = 700n;
const bases = [0n, 2n ** 51n, 2n ** 52n, 2n ** 53n, 2n ** 58n, 2n ** 61n];
const place: fc.Arbitrary<Place> = fc
  .record({ period: fc.constantFrom(1, 3, 1000), base: fc.constantFrom(...bases) })
  .map(({ period, base }) => {
    const latest = LAST_CYCLE_OF_U64 / BigInt(period) - 4n * BigInt(SEGMENTS * CYCLES_A_SEGMENT);
    const start = base > NEAR ? base - NEAR : base;
    return { period, base: start < latest ? start : latest };
  });

describe('all forms say what the model did', () => {
  const places: readonly Place[] = [
    { period: 1, base: 2n ** 51n - NEAR },
    { period: 1, base: 2n ** 53n - NEAR },
    { period: 1000, base: 0n },
    { period: 1, base: 2n ** 63n },
    { period: 1000, base: 2n ** 53n - NEAR },
  ];
  it.each(someOf(2, places))('$period ps from cycle $base', async (one) => {
    await check(one, `at-${one.period}-${one.base}`, generator(7));
  });

  it('anywhere', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(place, fc.nat(), (one, seed) => check(one, `any-${count++}`, generator(seed))),
      { numRuns: cases(1, 12) },
    );
  });
});

/** Numbers from 0 to 1, the same for each seed. */
function generator(seed: number): () => number {
  let state = (seed | 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
