/** The tables of random traces, compared with what the reader says of the same traces. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Questions, questions } from '../../../test/support/dataset-rows.js';
import { cases } from '../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../test/support/limits.js';
import { PERIOD_PS, STAGES } from '../../../test/support/pipeline-model.js';
import { anyPausedTrace, anyTrace, bytesOf, openBytes } from '../../../test/support/random-trace.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { FieldType, isCounterStorage } from '../format/types.js';
import { splitPieces, wideText } from '../format/wide-fields.js';
import { memorySource, openTrace, type Trace } from '../reader/index.js';
import { parseSchema } from '../schema/index.js';
import { findCore } from '../semantics/cpu/index.js';
import { instructions } from '../semantics/instructions/instructions.js';
import { TraceWriter } from '../writer/index.js';
import { exportOneRun } from './export-runs.js';
import { TABLES } from './layout.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-tables-'));
let count = 0;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function exported(bytes: Uint8Array, window = 2): Promise<Questions> {
  const root = join(directory, String(count++));
  mkdirSync(root);
  const path = join(root, 'trace.uscope');
  writeFileSync(path, bytes);
  await exportOneRun(join(root, 'dataset'), {
    run: 'r',
    files: [path],
    tables: TABLES,
    window,
    tags: {},
    replace: false,
  });
  return questions(join(root, 'dataset'));
}

/** A value as a column has it. */
async function cellOf(trace: Trace, type: FieldType, enumId: number, value: bigint): Promise<unknown> {
  if (type === FieldType.BOOL) return value !== 0n;
  if (type === FieldType.STRING_REF) return (await trace.strings.get(value)) ?? `#${value}`;
  if (type === FieldType.ENUM) {
    const label = trace.schema.enums[enumId].values.find((one) => BigInt(one.value) === value);
    return label?.name ?? String(value);
  }
  return BigInt.asIntN(64, value);
}

const sorted = (rows: readonly unknown[][]): string[] => rows.map((row) => row.map(String).join(' ')).sort();

describe('the tables of a random trace', () => {
  it.each([
    ['as writers make them', anyTrace],
    ['of a writer that was paused', anyPausedTrace],
  ])('%s say what the reader says', { timeout: MANY_CASES_MS }, async (_, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (random) => {
        const bytes = bytesOf(random);
        const trace = await openBytes(bytes);
        const period = 1000n;
        const asked = await exported(bytes);
        try {
          for (const def of trace.schema.events) {
            const expected: unknown[][] = [];
            for await (const event of trace.events(undefined, undefined, [def.eventTypeId])) {
              const cells = def.fields.map(({ name, type, enumId }) =>
                cellOf(trace, type, enumId, event.field(name) ?? 0n),
              );
              expected.push([event.timePs / period, event.timePs, ...(await Promise.all(cells))]);
            }
            if (expected.length === 0) continue;
            const columns = ['cycle', 'time_ps', ...def.fields.map(({ name }) => `"${name}"`)];
            const rows = await asked.ask(
              `select ${columns.join(', ')} from events where event = '${def.name}'`,
            );
            expect(sorted(rows)).toEqual(sorted(expected));
          }
          await compareStates(trace, asked, period);
        } finally {
          await asked.close();
        }
      }),
      // An export and a dozen queries a case: to look for a smaller case would take longer than a test may.
      { numRuns: cases(2, 12), endOnFailure: true },
    );
  });
});

