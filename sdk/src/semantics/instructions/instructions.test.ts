import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder } from '../../../../test/support/build-trace.js';
import { cases } from '../../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import {
  event,
  type Model,
  type ModelInstruction,
  modelSchema,
  PERIOD_PS,
  runModel,
  STAGES,
  u32,
} from '../../../../test/support/pipeline-model.js';
import type { TraceSummary } from '../../format/tsum.js';
import type { Frame, Schema } from '../../format/types.js';
import { memorySource, openTrace, type SegmentEntry, type Source, type Trace } from '../../reader/index.js';
import { controlEventOf, withControlEvent } from '../../schema/control.js';
import {
  birthOf,
  type CoreRange,
  cycleOf,
  findCore,
  findCores,
  firstAt,
  type Instruction,
  InstructionEnd,
  MAX_ENTRIES,
  NO_STAGE,
  stalls,
} from '../cpu/index.js';
import { type InstructionOptions, instructions } from './instructions.js';

interface Cut {
  /** Frames per segment. */
  readonly every?: number;
  readonly schema?: Schema;
  /** Instead of that of a writer of ours: no session chunk, v0.1 frames, checkpoints behind. */
  readonly foreign?: { readonly interleaved?: boolean; readonly checkpointsAfter?: boolean };
  readonly isLive?: boolean;
  readonly summary?: TraceSummary;
}

function build(frames: readonly Frame[], strings: readonly string[], cut: Cut = {}): Uint8Array {
  const { every = 7, schema = modelSchema(), foreign, isLive = false, summary } = cut;
  const builder = new TraceBuilder({
    schema,
    compression: 'lz4',
    dut: [
      ['cpu.isa', 'RV32I'],
      ['cpu.pipeline_stages', STAGES.join(',')],
    ],
    ...(foreign ? { session: null, ...foreign } : {}),
  });
  for (let at = 0; at < Math.max(frames.length, 1); at += every) {
    const part = frames.slice(at, at + every);
    // Segments touch: one ends where the next one's first frame lies.
    const end = frames[at + every]?.timePs;
    builder.segment({
      frames: part,
      ...(end === undefined ? {} : { end }),
      strings: at === 0 ? strings : [],
    });
  }
  return (isLive ? builder : builder.finalize(summary ? { summary } : {})).bytes;
}

const open = (bytes: Uint8Array): Promise<Trace> => openTrace(memorySource(bytes));

async function collect(
  trace: Trace,
  range?: CoreRange,
  options?: InstructionOptions,
): Promise<Instruction[]> {
  const all: Instruction[] = [];
  for await (const one of instructions(trace, findCore(trace), range, options)) all.push(one);
  return all;
}

const ps = (cycle: number): bigint => BigInt(cycle * PERIOD_PS);

/** What must come back for an instruction of the model. */
function expected(one: ModelInstruction, all: readonly ModelInstruction[]): Instruction {
  const ended = one.end === null ? null : ps(one.end);
  return {
    id: one.id,
    seq: BigInt(one.seq),
    pc: one.pc,
    bits: one.bits,
    isCompressed: null,
    thread: null,
    birthPs: ps(one.birth),
    stages: one.stages.map(({ name, cycle }) => ({ stage: STAGES.indexOf(name), name, timePs: ps(cycle) })),
    stalls: [],
    annotations: one.text === null ? [] : [{ timePs: ps(one.birth), text: one.text, kind: null }],
    dependencies: one.dependencies.map(({ on, seq, type, cycle }) => ({
      timePs: ps(cycle),
      on,
      seq: BigInt(seq),
      pc: all[seq]!.pc,
      type,
    })),
    flush: one.flush && { timePs: ps(one.flush.cycle), reason: one.flush.reason },
    trap: null,
    end:
      one.end === null
        ? InstructionEnd.IN_FLIGHT
        : one.flush
          ? InstructionEnd.SQUASHED
          : InstructionEnd.RETIRED,
    endPs: ended,
    isAbridged: false,
  };
}

function inRange(model: Model, from: number, to: number): Instruction[] {
  return model.instructions
    .filter((one) => one.birth < to && (one.end ?? one.flush?.cycle ?? Number.POSITIVE_INFINITY) >= from)
    .map((one) => expected(one, model.instructions));
}

