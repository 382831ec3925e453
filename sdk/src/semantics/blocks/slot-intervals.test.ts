/** The intervals of slots equal those that are found by asking every frame's items, whatever the range and the segments. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clear, coreSchema, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import type { Frame } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { OPEN_END, slotIntervals } from './slot-intervals.js';

const SLOTS = 4;

function build(frames: readonly Frame[], every: number): Promise<Trace> {
  const builder = new TraceBuilder({ schema: coreSchema });
  for (let at = 0; at < Math.max(frames.length, 1); at += every) {
    const end = frames[at + every]?.timePs;
    builder.segment({ frames: frames.slice(at, at + every), ...(end === undefined ? {} : { end }) });
  }
  return openTrace(memorySource(builder.finalize().bytes));
}

type Interval = readonly [slot: number, begin: number, end: number];

async function found(trace: Trace, from?: bigint, to?: bigint): Promise<Interval[]> {
  const all: Interval[] = [];
  for await (const block of slotIntervals(trace, trace.schema.storages[0]!, { from, to })) {
    const base = Number(block.basePs);
    const time = (ps: number): number => (ps === OPEN_END ? OPEN_END : base + ps);
    for (let i = 0; i < block.count; i++) {
      all.push([block.slot[i]!, time(block.begin[i]!), time(block.end[i]!)]);
    }
  }
  return all.sort(byBegin);
}

const byBegin = (a: Interval, b: Interval): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** By the items alone. */
function expected(frames: readonly Frame[], from: number, to: number): Interval[] {
  const all: Interval[] = [];
  const begins = new Map<number, number>();
  for (const { timePs, items } of frames) {
    const now = Number(timePs);
    if (now >= to) break;
    for (const item of items) {
      if (item.kind !== 'op') continue;
      const begin = begins.get(item.slot);
      if (item.action === 2 && begin !== undefined) {
        if (now >= from) all.push([item.slot, begin < from ? OPEN_END : begin, now]);
        begins.delete(item.slot);
      } else if (item.action !== 2 && begin === undefined) begins.set(item.slot, now);
    }
  }
  for (const [slot, begin] of begins) all.push([slot, begin < from ? OPEN_END : begin, OPEN_END]);
  return all.sort(byBegin);
}

const op = fc
  .tuple(fc.nat(SLOTS - 1), fc.boolean())
  .map(([slot, isClear]) => (isClear ? clear(0, slot) : set(0, slot, 0, slot)));

it('of any range', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(900), fc.array(op, { maxLength: 5 })), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(9000),
      fc.integer({ min: 1, max: 9000 }),
      async (drawn, every, from, length) => {
        let time = 0;
        const frames = drawn.map(([step, items]) => {
          time += step;
          return frame(time, ...items);
        });
        const trace = await build(frames, every);
        expect(await found(trace)).toEqual(expected(frames, 0, Number.POSITIVE_INFINITY));
        const start = from % (time + 1);
        const part = await found(trace, BigInt(start), BigInt(start + length));
        expect(part).toEqual(expected(frames, start, start + length));
      },
    ),
    { numRuns: 200 },
  );
});

it('ends with the reason of its signal', async () => {
  const trace = await build([frame(0, set(0, 1, 0, 1))], 9);
  const signal = AbortSignal.abort(new Error('enough'));
  const blocks = slotIntervals(trace, trace.schema.storages[0]!, {}, { signal });
  await expect(blocks.next()).rejects.toThrow('enough');
});
