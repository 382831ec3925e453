import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  stage,
  TraceBuilder,
  type TraceSpec,
} from '../../../../test/support/build-trace.js';
import {
  anyItem,
  anyTrace,
  bytesOf,
  openBytes,
  type RandomTrace,
  type Step,
  stateInWords,
  wordsOf,
} from '../../../../test/support/random-trace.js';
import { FieldType, type Frame, type Item, type Schema } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { type DiffOptions, diffTraces, type StateReport, type TimeReport } from './index.js';

async function byTime(a: Trace, b: Trace, options?: DiffOptions) {
  const report = await diffTraces('time', { trace: a, name: 'a' }, { trace: b, name: 'b' }, options);
  return { ...report, result: report.result as TimeReport };
}

async function byState(a: Trace, b: Trace, options?: DiffOptions) {
  const report = await diffTraces('state', { trace: a, name: 'a' }, { trace: b, name: 'b' }, options);
  return { ...report, result: report.result as StateReport };
}

interface Built extends Partial<TraceSpec> {
  readonly frames: readonly Frame[];
  readonly strings?: readonly string[];
}

const build = ({ frames, strings = [], ...spec }: Built): Promise<Trace> =>
  openBytes(new TraceBuilder({ schema: coreSchema, ...spec }).segment({ frames, strings }).finalize().bytes);

/** Some steps changed, dropped, doubled or moved in time. */
const anyEdit = fc.record({
  at: fc.nat(30),
  kind: fc.constantFrom('drop', 'item', 'delay', 'cut', 'swap'),
  item: anyItem,
});

function edited(
  random: RandomTrace,
  edits: readonly { at: number; kind: string; item: Step['items'][number] }[],
) {
  const steps = [...random.steps];
  for (const { at, kind, item } of edits) {
    const index = steps.length === 0 ? -1 : at % steps.length;
    const step = steps[index];
    if (!step) continue;
    if (kind === 'drop') steps[index] = { ...step, items: step.items.slice(1) };
    else if (kind === 'item') steps[index] = { ...step, items: [...step.items, item] };
    else if (kind === 'delay') steps[index] = { ...step, delta: step.delta + 1 };
    else if (kind === 'swap') steps[index] = { ...step, items: [...step.items].reverse() };
    else steps[index] = { ...step, cut: !step.cut };
  }
  return { ...random, steps };
}

/** Items with values as wide as their fields, which is all that can be compared. */
const WIDTHS: Record<string, number> = { entity_id: 32, delta: 16, ready: 8, head: 16 };
const narrow = (words: readonly string[]): string[] =>
  words.map((word) =>
    word.replace(/ (1|4) (\w+) (\d+)$/, (all, action: string, field: string, value: string) =>
      WIDTHS[field] ? ` ${action} ${field} ${BigInt.asUintN(WIDTHS[field], BigInt(value))}` : all,
    ),
  );
const timeOf = (word: string | undefined): bigint | null =>
  word === undefined ? null : BigInt(word.split(' ')[0]);

/** Time of the first item that is not the same; null: all are. */
async function firstByTime(a: Trace, b: Trace): Promise<bigint | null> {
  const [inA, inB] = [narrow(await wordsOf(a)), narrow(await wordsOf(b))];
  for (let i = 0; i < Math.max(inA.length, inB.length); i++) {
    if (inA[i] === inB[i]) continue;
    const [x, y] = [timeOf(inA[i]), timeOf(inB[i])];
    return x === null || (y !== null && y < x) ? y : x;
  }
  return null;
}

async function firstByState(a: Trace, b: Trace): Promise<bigint | null> {
  const starts = await Promise.all(
    [a, b].map(async (t) => (t.segmentCount ? (await t.segment(0)).timeStartPs : 0n)),
  );
  const [start = 0n] = starts.sort((x, y) => Number(y - x));
  const times = new Set<bigint>();
  for (const trace of [a, b]) for await (const { timePs } of trace.frames(start)) times.add(timePs);
  for (const time of [...times].sort((x, y) => Number(x - y))) {
    const [inA, inB] = [await stateInWords(a, time), await stateInWords(b, time)];
    if (inA.join() !== inB.join()) return time;
  }
  return null;
}

