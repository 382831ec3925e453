import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  TraceBuilder,
} from '../../../../test/support/build-trace.js';
import { Action, type Frame, type Item } from '../../format/types.js';
import { StorageState } from '../../state/storage-state.js';
import { memorySource, openTrace, type Trace } from '../index.js';
import { type FieldInterval, fieldTimeline } from './field-timeline.js';
import { type Change, type HistoryOptions, history, type Watch } from './history.js';

const [ENTITIES, ROB, QUEUE, RETIRED] = [0, 1, 2, 3];
const DELTA = 2;

async function open(frames: readonly Frame[], perSegment = 3): Promise<Trace> {
  const builder = new TraceBuilder({ schema: coreSchema });
  for (let at = 0; at < frames.length; at += perSegment) {
    const part = frames.slice(at, at + perSegment);
    builder.segment({ frames: part, start: at === 0 ? 0n : part[0].timePs, strings: ['text'] });
  }
  return openTrace(memorySource(builder.bytes));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const changes = async (frames: readonly Frame[], watches: readonly Watch[], options?: HistoryOptions) =>
  (await collect(history(await open(frames), watches, options))).map(brief);

/** A change in short. */
function brief(change: Change): unknown[] {
  const { timePs, kind, def } = change;
  if (kind === 'clear')
    return [timePs, `${def.name}[${change.slot}]`, 'clear', Object.fromEntries(change.before)];
  if (kind === 'property')
    return [timePs, `${def.name}.${def.properties[change.property].name}`, change.before, change.after];
  const place = `${def.name}[${change.slot}].${def.fields[change.field].name}`;
  return [timePs, place, change.taken ? 'free' : change.before, change.after];
}

const frames = [
  frame(0, set(ROB, 2, 0, 7), set(ROB, 2, 1, 1), set(ROB, 2, 1, 1), prop(ROB, 0, 3)),
  frame(1000, set(ROB, 2, 0, 8), set(ROB, 1, 0, 0), add(RETIRED, 0, 0, 2)),
  frame(1000, clear(ROB, 2), clear(ROB, 2), prop(ROB, 0, 3)),
  frame(2000, set(ENTITIES, 3, DELTA, -5), add(RETIRED, 0, 0, 0)),
  frame(3000, add(ENTITIES, 3, DELTA, 4), prop(ROB, 0, 4), add(RETIRED, 0, 0, 1)),
];

describe('a history', () => {
  it('tells each change with the values before and after', async () => {
    expect(await changes(frames, [{ storage: 'rob' }])).toEqual([
      [0n, 'rob[2].entity_id', 'free', 7n],
      [0n, 'rob[2].ready', 0n, 1n],
      [0n, 'rob.head', 0n, 3n],
      [1000n, 'rob[2].entity_id', 7n, 8n],
      [1000n, 'rob[1].entity_id', 'free', 0n],
      [1000n, 'rob[2]', 'clear', { 0: 8n, 1: 1n }],
      [3000n, 'rob.head', 3n, 4n],
    ]);
  });

  it('of signed fields and counters', async () => {
    expect(await changes(frames, [{ storage: 'entities' }, { storage: 'retired' }])).toEqual([
      [1000n, 'retired[0].count', 0n, 2n],
      [2000n, 'entities[3].delta', 'free', -5n],
      [3000n, 'entities[3].delta', -5n, -1n],
      [3000n, 'retired[0].count', 2n, 3n],
    ]);
  });

  it('of slots, fields and properties chosen', async () => {
    expect(await changes(frames, [{ storage: 'core0/rob', slots: [1, 1] }])).toEqual([
      [1000n, 'rob[1].entity_id', 'free', 0n],
    ]);
    expect(await changes(frames, [{ storage: ROB, slots: [2, 3], fields: ['ready'] }])).toEqual([
      // The field before it has taken the slot.
      [0n, 'rob[2].ready', 0n, 1n],
      [1000n, 'rob[2]', 'clear', { 1: 1n }],
    ]);
    expect(await changes(frames, [{ storage: 'rob', properties: ['head'] }])).toHaveLength(2);
  });

  it('begins with the state in front of the range', async () => {
    expect(await changes(frames, [{ storage: 'rob' }], { from: 1000, to: 3000 })).toEqual([
      [1000n, 'rob[2].entity_id', 7n, 8n],
      [1000n, 'rob[1].entity_id', 'free', 0n],
      [1000n, 'rob[2]', 'clear', { 0: 8n, 1: 1n }],
    ]);
  });

  it('leaves out writes that change nothing, unless they are asked for', async () => {
    const all = await changes(frames, [{ storage: 'rob' }, { storage: 'retired' }], { writes: true });
    expect(all).toContainEqual([2000n, 'retired[0].count', 2n, 2n]);
    expect(all).toContainEqual([1000n, 'rob.head', 3n, 3n]);
    expect(all.filter(([, place]) => place === 'rob[2].ready')).toHaveLength(2);
    expect(all.filter(([, place]) => place === 'rob[2]')).toHaveLength(2);
  });

  it('refuses what the trace does not have', async () => {
    await expect(changes(frames, [{ storage: 'rub' }])).rejects.toThrow(/READER_NAME/);
    await expect(changes(frames, [{ storage: 'rob', fields: ['redy'] }])).rejects.toThrow(
      /READER_NAME.*ready/,
    );
    await expect(changes(frames, [{ storage: 'rob', slots: [4, 4] }])).rejects.toThrow(
      /READER_RANGE.*slots 0 to 3, not 4/,
    );
  });

  it('hands out everything before damage, then the error', async () => {
    const builder = new TraceBuilder({ schema: coreSchema });
    builder.segment({ frames: frames.slice(0, 1) }).segment({ frames: frames.slice(1) });
    const bytes = builder.bytes.slice();
    bytes[builder.offsets[1] + 70] ^= 1;
    const trace = await openTrace(memorySource(bytes));
    const seen: Change[] = [];
    await expect(
      (async () => {
        for await (const change of history(trace, [{ storage: 'rob' }])) seen.push(change);
      })(),
    ).rejects.toThrow(/FORMAT_CHECKSUM/);
    expect(seen).toHaveLength(3);
  });

  it('may be left early', async () => {
    const trace = await open(frames, 1);
    for await (const change of history(trace, [{ storage: 'rob' }])) {
      expect(change.timePs).toBe(0n);
      break;
    }
    expect(await collect(history(trace, [{ storage: 'rob' }]))).toHaveLength(7);
  });
});

const op: fc.Arbitrary<Item> = fc
  .tuple(fc.constantFrom(ENTITIES, ROB, QUEUE, RETIRED), fc.nat(11), fc.nat(2), fc.nat(3), fc.nat(3))
  .map(([storage, slot, field, kind, value]) => {
    const { numSlots, fields } = coreSchema.storages[storage];
    const [s, f] = [slot % numSlots, field % fields.length];
    if (kind === 0) return clear(storage, s);
    return kind === 1 ? add(storage, s, f, value - 2) : set(storage, s, f, value - 2);
  });
const traces = fc
  .array(fc.tuple(fc.nat(2), fc.array(op, { maxLength: 6 })), { minLength: 1, maxLength: 25 })
  .map((steps) => {
    let time = 0;
    return steps.map(([step, items]) => {
      time += step * 10;
      return frame(time, ...items);
    });
  });

/** The state after all frames before a time. */
function stateBeforeTime(all: readonly Frame[], time: bigint): StorageState {
  const state = new StorageState(coreSchema);
  for (const { timePs, items } of all) {
    for (const item of items) {
      if (item.kind !== 'op' || timePs >= time) continue;
      const { action, storageId, slot, field, value } = item;
      state.apply(action, storageId, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
    }
  }
  return state;
}

describe('histories of any trace', () => {
  it('applied to the state before them give the state after them', async () => {
    await fc.assert(
      fc.asyncProperty(traces, fc.nat(), fc.nat(), async (all, a, b) => {
        const end = Number(all.at(-1)?.timePs) + 1;
        const [from, to] = [a % (end + 1), b % (end + 1)].sort((x, y) => x - y);
        const trace = await open(all);
        const watches = coreSchema.storages.map(({ storageId }) => ({ storage: storageId }));
        const state = stateBeforeTime(all, BigInt(from));
        for await (const change of history(trace, watches, { from, to })) {
          const { storageId } = change.def;
          if (change.kind === 'clear') state.apply(Action.CLEAR, storageId, change.slot, 0, 0, 0);
          else if (change.kind !== 'property') {
            const value = BigInt.asUintN(64, change.after);
            const [lo, hi] = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
            state.apply(Action.SET, storageId, change.slot, change.field, lo, hi);
          }
        }
        const expected = stateBeforeTime(all, BigInt(to));
        expect(state.encodeCheckpoint()).toEqual(expected.encodeCheckpoint());
        for (const { storageId } of watches.map(({ storage }) => coreSchema.storages[storage])) {
          expect(state.occupancy(storageId)).toBe(expected.occupancy(storageId));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('as timelines of a field are what the states at all times say', async () => {
    await fc.assert(
      fc.asyncProperty(
        traces,
        fc.constantFrom(ENTITIES, ROB, QUEUE, RETIRED),
        fc.nat(),
        async (all, id, at) => {
          const end = Number(all.at(-1)?.timePs) + 1;
          const from = at % end;
          const trace = await open(all);
          const intervals = await collect(fieldTimeline(trace, { storage: id, slot: 0, field: 0 }, { from }));
          expect([intervals[0].fromPs, intervals.at(-1)?.toPs]).toEqual([
            BigInt(from),
            trace.totalTimePs + 1n,
          ]);
          for (const [index, { fromPs, toPs, value }] of intervals.entries()) {
            const next: FieldInterval | undefined = intervals[index + 1];
            if (next) expect([next.fromPs, next.value !== value]).toEqual([toPs, true]);
            for (const time of [fromPs, toPs - 1n]) {
              const state = stateBeforeTime(all, time + 1n);
              const isFree = id !== RETIRED && !state.slotOccupied(id, 0);
              expect(value).toBe(isFree ? null : state.value(id, 0, 0));
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a timeline of a slot that does not exist is an error', async () => {
    const trace = await open(frames);
    await expect(collect(fieldTimeline(trace, { storage: 'rob', slot: 9, field: 0 }))).rejects.toThrow(
      /READER_RANGE.*slots 0 to 3/,
    );
  });
});