/**
 * The number of a producer that ended before the range is known only where the reading began before its birth: null is allowed there
 * and made up for, so that everything else can be compared to the letter.
 */
function withProducers(found: readonly Instruction[], model: Model, from: number): Instruction[] {
  return found.map((one) => ({
    ...one,
    dependencies: one.dependencies.map((dependency) => {
      const producer = model.instructions[Number(((dependency.pc ?? 0n) - 0x8000_0000n) / 4n)];
      const isGone = producer !== undefined && producer.end !== null && producer.end < from;
      return dependency.seq === null && isGone ? { ...dependency, seq: BigInt(producer.seq) } : dependency;
    }),
  }));
}

/** A model, how it is cut into segments, and two cycles. */
const models = fc
  .record({
    seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    cycles: fc.integer({ min: 1, max: 120 }),
    slots: fc.integer({ min: 1, max: 24 }),
    every: fc.integer({ min: 1, max: 40 }),
    range: fc.tuple(fc.integer({ min: 0, max: 130 }), fc.integer({ min: 0, max: 130 })),
  })
  .map(({ seed, cycles, slots, every, range: [a, b] }) => {
    let state = seed;
    const choose = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const model = runModel(choose, cycles, slots);
    return { model, every, from: Math.min(a, b), to: Math.max(a, b), seed };
  });

/** A source that remembers what was read: `touched` gives the segments read since it was asked last. */
function watched(bytes: Uint8Array) {
  const inner = memorySource(bytes);
  let offsets: number[] = [];
  const source: Source = {
    ...inner,
    size: () => inner.size(),
    read: (offset, length) => {
      offsets.push(offset);
      return inner.read(offset, length);
    },
  };
  const touched = (entries: readonly SegmentEntry[]): number[] => {
    const end = (entries.at(-1)?.offset ?? 0) + 1;
    const inside = offsets.filter((offset) => offset < end);
    offsets = [];
    return [...new Set(inside.map((offset) => entries.findLastIndex((entry) => entry.offset <= offset)))];
  };
  return { source, touched };
}

