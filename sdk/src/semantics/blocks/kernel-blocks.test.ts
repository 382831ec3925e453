/** What compiled code makes of a trace equals what is made of objects, on sound and on hostile traces, to the last byte. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oracleBlockOf } from '../../../../test/oracle/blocks/block.js';
import { oracleRangeBlocks } from '../../../../test/oracle/blocks/range.js';
import { TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { event, modelSchema, u32 } from '../../../../test/support/pipeline-model.js';
import { encodeFrames } from '../../format/frame.js';
import { Action, type FieldDef, FieldType, type Frame, type Item, type Schema } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { controlEventOf, withControlEvent } from '../../schema/control.js';
import { type CpuCore, findCore, findCores, requireEntities } from '../cpu/cores.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import type { InstructionBlock } from './block.js';
import { type BlocksKernel, giveBlocksKernelBack, takeBlocksKernel } from './kernel/blocks-kernel.js';
import { kernelBlockOf, kernelRangeBlocks } from './kernel-blocks.js';
import type { RangeBlockOptions } from './options.js';

// Ten times the cases where all are tried.
limitOfFile(MANY_CASES_MS);

const SAMPLES = fileURLToPath(new URL('../../../../../shared/samples/uscope/', import.meta.url));
const SLOTS = 6;
const field = (name: string, type: FieldType, enumId = 0): FieldDef => ({
  name,
  type,
  enumId,
  role: 0,
  pairId: 0,
});

/** Everything that the conventions know, and a storage that is none of the core's. */
const schema: Schema = (() => {
  const model = modelSchema({ slots: SLOTS });
  const [entities, counter] = model.storages;
  const id = field('entity_id', FieldType.U32);
  const fields = [
    ...entities!.fields,
    field('is_compressed', FieldType.BOOL),
    field('thread_id', FieldType.U16),
  ];
  const stall = [id, field('reason', FieldType.U16)];
  const text = field('text', FieldType.STRING_REF);
  const trap = [
    id,
    field('cause', FieldType.U64),
    field('tval', FieldType.U8),
    field('target', FieldType.U32),
  ];
  const more: Record<string, FieldDef[]> = { stall, annotate: [id, text, field('kind', FieldType.U16)] };
  const events = model.events.map((one) => ({ ...one, fields: more[one.name] ?? one.fields }));
  return withControlEvent({
    ...model,
    storages: [{ ...entities!, fields }, counter!],
    events: [...events, { name: 'trap', fields: trap, eventTypeId: 5, scopeId: 1 }],
  });
})();
const CONTROL = controlEventOf(schema);

const number = fc.oneof({ weight: 9, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(0xffff) });
/** Mostly what slots hold; at times beyond them. */
const anyId = fc.oneof(
  { weight: 12, arbitrary: fc.nat(SLOTS - 1) },
  { weight: 2, arbitrary: fc.nat(SLOTS + 3) },
  { weight: 1, arbitrary: fc.nat(0xffff_ffff) },
);
const slot = fc.oneof(
  { weight: 20, arbitrary: fc.nat(SLOTS - 1) },
  { weight: 1, arbitrary: fc.constantFrom(SLOTS, 0xffff) },
);
const op = (action: Action, fieldIndex: fc.Arbitrary<number>, value: fc.Arbitrary<bigint>) =>
  fc
    .record({ slot, field: fieldIndex, value, storageId: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1) })
    .map((drawn): Item => ({ kind: 'op', action, ...drawn, field: drawn.storageId === 1 ? 0 : drawn.field }));