describe('two traces', () => {
  it('first differ where a comparison of all their items says', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, fc.array(anyEdit, { maxLength: 3 }), async (random, edits) => {
        const other = edited(random, edits);
        const [a, b] = [await openBytes(bytesOf(random)), await openBytes(bytesOf(other))];
        const expected = await firstByTime(a, b);
        const { same, result } = await byTime(a, b);
        expect(result.first?.timePs ?? null).toBe(expected);
        expect(same).toBe(expected === null);
        expect([result.itemsA, result.itemsB]).toEqual([
          (await wordsOf(a)).length,
          (await wordsOf(b)).length,
        ]);
        const { instants } = result;
        const differing = instants.different + instants.reordered + instants.onlyA + instants.onlyB;
        expect(differing > 0).toBe(!same);
      }),
      { numRuns: 60 },
    );
  });

  it('first have different states where their states at every time say', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, fc.array(anyEdit, { maxLength: 3 }), async (random, edits) => {
        // Both begin at 0, so that no initial states differ.
        const [x, y] = [
          { ...random, start: 0 },
          { ...edited(random, edits), start: 0 },
        ];
        const [a, b] = [await openBytes(bytesOf(x)), await openBytes(bytesOf(y))];
        const expected = await firstByState(a, b);
        const { same, result } = await byState(a, b);
        expect(result.first?.timePs ?? null).toBe(expected);
        expect(same).toBe(expected === null);
        if (a.segmentCount > 0 && b.segmentCount > 0) {
          const end = a.totalTimePs + b.totalTimePs; // after both
          const ends = await Promise.all([a, b].map((trace) => stateInWords(trace, end)));
          expect(result.atEnd > 0).toBe(ends[0].join() !== ends[1].join());
        }
      }),
      { numRuns: 40 },
    );
  });

  it('are the same however they are cut into frames, segments and strings', async () => {
    const items = [set(0, 3, 0, 3), annotate(3, 1), prop(1, 1, 0)];
    const a = await build({ frames: [frame(0, ...items), frame(10)], strings: ['x', 'y'] });
    const other = [set(0, 3, 0, 3), annotate(3, 0), prop(1, 1, 1)];
    const b = await openBytes(
      new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
        .segment({ frames: [frame(0, other[0])], strings: ['y', 'x'], end: 0n })
        .segment({ frames: [frame(0, other[1]), frame(0), frame(0, other[2])], start: 0n }).bytes,
    );
    expect(await byTime(a, b)).toMatchObject({ same: true });
    expect(await byState(a, b)).toMatchObject({ same: true });
  });
});