describe('instructions', () => {
  const far = { lookback: 200, lookahead: 200 };

  it('gives the exact life of every instruction, whatever the range and the segments', {
    timeout: MANY_CASES_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(models, fc.boolean(), async ({ model, every, from, to }, isLive) => {
        const trace = await open(build(model.frames, model.strings, { every, isLive }));
        expect(await collect(trace)).toEqual(inRange(model, 0, model.cycles));
        const part = await collect(trace, { from, to, unit: 'cycles' }, far);
        expect(withProducers(part, model, from)).toEqual(from === to ? [] : inRange(model, from, to));
        const tail = await collect(trace, { from: ps(from) }, far);
        expect(withProducers(tail, model, from)).toEqual(inRange(model, from, Infinity));
      }),
      { numRuns: cases(25, 300) },
    );
  });

  it('reports on request only the stages of the range, and the last one before and after it', async () => {
    await fc.assert(
      fc.asyncProperty(models, async ({ model, every, from, to }) => {
        const trace = await open(build(model.frames, model.strings, { every }));
        const range = { from, to, unit: 'cycles' } as const;
        const whole = await collect(trace, range, far);
        const part = await collect(trace, range, { ...far, stages: 'range' });
        expect(part).toEqual(
          whole.map(({ stages, ...rest }) => {
            const before = stages.filter(({ timePs }) => timePs < ps(from));
            const behind = stages.filter(({ timePs }) => timePs >= ps(to));
            const inside = stages.slice(before.length, stages.length - behind.length);
            return { ...rest, stages: [...before.slice(-1), ...inside, ...behind.slice(-1)] };
          }),
        );
      }),
      { numRuns: cases(15, 200) },
    );
  });

  it('does so for files that store checkpoints after their segments', async () => {
    await fc.assert(
      fc.asyncProperty(models, async ({ model, every, from, to }) => {
        const trace = await open(
          build(model.frames, model.strings, { every, foreign: { checkpointsAfter: true } }),
        );
        // The reader recognises such files by their first segment, if instructions are in flight where it ends.
        const first = Number(model.frames[every - 1]?.timePs ?? 0n) / PERIOD_PS;
        fc.pre(model.instructions.some(({ birth, end }) => birth <= first && (end === null || end > first)));
        fc.pre(from < to);
        const part = await collect(trace, { from, to, unit: 'cycles' }, far);
        expect(withProducers(part, model, from)).toEqual(inRange(model, from, to));
      }),
      { numRuns: cases(20) },
    );
  });

  it('gives the same from v0.1 frames, which list ops before events, where no slot changes hands in a cycle', async () => {
    await fc.assert(
      fc.asyncProperty(models, async ({ model, every, from, to }) => {
        const births = new Map(model.instructions.map((one) => [`${one.id}@${one.birth}`, one]));
        fc.pre(model.instructions.every((one) => !births.has(`${one.id}@${one.end}`)) && from < to);
        const trace = await open(
          build(model.frames, model.strings, { every, foreign: { interleaved: false } }),
        );
        const part = await collect(trace, { from, to, unit: 'cycles' }, far);
        expect(withProducers(part, model, from)).toEqual(inRange(model, from, to));
      }),
      { numRuns: cases(20) },
    );
  });

  it('finds any instruction by its number and by its address', async () => {
    await fc.assert(
      fc.asyncProperty(models, async ({ model, every }) => {
        const trace = await open(build(model.frames, model.strings, { every }));
        const core = findCore(trace);
        for (const one of model.instructions) {
          expect(await birthOf(trace, core, BigInt(one.seq))).toBe(ps(one.birth));
          expect(await firstAt(trace, core, one.pc)).toBe(ps(one.birth));
        }
        expect(await birthOf(trace, core, BigInt(model.instructions.length))).toBeNull();
        expect(await firstAt(trace, core, 4n)).toBeNull();
      }),
      { numRuns: cases(5) },
    );
  });

  it('numbers instructions by the summary, without reading what lies before', async () => {
    const model = runModel(lcg(11), 2000);
    const births = new Uint32Array(Math.ceil(2000 / 64));
    for (const { birth } of model.instructions) births[Math.floor(birth / 64)]!++;
    const summary = {
      baseIntervalCycles: 64,
      fanOut: 4,
      totalInstructions: BigInt(model.instructions.length),
      density: [births],
      counters: [],
    };
    const { source, touched } = watched(build(model.frames, model.strings, { every: 50, summary }));
    const trace = await openTrace(source);
    const entries = await trace.segments();
    touched(entries);
    const part = await collect(trace, { from: 1500, to: 1520, unit: 'cycles' });
    expect(withProducers(part, model, 1500)).toEqual(inRange(model, 1500, 1520));
    // The first says whether anything was in flight before the trace; then those from the summary's last bucket on.
    const late = () => touched(entries).filter((index) => index > 0);
    expect(Math.min(...late())).toBeGreaterThan(entries.length / 2);
    const core = findCore(trace);
    for (const one of model.instructions.slice(-30)) {
      expect(await birthOf(trace, core, BigInt(one.seq))).toBe(ps(one.birth));
    }
    expect(Math.min(...late())).toBeGreaterThan(entries.length / 2);
  });

  it('gives the stalls of a range', async () => {
    const model = runModel(lcg(5), 100);
    const trace = await open(build(model.frames, model.strings));
    const found = [];
    for await (const stall of stalls(trace, findCore(trace), { from: 20, to: 60, unit: 'cycles' })) {
      found.push({ cycle: Number(stall.timePs) / PERIOD_PS, reason: stall.reason });
    }
    expect(found).toEqual(model.stalls.filter(({ cycle }) => cycle >= 20 && cycle < 60));
    expect(found.length).toBeGreaterThan(3);
  });
});