const value = fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }));
const birth = fc.tuple(slot, anyId, fc.boolean()).map(
  ([one, id, isSlot]): Item => ({
    kind: 'op',
    action: Action.SET,
    storageId: 0,
    slot: one,
    field: 0,
    value: BigInt(isSlot ? one : id),
  }),
);
const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 6, arbitrary: birth },
  { weight: 4, arbitrary: op(Action.SET, fc.integer({ min: 1, max: 4 }), value) },
  { weight: 4, arbitrary: op(Action.CLEAR, fc.constant(0), fc.constant(0n)) },
  { weight: 1, arbitrary: op(Action.ADD, fc.nat(4), value) },
  { weight: 8, arbitrary: fc.tuple(anyId, fc.nat(5)).map(([id, s]) => event(0, ...u32(id), s)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyId, number, number)
      .map(([id, s, kind]) => event(1, ...u32(id), ...u32(s), kind & 255, kind >> 8)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(anyId, anyId, fc.nat(4))
      .map(([on, id, type]) => event(2, ...u32(on), ...u32(id), type)),
  },
  { weight: 2, arbitrary: fc.tuple(anyId, fc.nat(9)).map(([id, s]) => event(3, ...u32(id), s)) },
  {
    weight: 2,
    arbitrary: fc.tuple(anyId, number).map(([id, s]) => event(4, ...u32(id), s & 255, s >> 8)),
  },
  { weight: 1, arbitrary: fc.tuple(anyId, bytes(13)).map(([id, rest]) => event(5, ...u32(id), ...rest)) },
  { weight: 1, arbitrary: fc.nat(3).map((action) => event(CONTROL, action, 1, ...u32(0), ...u32(0))) },
);
/** Cycles; at times a time that is not a multiple of the period, or far away (ticks are exact below 2^53). */
const step = fc.oneof(
  { weight: 12, arbitrary: fc.nat(4).map((cycles) => BigInt(cycles * 500)) },
  { weight: 1, arbitrary: fc.nat(1200).map(BigInt) },
  { weight: 1, arbitrary: fc.nat(1 << 22).map((cycles) => BigInt(cycles) * 500n) },
);
const far = { weight: 1, arbitrary: fc.bigInt({ min: 1n << 31n, max: 1n << 46n }).map((x) => x * 2n) };

interface Drawn {
  readonly frames: readonly { readonly step: bigint; readonly items: readonly Item[] }[];
  readonly every: number;
  readonly emptied: readonly number[];
  readonly isOurs: boolean;
  readonly hasPeriod: boolean;
  readonly interleaved: boolean;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  frames: fc.array(
    fc.record({
      step: fc.oneof({ weight: 40, arbitrary: step }, far),
      items: fc.array(item, { maxLength: 10 }),
    }),
    { minLength: 1, maxLength: 40 },
  ),
  every: fc.integer({ min: 1, max: 12 }),
  emptied: fc.uniqueArray(fc.nat(9), { maxLength: 2 }),
  isOurs: fc.boolean(),
  hasPeriod: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  interleaved: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, fc.constant(false)),
});

async function build({ frames, every, emptied, isOurs, hasPeriod, interleaved }: Drawn): Promise<Trace> {
  const clocks = schema.clocks.map((clock) => (hasPeriod ? clock : { ...clock, periodPs: 0 }));
  const builder = new TraceBuilder({
    schema: { ...schema, clocks },
    interleaved,
    ...(isOurs ? {} : { session: null }),
  });
  const timed: Frame[] = [];
  let timePs = 0n;
  for (const one of frames) {
    timePs += one.step;
    if (timePs >= 1n << 64n) break;
    timed.push({ timePs, items: [...one.items] });
  }
  for (let at = 0; at < Math.max(timed.length, 1); at += every) {
    const end = timed[at + every]?.timePs;
    builder.segment({
      frames: timed.slice(at, at + every),
      ...(end === undefined ? {} : { end }),
      emptied: at > 0 && emptied.includes(at / every) ? [0] : [],
    });
  }
  return openTrace(memorySource(builder.finalize().bytes));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of items) all.push(one);
  return all;
}

async function withKernel<T>(use: (kernel: BlocksKernel) => Promise<T>): Promise<T> {
  const kernel = takeBlocksKernel();
  try {
    return await use(kernel);
  } finally {
    giveBlocksKernelBack(kernel);
  }
}

type Outcome = readonly (InstructionBlock | string)[];