describe('by time', () => {
  const common = [frame(0, set(0, 3, 0, 3)), frame(1000, stage(3, 0), add(3, 0, 0, 1))];

  it('shows both values, where they are, and what was last the same', async () => {
    const a = await build({ frames: [...common, frame(2000, set(1, 1, 1, 1), clear(0, 3))] });
    const b = await build({ frames: [...common, frame(2000, set(1, 1, 1, 0), clear(0, 3)), frame(2500)] });
    const { result, same } = await byTime(a, b);
    expect(same).toBe(false);
    expect(result.first).toMatchObject({
      timePs: 2000n,
      cycle: 2n,
      path: 'core0/rob',
      kind: 'value',
      a: { what: 'set', slot: 1, fields: { ready: 'true' } },
      b: { what: 'set', slot: 1, fields: { ready: 'false' } },
      last: { timePs: 1000n, cycle: 1n },
    });
    expect(result.first?.before.map(({ what }) => what)).toEqual(['set', 'event', 'add']);
    expect(result.first?.before[1].fields).toEqual({ entity_id: '3', stage: 'fetch' });
    expect(result.first?.nextA.map(({ what }) => what)).toEqual(['set', 'clear']);
    expect(result.paths).toEqual([{ path: 'core0/rob', itemsA: 1, itemsB: 1, instants: 1, firstPs: 2000n }]);
  });

  it('continues after a difference: one instant more or less does not make all that follows different', async () => {
    const tail = [frame(3000, add(3, 0, 0, 5)), frame(4000, add(3, 0, 0, 5))];
    const a = await build({ frames: [...common, frame(2000, stage(1, 1)), ...tail] });
    const b = await build({ frames: [...common, ...tail] });
    const { result } = await byTime(a, b);
    expect(result.first).toMatchObject({ kind: 'only_a', timePs: 2000n, b: { timePs: 3000n } });
    expect(result.instants).toEqual({ same: 4, different: 0, reordered: 0, onlyA: 1, onlyB: 0 });
    expect((await byTime(b, a)).result.first).toMatchObject({ kind: 'only_b', timePs: 2000n });
  });

  it('distinguishes another order from other items, and can overlook it', async () => {
    const a = await build({
      frames: [...common, frame(2000, stage(1, 1), set(1, 1, 0, 1), set(1, 1, 1, 1))],
    });
    const b = await build({
      frames: [...common, frame(2000, set(1, 1, 0, 1), set(1, 1, 1, 1), stage(1, 1))],
    });
    const { result } = await byTime(a, b);
    expect(result.first).toMatchObject({ kind: 'order', timePs: 2000n });
    expect(await byTime(a, b, { ignoreOrder: true })).toMatchObject({ same: true });
    const c = await build({
      frames: [...common, frame(2000, set(1, 1, 0, 1), set(1, 1, 1, 0), stage(1, 1))],
    });
    const overlooked = await byTime(a, c, { ignoreOrder: true });
    expect(overlooked.result.first).toMatchObject({
      kind: 'value',
      path: 'core0/rob',
      a: { fields: { ready: 'true' } },
      b: { fields: { ready: 'false' } },
    });
    expect(overlooked.result.instants).toMatchObject({ same: 2, different: 1, reordered: 0 });
  });

  it('does not compare the order that a trace of version 0.1 does not have', async () => {
    const frames = [frame(2000, stage(1, 1), set(1, 1, 0, 1))];
    const { same, notes } = await byTime(
      await build({ frames }),
      await build({ frames, interleaved: false }),
    );
    expect(same).toBe(true);
    expect(notes).toHaveLength(1);
  });

  it('can stop at the first difference, and keep to a range', async () => {
    const a = await build({ frames: [...common, frame(2000, stage(1, 1)), frame(3000, stage(1, 1))] });
    const b = await build({ frames: [...common, frame(2000, stage(1, 0)), frame(3000, stage(1, 0))] });
    expect((await byTime(a, b, { stopAtFirst: true })).result.instants.different).toBe(1);
    expect((await byTime(a, b)).result.instants.different).toBe(2);
    expect(await byTime(a, b, { range: { to: 2000n } })).toMatchObject({ same: true });
    expect((await byTime(a, b, { range: { from: 2500n } })).result.first).toMatchObject({ timePs: 3000n });
  });
});

describe('by state', () => {
  it('overlooks how a value came about', async () => {
    const a = await build({ frames: [frame(0, add(3, 0, 0, 2), stage(1, 1)), frame(5, set(3, 0, 0, 2))] });
    const b = await build({ frames: [frame(0, add(3, 0, 0, 1), add(3, 0, 0, 1))] });
    expect(await byState(a, b)).toMatchObject({ same: true });
    expect(await byTime(a, b)).toMatchObject({ same: false });
  });

  it('shows the values that differ, and those that still do at the end', async () => {
    const a = await build({
      frames: [frame(0, set(0, 2, 2, -5)), frame(9, clear(0, 2)), frame(12, add(3, 0, 0, 1))],
    });
    const b = await build({ frames: [frame(0, set(0, 2, 2, 5)), frame(9, clear(0, 2))] });
    const { result } = await byState(a, b);
    expect(result.first).toEqual({
      timePs: 0n,
      cycle: 0n,
      cells: [{ path: 'core0/entities', slot: 2, field: 'delta', a: '-5', b: '5' }],
      cellCount: 1,
      last: { timePs: 0n, cycle: 0n },
    });
    expect(result.instants).toEqual({ same: 1, different: 2 });
    expect(result.storages).toEqual([
      { path: 'core0/entities', firstPs: 0n, instants: 1, atEnd: 0 },
      { path: 'core0/retired', firstPs: 12n, instants: 1, atEnd: 1 },
    ]);
  });

  it('distinguishes a slot of zeros from none', async () => {
    const a = await build({ frames: [frame(7, set(0, 2, 0, 0))] });
    const b = await build({ frames: [frame(7)] });
    const { result } = await byState(a, b);
    expect(result.first?.cells[0]).toEqual({
      path: 'core0/entities',
      slot: 2,
      field: null,
      a: 'valid',
      b: null,
    });
  });
});