describe('what is outside the range', () => {
  /** One instruction from cycle 0 to 99, a frame per cycle and ten frames per segment. */
  const long = (): Frame[] =>
    Array.from({ length: 100 }, (_, cycle) => {
      if (cycle === 0) return frame(0, set(0, 3, 0, 3), set(0, 3, 1, 0x1000), event(0, ...u32(3), 0));
      if (cycle === 99) return frame(ps(cycle), { ...set(0, 3, 0, 0), action: 2 } as Frame['items'][0]);
      return frame(ps(cycle), ...(cycle === 50 ? [event(0, ...u32(3), 1)] : []));
    });

  it('is read as far as allowed: a birth that was not looked for is not known', async () => {
    const trace = await open(build(long(), [], { every: 10 }));
    const range = { from: 45, to: 55, unit: 'cycles' } as const;
    const [whole] = await collect(trace, range);
    expect(whole).toMatchObject({ birthPs: 0n, seq: 0n, end: 'retired', endPs: ps(99) });
    expect(whole!.stages.map(({ name }) => name)).toEqual(['fetch', 'decode']);
    const [part] = await collect(trace, range, { lookback: 2, lookahead: 1 });
    expect(part).toMatchObject({ birthPs: null, seq: null, pc: 0x1000n, end: 'unknown', endPs: null });
    expect(part!.stages.map(({ name }) => name)).toEqual(['decode']);
  });

  it('is not read where nothing is in flight: only the segments of the range are', async () => {
    const frames = Array.from({ length: 200 }, (_, cycle) =>
      frame(ps(cycle), set(0, 1, 0, 1), set(0, 1, 1, cycle), {
        ...set(0, 1, 0, 0),
        action: 2,
      } as Frame['items'][0]),
    );
    const bytes = build(frames, [], { every: 10 });
    const { source, touched } = watched(bytes);
    const trace = await openTrace(source);
    const entries = await trace.segments();
    touched(entries);
    const found = await collect(trace, { from: 123, to: 127, unit: 'cycles' }, { numbering: 'never' });
    expect(found.map(({ pc }) => pc)).toEqual([123n, 124n, 125n, 126n]);
    expect(touched(entries)).toEqual([12]);
  });
});