/** The blocks, and at the end the message of an error. */
async function outcome(blocks: AsyncIterable<InstructionBlock>): Promise<Outcome> {
  const all: (InstructionBlock | string)[] = [];
  try {
    for await (const block of blocks) all.push(block);
  } catch (error) {
    all.push((error as Error).message);
  }
  return all;
}

const countOf = (blocks: Outcome): number =>
  blocks.reduce((sum, block) => sum + (typeof block === 'string' ? 0 : block.count), 0);

/** Both ways through a range. */
async function ranges(
  trace: Trace,
  core: CpuCore,
  from: bigint,
  to: bigint | undefined,
  options: RangeBlockOptions = {},
): Promise<[plain: InstructionBlock[], compiled: InstructionBlock[]]> {
  const access = await SegmentAccess.of(trace);
  const first = await segmentToBeginWith(access, requireEntities(core), from, options.lookback ?? 16);
  const range = { from, to };
  const plain = await collect(oracleRangeBlocks(trace, core, range, access, first, options));
  const compiled = await withKernel((kernel) =>
    collect(kernelRangeBlocks(kernel, trace, core, range, access, first, options)),
  );
  return [plain, compiled];
}

describe('blocks of the kernel equal those of the oracle', () => {
  it('of a range', async () => {
    const places = fc.tuple(fc.nat(1000), fc.nat(1000), fc.boolean());
    const options = fc.record({
      stages: fc.constantFrom('all' as const, 'range' as const),
      lookback: fc.constantFrom(0, 1, 16),
      lookahead: fc.constantFrom(0, 1, 16),
    });
    await fc.assert(
      fc.asyncProperty(drawn, places, options, async (one, [a, b, isOpen], chosen) => {
        const trace = await build(one);
        const times = [a, b].map((part) => (BigInt(part) * trace.totalTimePs) / 1000n);
        const [from, to] = times.sort((x, y) => Number(x - y));
        fc.pre(isOpen || from !== to);
        const end = isOpen ? undefined : to;
        const [plain, compiled] = await ranges(trace, findCore(trace), from!, end, chosen);
        expect(compiled).toEqual(plain);
      }),
      { numRuns: cases(20, 320) },
    );
  });

  it('of each segment', async () => {
    await fc.assert(
      fc.asyncProperty(drawn, async (one) => {
        const trace = await build(one);
        const core = findCore(trace);
        const options = { lookback: 100 };
        for (let segment = 0; segment < trace.segmentCount; segment++) {
          const plain = await oracleBlockOf(trace, core, segment, options);
          const compiled = await withKernel((kernel) => kernelBlockOf(kernel, trace, core, segment, options));
          expect(compiled).toEqual(plain);
        }
      }),
      { numRuns: cases(10, 120) },
    );
  });

  it('where an instruction never ends, and more wait for it than may', async () => {
    const frames = Array.from({ length: 700 }, (_, cycle) => ({
      step: 500n,
      items: Array.from({ length: 100 }, (): Item[] => [
        { kind: 'op', action: Action.SET, storageId: 0, slot: 1, field: 0, value: 1n },
        { kind: 'op', action: Action.CLEAR, storageId: 0, slot: 1, field: 0, value: 0n },
      ])
        .flat()
        .concat(
          cycle === 0 ? [{ kind: 'op', action: Action.SET, storageId: 0, slot: 0, field: 0, value: 0n }] : [],
        ),
    }));
    const trace = await build({
      frames,
      every: 100,
      emptied: [],
      isOurs: true,
      hasPeriod: true,
      interleaved: true,
    });
    const [plain, compiled] = await ranges(trace, findCore(trace), 0n, undefined);
    expect(plain.some(({ numbers }) => numbers !== null)).toBe(true);
    expect(compiled).toEqual(plain);
  });

  it('where a slot is cleared, given again and flushed in one frame: v0.1 has the flush last, and it is of the one before', async () => {
    const at = { kind: 'op', storageId: 0, slot: 2, field: 0 } as const;
    const set: Item = { ...at, action: Action.SET, value: 2n };
    const clear: Item = { ...at, action: Action.CLEAR, value: 0n };
    const flush = event(3, ...u32(2), 1);
    const frames = [[set], [clear, set, flush], [clear]].map((items) => ({ step: 500n, items }));
    const flushed: Record<string, number[]> = {};
    for (const interleaved of [true, false]) {
      const trace = await build({
        frames,
        every: 10,
        emptied: [],
        isOurs: true,
        hasPeriod: true,
        interleaved,
      });
      const [plain, compiled] = await ranges(trace, findCore(trace), 0n, undefined);
      expect(compiled).toEqual(plain);
      flushed[interleaved ? 'interleaved' : 'plain'] = compiled.flatMap(({ flushes }) => [...flushes.row]);
    }
    expect(flushed).toEqual({ interleaved: [1], plain: [0] });
  });

  it('of a segment that is followed in pieces, sound or damaged at its end', async () => {
    const items: Item[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const op = { kind: 'op', storageId: 0, slot, field: 0 } as const;
      items.push({ ...op, action: Action.SET, value: BigInt(slot) }, event(0, ...u32(slot), 1));
      for (let note = 0; note < 120; note++) items.push(event(7, ...new Uint8Array(600)));
      items.push({ ...op, action: Action.CLEAR, value: 0n });
    }
    const one = encodeFrames([{ timePs: 500n, items }], 0n);
    const count = Math.ceil((17 * 1024 * 1024) / one.length);
    for (const damage of [0, 1]) {
      const rawDeltas = new Uint8Array(one.length * count + damage * 3).fill(0xff);
      for (let at = 0; at < count; at++) rawDeltas.set(one, at * one.length);
      const builder = new TraceBuilder({ schema });
      builder.segment({ frames: [], end: 1n << 40n, rawDeltas, patch: { numFrames: count } });
      const trace = await openTrace(memorySource(builder.finalize().bytes));
      const core = findCore(trace);
      const access = await SegmentAccess.of(trace);
      const range = { from: 0n, to: undefined };
      const plain = await outcome(oracleRangeBlocks(trace, core, range, access, 0, {}));
      const compiled = await withKernel((kernel) =>
        outcome(kernelRangeBlocks(kernel, trace, core, range, access, 0, {})),
      );
      expect(countOf(compiled)).toBe(count * SLOTS);
      expect(countOf(plain)).toBe(count * SLOTS);
      expect(compiled.at(-1)).toEqual(plain.at(-1));
    }
  });

  it('of the samples at hand', { timeout: MANY_CASES_MS }, async () => {
    const files = existsSync(SAMPLES) ? readdirSync(SAMPLES).filter((name) => name.endsWith('.uscope')) : [];
    for (const name of files) {
      const trace = await openTraceFile(join(SAMPLES, name));
      for (const core of findCores(trace)) {
        if (!core.entities) continue;
        const [plain, compiled] = await ranges(trace, core, 0n, undefined);
        expect(compiled).toEqual(plain);
      }
      await trace.close();
    }
  });
});

describe('damage', () => {
  it('is reported with the code and place that the plain way gives it', async () => {
    const raw = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(30));
    await fc.assert(
      fc.asyncProperty(raw, fc.boolean(), async ([noise, count], interleaved) => {
        const empty = interleaved ? [0xf4, 0x03, 0, 0] : [0xf4, 0x03, 1, 0, 0, 0, 0, 0];
        const sound = Array.from({ length: count }, () => empty).flat();
        const rawDeltas = Uint8Array.from([...sound, ...noise]);
        const builder = new TraceBuilder({ schema, interleaved });
        builder.segment({ frames: [], end: 1n << 40n, rawDeltas });
        const trace = await openTrace(memorySource(builder.finalize().bytes));
        const core = findCore(trace);
        const access = await SegmentAccess.of(trace);
        const range = { from: 0n, to: undefined };
        const plain = await outcome(oracleRangeBlocks(trace, core, range, access, 0, {}));
        const compiled = await withKernel((kernel) =>
          outcome(kernelRangeBlocks(kernel, trace, core, range, access, 0, {})),
        );
        expect(compiled).toEqual(plain);
      }),
      { numRuns: cases(20, 240) },
    );
  });
});
