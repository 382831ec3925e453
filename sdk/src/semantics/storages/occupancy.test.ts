import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import type { Frame } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import { StorageState } from '../../state/storage-state.js';
import { findCore } from '../cpu/cores.js';
import { occupancy } from './occupancy.js';

const { schema } = parseSchema(`
uscope: 1
clocks: {core_clk: 10, lost_clk: 0}
scopes:
  core0:
    protocol: cpu
    clock: core_clk
    storages:
      entities: {slots: 6, kind: sparse, fields: {entity_id: u32}}
      rob: {slots: 4, kind: buffer, fields: {entity_id: u32}}
      regs: {slots: 2, kind: dense, fields: {x: u64}}
  dma: {clock: lost_clk, storages: {queue: {slots: 3, kind: buffer, fields: {address: u32}}}}
`);
const ROB = 1;
const QUEUE = 3;

async function open(frames: readonly Frame[], perSegment: number): Promise<Trace> {
  const builder = new TraceBuilder({ schema });
  for (let at = 0; at < frames.length; at += perSegment) {
    const part = frames.slice(at, at + perSegment);
    builder.segment({ frames: part, start: at === 0 ? 0n : part[0].timePs });
  }
  return openTrace(memorySource(builder.bytes));
}

/** Occupied slots after all frames at or before a time. */
function countAt(frames: readonly Frame[], id: number, time: bigint): number {
  const state = new StorageState(schema);
  for (const { timePs, items } of frames) {
    for (const item of items) {
      if (timePs > time || item.kind !== 'op') continue;
      state.apply(item.action, item.storageId, item.slot, item.field, 1, 0);
    }
  }
  return state.occupancy(id);
}

/** Mean, extremes and histogram by looking at every picosecond. */
function everyPs(frames: readonly Frame[], id: number, from: bigint, to: bigint) {
  const slots = schema.storages[id].numSlots;
  const histogram = new Array<bigint>(slots + 1).fill(0n);
  let count = countAt(frames, id, from);
  const times = new Set(frames.map(({ timePs }) => timePs));
  for (let time = from; time < to; time++) {
    if (times.has(time)) count = countAt(frames, id, time);
    histogram[count]++;
  }
  const seen = [...histogram.keys()].filter((n) => histogram[n] > 0n);
  const sum = histogram.reduce((total, time, n) => total + Number(time) * n, 0);
  return { mean: sum / Number(to - from), min: seen[0], max: seen.at(-1), histogram };
}

const op = fc.tuple(fc.constantFrom(ROB, QUEUE), fc.nat(3), fc.boolean()).map(([id, slot, isSet]) => {
  const inside = slot % schema.storages[id].numSlots;
  return isSet ? set(id, inside, 0, 1) : clear(id, inside);
});
const trace = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(25), fc.array(op, { maxLength: 4 })), { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 1, max: 9 }),
  )
  .map(([steps, perSegment]) => {
    let time = 0;
    const frames = steps.map(([step, items]) => {
      time += step;
      return frame(time, ...items);
    });
    return { frames, perSegment };
  });

describe('occupancy over a range', () => {
  it('is what a look at every picosecond gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        trace,
        fc.nat(),
        fc.nat(),
        fc.integer({ min: 1, max: 7 }),
        async (made, a, b, points) => {
          const end = Number(made.frames.at(-1)?.timePs ?? 0n) + 1;
          const [from, last] = [a % end, b % end].sort((x, y) => x - y);
          const reports = await occupancy(await open(made.frames, made.perSegment), {
            from,
            to: last + 1,
            points,
          });
          expect(reports.map(({ label }) => label)).toEqual(['rob', 'queue']);
          for (const report of reports) {
            const { storageId: id, series } = report;
            expect(report).toMatchObject(everyPs(made.frames, id, report.fromPs, report.toPs));
            expect(report.last).toBe(countAt(made.frames, id, report.toPs - 1n));
            expect(series?.length).toBeLessThanOrEqual(points);
            expect([series?.[0].fromPs, series?.at(-1)?.toPs]).toEqual([report.fromPs, report.toPs]);
            for (const { fromPs, toPs, ...point } of series ?? []) {
              const { histogram, ...expected } = everyPs(made.frames, id, fromPs, toPs);
              expect(point).toEqual({ ...expected, mean: expect.closeTo(expected.mean, 9) });
            }
          }
        },
      ),
      { numRuns: cases(25) },
    );
  });

  const frames = [
    frame(0, set(ROB, 0, 0, 1)),
    frame(20, set(ROB, 1, 0, 2), set(ROB, 2, 0, 3), clear(ROB, 1)),
    frame(30, clear(ROB, 0), clear(ROB, 2)),
  ];

  it('lasts until the end of the last cycle, and counts no state within an instant', async () => {
    const opened = await open(frames, 2);
    const [rob] = await occupancy(opened, { core: findCore(opened) });
    expect(rob).toMatchObject({
      name: 'core0/rob',
      slots: 4,
      fromPs: 0n,
      toPs: 40n,
      periodPs: 10n,
      mean: 1,
      min: 0,
      max: 2,
      last: 0,
      histogram: [10n, 20n, 10n, 0n, 0n],
      series: null,
    });
  });

  it('is asked of sparse storages and buffers, by name, once each', async () => {
    const opened = await open(frames, 9);
    const names = async (...buffers: string[]) =>
      (await occupancy(opened, { buffers })).map(({ name }) => name);
    expect(await names('entities', 'queue', 'dma/queue')).toEqual(['core0/entities', 'dma/queue']);
    await expect(names('regs')).rejects.toThrow(/READER_NAME.*always occupied/);
    await expect(names('rub')).rejects.toThrow(/READER_NAME.*core0\/rob/);
    for (const points of [0, -1, 1.5, Number.NaN]) {
      await expect(occupancy(opened, { points })).rejects.toThrow(/READER_RANGE.*points/);
    }
  });

  it('of an empty trace is nothing', async () => {
    const empty = await openTrace(memorySource(new TraceBuilder({ schema }).bytes));
    expect((await occupancy(empty, { points: 2 })).map(({ mean, max }) => [mean, max])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('says how far it is', async () => {
    const seen: number[] = [];
    await occupancy(await open(frames, 1), { progress: (fraction) => seen.push(fraction) });
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(1);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
  });
});