/** Slots and counters at the end of each cycle that has a frame. */
async function compareStates(trace: Trace, asked: Questions, period: bigint): Promise<void> {
  const lastOf = new Map<bigint, bigint>();
  for await (const { timePs } of trace.frames()) lastOf.set(timePs / period, timePs);
  for (const [cycle, time] of lastOf) {
    const state = await trace.stateAt(time);
    for (const def of trace.schema.storages) {
      if (isCounterStorage(def)) {
        const rows = await asked.ask(
          `select "value" from counters where counter = '${def.name}' and from_cycle <= ${cycle} and to_cycle > ${cycle}`,
        );
        const window = cycle / 2n;
        const last = [...lastOf].filter(([other]) => other / 2n === window).at(-1);
        const value = (await trace.stateAt(last?.[1] ?? time)).slotField(def.storageId, 0, 0);
        expect(rows).toEqual([[BigInt.asIntN(64, value)]]);
        continue;
      }
      const expected: unknown[][] = [];
      for (let slot = 0; slot < def.numSlots; slot++) {
        if (!state.slotValid(def.storageId, slot)) continue;
        const view = state.storage(def.storageId);
        const cells = def.fields.map(({ name, type, enumId }) =>
          cellOf(trace, type, enumId, view.field(slot, name)),
        );
        expected.push([slot, ...(await Promise.all(cells))]);
      }
      const [[any]] = await asked.ask(`select count(*) from slots where storage = '${def.name}'`);
      if (any === 0n) {
        expect(expected, def.name).toEqual([]);
        continue;
      }
      const fields = def.fields.map(({ name }) => `"${name}"`).join(', ');
      const rows = await asked.ask(
        `select slot, ${fields} from slots where storage = '${def.name}' and coalesce(from_cycle, -1) <= ${cycle} and coalesce(to_cycle, ${cycle + 1n}) > ${cycle}`,
      );
      expect(sorted(rows), `${def.name} in cycle ${cycle}`).toEqual(sorted(expected));
    }
  }
  // Counters of random traces jump by any 64 bits: their sum is wider.
  const [[total]] = await asked.ask('select coalesce(sum(delta), 0)::varchar from counters');
  if (trace.segmentCount === 0) return;
  const first = await trace.stateBefore(0);
  const end = await trace.stateAt(trace.totalTimePs);
  const change = end.slotField('core0/retired', 0, 0) - first.slotField('core0/retired', 0, 0);
  expect(BigInt.asIntN(64, BigInt(String(total)))).toBe(BigInt.asIntN(64, change));
}

describe('the tables of a made-up pipeline', () => {
  it('have each visit of a stage, dependencies and texts, and what each cycle was', async () => {
    const recorded = record(generator(3), 200);
    const bytes = build(recorded.frames, 30);
    const trace = await openTrace(memorySource(bytes));
    const core = findCore(trace);
    const asked = await exported(bytes, 50);
    const visits: unknown[][] = [];
    const dependencies: unknown[][] = [];
    const retired = new Map<number, number>();
    for await (const one of instructions(trace, core, {}, { numbering: 'always' })) {
      const cycle = (time: bigint): bigint => time / core.periodPs;
      one.stages.forEach(({ name, timePs }, visit) => {
        const left = one.stages[visit + 1]?.timePs ?? one.endPs;
        visits.push([
          one.seq,
          visit,
          name,
          cycle(timePs),
          left === null ? null : cycle(left) - cycle(timePs),
        ]);
      });
      for (const { seq, type, timePs } of one.dependencies)
        dependencies.push([one.seq, seq, type, cycle(timePs)]);
      if (one.end === 'retired' && one.endPs !== null)
        retired.set(Number(cycle(one.endPs)), (retired.get(Number(cycle(one.endPs))) ?? 0) + 1);
    }
    expect(visits.length).toBeGreaterThan(100);
    expect(sorted(await asked.ask('select seq, visit, stage, from_cycle, cycles from stages'))).toEqual(
      sorted(visits),
    );
    expect(dependencies.length).toBeGreaterThan(5);
    const unnested =
      'select i.seq, d.seq, d."type", d.cycle from instructions i, unnest(i.dependencies) u(d)';
    expect(sorted(await asked.ask(unnested))).toEqual(sorted(dependencies));
    const wanted = recorded.frames.map(({ timePs }, index) => {
      const cycle = Number(timePs) / PERIOD_PS;
      const next = recorded.frames[index + 1];
      const until = next ? Number(next.timePs) / PERIOD_PS : cycle + 1;
      return [cycle, until - cycle, retired.get(cycle) ?? 0, recorded.occupied[cycle]];
    });
    expect(sorted(await asked.ask('select cycle, cycles, retired, rob_taken from cycles'))).toEqual(
      sorted(wanted),
    );
    expect(STAGES.length).toBe(core.stages.length);
    await asked.close();
  });

  it('have all but the damaged segments: counters know their values again, and slots begin and end at the gap', async () => {
    const recorded = record(generator(5), 300);
    const bytes = build(recorded.frames, 30);
    const trace = await openTrace(memorySource(bytes));
    const { offset } = await trace.segment(4);
    const [from, to] = [await trace.segment(4), await trace.segment(5)].map(
      ({ timeStartPs }) => Number(timeStartPs) / PERIOD_PS,
    );
    const hurt = bytes.slice();
    // Behind the header: the checksum of the segment is wrong.
    hurt.fill(0xff, offset + 200, offset + 220);
    const asked = await exported(hurt, 10);
    expect(await asked.ask('select segment from gaps')).toEqual([[4n]]);
    const total = (until: number): bigint =>
      BigInt(recorded.added.slice(0, until).reduce((sum, one) => sum + one, 0));
    const rows = (await asked.ask(
      'select from_cycle, to_cycle, delta, "value" from counters order by from_cycle',
    )) as (bigint | null)[][];
    let nulls = 0;
    for (const [start, end, delta, value] of rows) {
      const [first, last] = [Number(start), Math.min(Number(end), 300)];
      if (value === null) nulls++;
      else expect(value).toBe(total(last));
      if (delta === null) nulls++;
      else expect(delta).toBe(total(last) - total(first));
      if (first >= Math.ceil(to / 10) * 10 || last <= from) expect([delta, value]).not.toContain(null);
    }
    // The window in which the gap begins has neither; that in which it ends has no change, unless the trace continues where it begins.
    expect([2, 3]).toContain(nulls);
    const stalls = recorded.model.stalls.filter(({ cycle }) => cycle < from || cycle >= to);
    expect(stalls.length).toBeGreaterThan(10);
    expect(sorted(await asked.ask('select cycle, reason from stalls'))).toEqual(
      sorted(stalls.map(({ cycle, reason }) => [cycle, reason])),
    );
    const [[inside]] = await asked.ask(
      `select count(*) from slots where from_cycle > ${from} and from_cycle < ${to} or to_cycle > ${from} and to_cycle < ${to}`,
    );
    expect(inside).toBe(0n);
    const [[resumed]] = await asked.ask(
      `select count(*) from slots where from_cycle is null and to_cycle >= ${to}`,
    );
    expect(Number(resumed)).toBeGreaterThan(0);
    await asked.close();
  });
});