describe('traces of different schemas', () => {
  const [entities, rob, queue, retired] = coreSchema.storages;
  const other: Schema = {
    ...coreSchema,
    enums: [
      {
        name: 'stage',
        values: [
          { value: 0, name: 'execute' },
          { value: 1, name: 'fetch' },
        ],
      },
    ],
    storages: [
      { ...retired, storageId: 0 },
      {
        ...entities,
        storageId: 1,
        fields: [entities.fields[1], { ...entities.fields[2], type: FieldType.I32 }, entities.fields[0]],
      },
      { ...rob, storageId: 2, fields: [rob.fields[0], { ...rob.fields[1], name: 'done' }] },
      { ...queue, name: 'lq', storageId: 3 },
    ],
    events: [coreSchema.events[1], coreSchema.events[0]].map((event, eventTypeId) => ({
      ...event,
      eventTypeId,
    })),
  };

  const a = () =>
    build({ frames: [frame(0, set(0, 1, 0, 9), set(0, 1, 2, -2), stage(9, 0), add(3, 0, 0, 1))] });
  const b = () =>
    build({
      schema: other,
      frames: [
        frame(
          0,
          set(1, 1, 2, 9),
          set(1, 1, 1, -2),
          { ...stage(9, 1), eventTypeId: 1 } as Item,
          add(0, 0, 0, 1),
          set(3, 0, 0, 1),
        ),
      ],
    });

  it('are compared by path, values by what they mean', async () => {
    for (const report of [await byTime(await a(), await b()), await byState(await a(), await b())]) {
      expect(report.result.first).toBeNull();
      expect([...report.schema.onlyA].sort()).toEqual(['core0/queue', 'core0/rob.ready', 'reset']);
      expect([...report.schema.onlyB].sort()).toEqual(['core0/lq', 'core0/rob.done']);
      expect(report.schema.changed.join()).toMatch(/core0\/entities\.delta: i16, i32/);
      expect(report.same).toBe(false);
    }
    expect(await byTime(await a(), await b(), { commonOnly: true })).toMatchObject({ same: true });
  });

  it('of one core each are compared whatever the core is called; others by the names given', async () => {
    const scopes = coreSchema.scopes.map((scope) => (scope.scopeId ? { ...scope, name: 'hart7' } : scope));
    const renamed = await build({ schema: { ...coreSchema, scopes }, frames: [frame(0, set(0, 1, 0, 9))] });
    const original = await build({ frames: [frame(0, set(0, 1, 0, 8))] });
    const { result, notes, scopes: compared } = await byTime(original, renamed);
    expect(result.first).toMatchObject({ path: 'core0/entities', b: { path: 'hart7/entities' } });
    expect(notes).toHaveLength(1);
    expect(compared).toEqual([{ a: 'core0', b: 'hart7' }]);
    const wrong = byTime(original, renamed, { scopes: [{ a: 'core0', b: 'core0' }] });
    await expect(wrong).rejects.toMatchObject({ code: 'READER_NAME', place: { file: 'b' } });
  });
});

describe('a damaged trace', () => {
  it('is named', async () => {
    const frames = [frame(0, set(0, 1, 0, 9))];
    const bytes = new TraceBuilder({ schema: coreSchema }).segment({ frames }).finalize().bytes;
    const good = await openBytes(bytes.slice());
    bytes[(await good.segment(0)).offset + 60] ^= 1;
    const bad = await openBytes(bytes);
    const expected = { code: 'FORMAT_CHECKSUM', place: { file: 'b' } };
    await expect(byTime(good, bad)).rejects.toMatchObject(expected);
    await expect(byState(good, bad)).rejects.toMatchObject(expected);
  });
});
