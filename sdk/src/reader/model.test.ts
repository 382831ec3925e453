import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  clear,
  coreSchema,
  frame,
  prop,
  set,
  stage,
  TraceBuilder,
} from '../../../test/support/build-trace.js';
import type { Frame, Item } from '../format/types.js';
import { StorageState } from '../state/storage-state.js';
import { memorySource, openTrace } from './index.js';

const value = fc.oneof(fc.nat(300), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }));
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.tuple(fc.nat(11), fc.nat(2), value).map(([slot, field, v]) => set(0, slot, field, v)),
  fc.tuple(fc.nat(3), value).map(([slot, v]) => set(1, slot, 0, v)),
  fc.tuple(fc.nat(2), fc.nat(1)).map(([slot, v]) => set(2, slot, 0, v)),
  fc.nat(11).map((slot) => clear(0, slot)),
  fc.nat(2).map((slot) => clear(2, slot)),
  value.map((v) => add(3, 0, 0, v)),
  value.map((v) => prop(1, 0, v)),
  fc.nat(1).map((label) => stage(1, label)),
);
/** Frames as steps of time (0 repeats an instant) and where the writer cuts. */
const steps = fc.array(
  fc.record({
    delta: fc.constantFrom(0, 1, 250, 1000),
    items: fc.array(item, { maxLength: 4 }),
    cut: fc.boolean(),
  }),
  { maxLength: 30 },
);

interface Cut {
  readonly frames: Frame[];
  readonly start: bigint;
}

function segmentsOf(all: readonly { delta: number; items: Item[]; cut: boolean }[]): Cut[] {
  const segments: Cut[] = [{ frames: [], start: 0n }];
  let time = 0n;
  for (const { delta, items, cut } of all) {
    // Cut before this frame: at its time, or (inclusive ends of other writers) at the last frame's.
    if (cut) segments.push({ frames: [], start: delta % 2 ? time : time + BigInt(delta) });
    time += BigInt(delta);
    segments.at(-1)!.frames.push(frame(time, ...items));
  }
  return segments;
}

function replay(frames: readonly Frame[], until: bigint): StorageState {
  const state = new StorageState(coreSchema);
  for (const { timePs, items } of frames) {
    if (timePs > until) break;
    for (const one of items) {
      if (one.kind !== 'op') continue;
      const { action, storageId, slot, field, value: v } = one;
      state.apply(action, storageId, slot, field, Number(v & 0xffff_ffffn), Number(v >> 32n));
    }
  }
  return state;
}

describe('against a model that replays everything', () => {
  it('state, occupancy and events agree at every time, however the trace is cut', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), fc.boolean(), async (all, finalized, ours) => {
        const builder = new TraceBuilder({
          schema: coreSchema,
          compression: 'lz4',
          ...(ours ? {} : { session: null }),
        });
        const segments = segmentsOf(all);
        for (const { frames, start } of segments) builder.segment({ frames, start });
        if (finalized) builder.finalize();
        const trace = await openTrace(memorySource(builder.bytes));
        const frames = segments.flatMap((segment) => segment.frames);
        const last = frames.at(-1)?.timePs ?? 0n;
        for (let time = 0n; time <= last + 1n; time += time % 250n === 0n ? 1n : 249n) {
          const state = await trace.stateAt(time);
          const expected = replay(frames, time);
          expect(state.raw.cells).toEqual(expected.cells);
          for (const id of [0, 1, 2]) expect(state.occupancy(id)).toBe(expected.occupancy(id));
          const seen: bigint[] = [];
          for await (const { timePs } of trace.frames(time, time + 250n)) seen.push(timePs);
          expect(seen).toEqual(frames.map((f) => f.timePs).filter((t) => t >= time && t < time + 250n));
        }
      }),
      { numRuns: 60 },
    );
  });
});
