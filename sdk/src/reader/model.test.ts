import fc from 'fast-check';
import { compressSync } from 'lz4-napi';
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
  type TraceSpec,
} from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import { CursorItem } from '../format/frame.js';
import type { TraceSummary } from '../format/tsum.js';
import { Action, type Frame, type Item, type Schema } from '../format/types.js';
import { StorageState } from '../state/storage-state.js';
import { memorySource, openTrace, type Trace } from './index.js';
import { nodeCodec } from './node.js';

// Properties of whole traces, against a model.
limitOfFile(MANY_CASES_MS);

const zstd = zstdForTests?.compress;

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

interface Step {
  readonly delta: number;
  readonly items: Item[];
  readonly cut: boolean;
}

function segmentsOf(all: readonly Step[]): Cut[] {
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

function replay(schema: Schema, frames: readonly Frame[], until: bigint): StorageState {
  const state = new StorageState(schema);
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

type Compress = (raw: Uint8Array) => Uint8Array;
type Dialect = Omit<Partial<TraceSpec>, 'compress'> & { readonly compress?: Compress | undefined };

/** What existing writers do differently; the answers must not differ. */
const dialects: fc.Arbitrary<Dialect> = fc.oneof(
  fc.constant({ compression: 'lz4' } as const),
  fc.record({
    session: fc.constant(null),
    minor: fc.nat(3),
    interleaved: fc.boolean(),
    checkpointsAfter: fc.boolean(),
    unaligned: fc.boolean(),
    csum: fc.boolean(),
    ...{ compression: fc.constantFrom('none', 'lz4'), compress: fc.constantFrom(undefined, bareLz4) },
  }),
  ...(zstd ? [fc.constant({ session: null, compression: 'zstd', compress: zstd } as const)] : []),
);

/** Without the size in front, as one existing writer stores blocks. */
function bareLz4(raw: Uint8Array): Uint8Array {
  return new Uint8Array(compressSync(Buffer.from(raw))).slice(4);
}

const summary: TraceSummary = {
  baseIntervalCycles: 1024,
  fanOut: 4,
  totalInstructions: 0n,
  density: [],
  counters: [
    {
      name: 'retired',
      storageId: 3,
      levels: [{ min: BigUint64Array.of(1n), max: BigUint64Array.of(2n), sum: BigUint64Array.of(3n) }],
    },
  ],
};

/** Before version 0.3 there are no properties. */
const bareSchema: Schema = {
  ...coreSchema,
  storages: coreSchema.storages.map((storage) => ({ ...storage, properties: [] })),
};
const isProperty = (one: Item): boolean => one.kind === 'op' && one.action === Action.PROP_SET;

interface Case {
  readonly trace: Trace;
  readonly schema: Schema;
  readonly frames: readonly Frame[];
}

async function build(steps: readonly Step[], dialect: Dialect, finalized: boolean): Promise<Case> {
  const { minor = 3, interleaved = true, compress, ...rest } = dialect;
  const schema = minor < 3 ? bareSchema : coreSchema;
  const usesBlocks = compress && dialect.compression !== 'none';
  const builder = new TraceBuilder({
    schema,
    minor,
    interleaved,
    ...rest,
    ...(usesBlocks ? { compress } : {}),
  });
  // Frames before version 0.2 hold ops before events.
  const inOrder = (items: readonly Item[]): Item[] =>
    interleaved
      ? [...items]
      : [...items].sort((a, b) => Number(a.kind === 'event') - Number(b.kind === 'event'));
  const segments = segmentsOf(steps).map(({ frames, start }) => ({
    start,
    frames: frames.map(({ timePs, items }) => ({
      timePs,
      items: inOrder(minor < 3 ? items.filter((one) => !isProperty(one)) : items),
    })),
  }));
  for (const segment of segments) builder.segment(segment);
  if (finalized) builder.finalize({ summary });
  const trace = await openTrace(memorySource(builder.bytes), { codec: nodeCodec });
  return { trace, schema, frames: segments.flatMap(({ frames }) => frames) };
}

describe('against a model that replays everything', () => {
  it('state, occupancy, frames and summary agree at every time, however and by whomever the trace is written', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), dialects, async (all, finalized, dialect) => {
        const { trace, schema, frames } = await build(all, dialect, finalized);
        const last = frames.at(-1)?.timePs ?? 0n;
        for (let time = 0n; time <= last + 1n; time += time % 250n === 0n ? 1n : 249n) {
          const state = await trace.stateAt(time);
          const expected = replay(schema, frames, time);
          expect(state.raw.cells).toEqual(expected.cells);
          for (const id of [0, 1, 2]) expect(state.occupancy(id)).toBe(expected.occupancy(id));
          const seen: Frame[] = [];
          for await (const one of trace.frames(time, time + 250n)) seen.push(one);
          expect(seen).toEqual(frames.filter(({ timePs: t }) => t >= time && t < time + 250n));
        }
        expect((await trace.summary())?.counters ?? null).toEqual(finalized ? summary.counters : null);
        expect(await trace.frameCount()).toBe(BigInt(frames.length));
      }),
      { numRuns: 80 },
    );
  });

  it('the state before each segment is what its predecessors leave', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), dialects, async (all, finalized, dialect) => {
        const { trace, schema } = await build(all, dialect, finalized);
        const state = new StorageState(schema);
        for (let index = 0; index < trace.segmentCount; index++) {
          expect((await trace.stateBefore(index)).raw.cells).toEqual(state.cells);
          const cursor = (await trace.loadSegment(index)).cursor();
          while (cursor.next()) {
            const { kind, action, storageId, slot, field, lo, hi } = cursor;
            if (kind === CursorItem.OP) state.apply(action, storageId, slot, field, lo, hi);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