describe('files in the wild', () => {
  const one = (items: Frame['items'], schema = modelSchema()): Promise<Trace> =>
    open(build([frame(0, ...items)], [], { schema }));

  it('may lack every optional thing', async () => {
    const schema = modelSchema();
    const bare: Schema = {
      ...schema,
      storages: [{ ...schema.storages[0]!, fields: [schema.storages[0]!.fields[0]!] }],
      events: [],
    };
    const [only] = await collect(await one([set(0, 2, 0, 2)], bare));
    expect(only).toMatchObject({ id: 2, pc: null, bits: null, stages: [], birthPs: 0n, end: 'in_flight' });
  });

  it('may put events in front of the birth, in its frame', async () => {
    const [only] = await collect(await one([event(0, ...u32(5), 0), set(0, 5, 0, 5)]));
    expect(only!.stages).toEqual([{ stage: 0, name: 'fetch', timePs: 0n }]);
  });

  it('may use ids that are not the slot, and slots that do not exist', async () => {
    const [named] = await collect(await one([set(0, 2, 0, 77), event(0, ...u32(77), 1)]));
    expect(named).toMatchObject({ id: 77, stages: [{ name: 'decode' }] });
    const beyond = build([frame(0, set(0, 900, 0, 900), event(0, ...u32(900), 1))], [], { foreign: {} });
    expect(await collect(await open(beyond))).toMatchObject([{ id: 900, stages: [{ name: 'decode' }] }]);
  });

  it('may give a slot away without clearing it', async () => {
    const found = await collect(await one([set(0, 2, 0, 2), set(0, 2, 0, 9), set(0, 2, 1, 4)]));
    expect(found).toMatchObject([
      { id: 2, end: 'lost', pc: null },
      { id: 9, end: 'in_flight', pc: 4n },
    ]);
  });

  it('may name strings, stages and reasons they do not define', async () => {
    const [only] = await collect(
      await one([
        set(0, 1, 0, 1),
        event(0, ...u32(1), 9),
        event(1, ...u32(1), ...u32(8)),
        event(3, ...u32(1), 99),
      ]),
    );
    expect(only).toMatchObject({
      stages: [{ stage: -1, name: '9' }],
      annotations: [{ text: '#8' }],
      flush: { reason: '99' },
      end: 'in_flight',
    });
  });

  it('may flush and never clear: such an instruction is gone all the same', async () => {
    const frames = [
      frame(0, set(0, 1, 0, 1)),
      frame(ps(2), event(3, ...u32(1), 0)),
      frame(ps(9), set(0, 2, 0, 2)),
    ];
    const found = await collect(await open(build(frames, [])), { from: 5, unit: 'cycles' });
    expect(found.map(({ id }) => id)).toEqual([2]);
  });

  it('may never let an instruction end: its memory stays bounded', async () => {
    const events = Array.from({ length: MAX_ENTRIES + 5 }, () => event(0, ...u32(1), 0));
    const [only] = await collect(await one([set(0, 1, 0, 1), ...events]));
    expect(only).toMatchObject({ isAbridged: true, end: 'in_flight' });
    expect(only!.stages).toHaveLength(MAX_ENTRIES);
  });

  it('may be paused: what was in flight is lost there, not retired, and its slot is free', async () => {
    const schema = withControlEvent(modelSchema());
    const control = (action: number) => event(controlEventOf(schema), action, 1, ...u32(0), ...u32(0));
    const frames = [
      frame(0, set(0, 1, 0, 1), set(0, 2, 0, 2)),
      frame(ps(1), clear(0, 2)),
      frame(ps(2), control(0)),
      frame(ps(9), control(1), set(0, 1, 0, 1)),
    ];
    const found = await collect(await open(build(frames, [''], { schema })));
    expect(found.map(({ id, end, endPs, isAbridged }) => [id, end, endPs, isAbridged])).toEqual([
      [1, 'lost', ps(2), true],
      [2, 'retired', ps(1), false],
      [1, 'in_flight', null, false],
    ]);
  });

  it('may have its scope disabled: what was in flight is lost there, whichever takes the slot next', async () => {
    const builder = new TraceBuilder({ schema: modelSchema() })
      .segment({
        frames: [frame(0, set(0, 1, 0, 1), set(0, 2, 0, 2)), frame(ps(1), clear(0, 2))],
        end: ps(2),
      })
      .segment({ frames: [frame(ps(2)), frame(ps(5))], emptied: [0], end: ps(9) })
      .segment({ frames: [frame(ps(9), set(0, 1, 0, 1), set(0, 2, 0, 2)), frame(ps(10), clear(0, 1))] });
    const trace = await open(builder.finalize().bytes);
    const found = await collect(trace);
    expect(found.map(({ id, seq, end, endPs, isAbridged }) => [id, seq, end, endPs, isAbridged])).toEqual([
      [1, 0n, 'lost', ps(2), true],
      [2, 1n, 'retired', ps(1), false],
      [1, 2n, 'retired', ps(10), false],
      [2, 3n, 'in_flight', null, false],
    ]);
    expect(await birthOf(trace, findCore(trace), 2n)).toBe(ps(9));
    const late = await collect(trace, { from: 9, unit: 'cycles' }, { lookback: 0, numbering: 'always' });
    expect(late.map(({ id, seq }) => [id, seq])).toEqual([
      [1, 2n],
      [2, 3n],
    ]);
  });

  it('may have a clock without period: times are known, cycles are not', async () => {
    const schema = modelSchema();
    const timeless: Schema = { ...schema, clocks: [{ ...schema.clocks[0]!, periodPs: 0 }] };
    const trace = await one([set(0, 1, 0, 1)], timeless);
    expect(await collect(trace)).toHaveLength(1);
    const noCycles = { code: 'READER_NO_CYCLES' };
    await expect(collect(trace, { from: 1, unit: 'cycles' })).rejects.toMatchObject(noCycles);
    expect(() => cycleOf(findCore(trace), 5n)).toThrow(expect.objectContaining(noCycles));
  });

  it('may hold nothing', async () => {
    expect(await collect(await open(build([], [])))).toEqual([]);
    const empty = new TraceBuilder({ schema: modelSchema() }).finalize().bytes;
    expect(await collect(await open(empty), { from: 5, to: 9 })).toEqual([]);
  });

  it('is refused a range that ends before it begins', async () => {
    const trace = await one([set(0, 1, 0, 1)]);
    await expect(collect(trace, { from: 5, to: 4 })).rejects.toMatchObject({ code: 'READER_RANGE' });
  });
});