it('fields that are called as the partition of their table get another name', async () => {
  const { schema } = parseSchema(`uscope: 1
clocks: {clk: 1 ns}
storages:
  queue: {slots: 2, kind: sparse, fields: {storage: u8}}
events:
  go: {event: u8}
`);
  const path = join(directory, 'names.uscope');
  const writer = await TraceWriter.create({ path, schema });
  writer.beginCycle(0);
  writer.slotSet('queue', 1, 'storage', 7);
  writer.event('go', { event: 5 });
  writer.endCycle();
  await writer.close();
  const asked = await exported(readFileSync(path));
  expect(await asked.ask('select storage, storage_2 from slots')).toEqual([['queue', 7n]]);
  expect(await asked.ask('select event, event_2 from events')).toEqual([['go', 5n]]);
  await asked.close();
});

it('fields of more than 64 bits are one text, as every verb prints them', async () => {
  const { schema } = parseSchema(`uscope: 1
clocks: {clk: 1 ns}
storages:
  vregs: {slots: 2, kind: sparse, fields: {data: {bits: 100}, bus: {bits: 72, states: 4}}}
events:
  beat: {id: u8, bus: {bits: 72, states: 4}, last: bool}
`);
  const values = [0n, 1n, (1n << 63n) | 5n, (0xabn << 64n) | 0xfn, (1n << 72n) - 1n];
  const masks = [0n, 0xf0n, 0x80n << 64n, (1n << 72n) - 1n];
  const cases = values.flatMap((value) => masks.map((mask) => [value, mask] as const));
  const path = join(directory, 'wide.uscope');
  const writer = await TraceWriter.create({ path, schema });
  cases.forEach(([value, mask], index) => {
    writer.beginCycle(index * 1000);
    const words = [...splitPieces(value, 72), ...splitPieces(mask, 72)];
    writer.event('beat', [index, ...words, true]);
    for (const [field, word] of [...splitPieces(value, 100), ...words].entries())
      writer.slotSet('vregs', 1, field, word);
    writer.endCycle();
  });
  await writer.close();
  const asked = await exported(readFileSync(path));
  expect(await asked.ask('select id, bus, last from events order by id')).toEqual(
    cases.map(([value, mask], index) => [BigInt(index), wideText(72, value, mask), true]),
  );
  expect(await asked.ask('select data, bus from slots order by from_cycle')).toEqual(
    cases.map(([value, mask]) => [wideText(100, value), wideText(72, value, mask)]),
  );
  await asked.close();
});