describe('cores', () => {
  it('are distinguished although their names repeat', async () => {
    const schema = modelSchema({ cores: 2 });
    const bytes = build(
      [
        frame(0, set(0, 1, 0, 1), set(2, 1, 0, 1), event(5, ...u32(1), 2)),
        frame(ps(1), event(0, ...u32(1), 1)),
      ],
      [],
      { schema },
    );
    const trace = await open(bytes);
    expect(findCores(trace).map((core) => core.name)).toEqual(['core0', 'core1']);
    const stagesOf = async (name: string): Promise<string[]> => {
      const names: string[] = [];
      for await (const one of instructions(trace, findCore(trace, name))) {
        names.push(...one.stages.map((stage) => stage.name));
      }
      return names;
    };
    expect(await stagesOf('core0')).toEqual(['decode']);
    expect(await stagesOf('core1')).toEqual(['execute']);
    expect(() => findCore(trace, 'core7')).toThrow(/READER_NAME.*core0, core1/);
  });

  it('have what is in scopes below them, unless it has its own protocol', async () => {
    const schema = modelSchema();
    const [entities, counter] = schema.storages;
    const nested: Schema = {
      ...schema,
      scopes: [
        ...schema.scopes,
        { name: 'lsu', scopeId: 2, parentId: 1, protocol: null, clockId: 0xff },
        { name: 'noc', scopeId: 3, parentId: 1, protocol: 'noc', clockId: 0xff },
      ],
      storages: [
        entities!,
        counter!,
        { ...counter!, storageId: 2, scopeId: 2, name: 'loads' },
        { ...counter!, storageId: 3, scopeId: 3, name: 'beats' },
      ],
    };
    const core = findCore(await open(build([], [], { schema: nested })));
    expect(core.counters.map(({ name }) => name)).toEqual(['committed_insns', 'loads']);
    expect(core).toMatchObject({ xlen: 32, periodPs: 500n, stages: STAGES });
  });

  it.each([
    // The list leaves `none` out: it is the end of stages, wherever its label is.
    ['a,b', ['a', 'b', 'none'], ['a', 'b'], [0, 1, NO_STAGE]],
    ['a,b', ['none', 'a', 'b'], ['a', 'b'], [NO_STAGE, 0, 1]],
    ['a', ['a', 'b', 'none'], ['a', 'b'], [0, 1, NO_STAGE]],
    // It is a stage in the list, by position, and where there is no list.
    ['a,none', ['a', 'none', 'b'], ['a', 'none', 'b'], [0, 1, 2]],
    ['x,y', ['a', 'none'], ['x', 'y'], [0, 1]],
    ['', ['a', 'none'], ['a', 'none'], [0, 1]],
  ])('listed as %j, labels %j are the stages %j', async (listed, labels, stages, values) => {
    const schema = modelSchema();
    const enums = schema.enums.map((one) =>
      one.name === 'pipeline_stage'
        ? { ...one, values: labels.map((name, value) => ({ name, value })) }
        : one,
    );
    const dut: [string, string][] = listed === '' ? [] : [['cpu.pipeline_stages', listed]];
    const bytes = new TraceBuilder({ schema: { ...schema, enums }, dut }).finalize({}).bytes;
    const core = findCore(await open(bytes));
    expect([core.stages, labels.map((_, value) => core.stageOf(value))]).toEqual([stages, values]);
    expect(core.stageOf(99)).toBe(-1);
  });

  it('are missed with a code where there is none, or where it records no instructions', async () => {
    const schema = modelSchema();
    const none: Schema = { ...schema, scopes: schema.scopes.map((scope) => ({ ...scope, protocol: null })) };
    const trace = await open(build([], [], { schema: none }));
    expect(() => findCore(trace)).toThrow(/READER_NAME.*no core/);
    const bare: Schema = { ...schema, storages: [] };
    await expect(collect(await open(build([], [], { schema: bare })))).rejects.toMatchObject({
      code: 'READER_NAME',
    });
  });
});

function lcg(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}
