import { describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  clear,
  coreSchema,
  frame,
  openSession,
  prop,
  set,
  stage,
  TraceBuilder,
  type TraceSpec,
} from '../../../test/support/build-trace.js';
import { SessionStatus } from '../format/session-chunk.js';
import type { Frame } from '../format/types.js';
import { memorySource, openTrace, type Trace } from './index.js';

const spec: TraceSpec = {
  schema: coreSchema,
  dut: [
    ['dut_name', 'tiny'],
    ['cpu.isa', 'RV32I'],
  ],
  compression: 'lz4',
};

/** Three segments; the cut at 2000 lies inside one instant. */
const parts: Frame[][] = [
  [frame(0, set(0, 3, 0, 3), set(0, 3, 1, 0x8000_0000n), stage(3, 0), annotate(3, 0)), frame(1000)],
  [frame(2000, set(0, 3, 2, -5), prop(1, 0, 2), prop(1, 1, 1)), frame(2000, add(3, 0, 0, 7))],
  [frame(2000, add(3, 0, 0, 1), stage(3, 1)), frame(5000, clear(0, 3), annotate(4, 1))],
];

function build(overrides: Partial<TraceSpec> = {}): TraceBuilder {
  return new TraceBuilder({ ...spec, ...overrides })
    .segment({ frames: parts[0], end: 2000n, strings: ['nop'] })
    .segment({ frames: parts[1], end: 2001n })
    .segment({ frames: parts[2], start: 2000n, strings: ['ret'] });
}

const open = (builder: TraceBuilder): Promise<Trace> => openTrace(memorySource(builder.bytes, 'test.uscope'));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('metadata', () => {
  it('comes from header and preamble', async () => {
    const trace = await open(build().finalize());
    expect(trace.version).toBe('0.3');
    expect(trace.isComplete).toBe(true);
    expect(trace.schema).toEqual(coreSchema);
    expect(trace.dutProperty('cpu.isa')).toBe('RV32I');
    expect(trace.dutProperty('absent')).toBeUndefined();
    expect(trace.config.checkpointIntervalPs).toBe(10_000n);
    expect(trace.totalTimePs).toBe(5000n);
    expect(trace.segmentCount).toBe(3);
    expect(trace.session?.status).toBe(SessionStatus.CLOSED);
    expect(await trace.frameCount()).toBe(6n);
    expect((await trace.segments()).map((segment) => segment.timeStartPs)).toEqual([0n, 2000n, 2000n]);
  });

  it('knows protocol and clock of a scope', async () => {
    const trace = await open(build());
    expect(trace.scopeProtocol(1)).toBe('cpu');
    expect(trace.scopeProtocol(0)).toBeNull();
    expect(() => trace.scopeProtocol(9)).toThrow(/READER_NAME/);
    expect(trace.clockOf(1)?.name).toBe('core_clk');
  });

  it('of an empty trace is there too', async () => {
    const trace = await open(new TraceBuilder(spec).finalize());
    expect([trace.segmentCount, trace.totalTimePs, await trace.frameCount()]).toEqual([0, 0n, 0n]);
    expect(await collect(trace.events())).toEqual([]);
    expect((await trace.stateAt(0)).occupancy('entities')).toBe(0);
  });
});

describe('state', () => {
  it('holds all frames at or before the time, across a cut inside one instant', async () => {
    const trace = await open(build().finalize());
    const retired = async (time: number): Promise<bigint> =>
      (await trace.stateAt(time)).slotField('retired', 0, 'count');
    expect(await retired(1999)).toBe(0n);
    expect(await retired(2000)).toBe(8n);
    expect(await retired(99_999)).toBe(8n);
  });

  it('answers for slots, properties and occupancy by name or id', async () => {
    const trace = await open(build().finalize());
    const state = await trace.stateAt(4999);
    expect(state.slotValid('core0/entities', 3)).toBe(true);
    expect(state.slotValid(0, 2)).toBe(false);
    expect(state.slotField('entities', 3, 'pc')).toBe(0x8000_0000n);
    expect(state.property('rob', 'head')).toBe(2n);
    expect(state.occupancy('entities')).toBe(1);
    expect((await trace.stateAt(5000)).occupancy('entities')).toBe(0);
    expect(() => state.slotField('entities', 3, 'pcc')).toThrow(/READER_NAME.*entity_id, pc, delta/);
    expect(() => state.slotField('entities', 12, 'pc')).toThrow(/OP_SLOT/);
  });

  it('gives signed fields as stored and, through a view, as signed numbers', async () => {
    const state = await (await open(build())).stateAt(2000);
    expect(state.slotField('entities', 3, 'delta')).toBe(0xfffbn);
    expect(state.storage('entities').field(3, 'delta')).toBe(-5n);
    expect([...state.storage('entities').slots()]).toEqual([3]);
  });

  it('before the first segment is out of range', async () => {
    const trace = await open(new TraceBuilder(spec).segment({ frames: [frame(9000)], start: 8000n }));
    await expect(trace.stateAt(7999)).rejects.toThrow(/READER_RANGE.*8000/);
    await expect(trace.stateAt(-1)).rejects.toThrow(/READER_RANGE/);
  });
});

describe('events and frames', () => {
  it('of a range: start inclusive, end exclusive', async () => {
    const trace = await open(build().finalize());
    const times = async (from?: number, to?: number): Promise<bigint[]> =>
      (await collect(trace.events(from, to))).map((event) => event.timePs);
    expect(await times()).toEqual([0n, 0n, 2000n, 5000n]);
    expect(await times(0, 2000)).toEqual([0n, 0n]);
    expect(await times(2000, 5000)).toEqual([2000n]);
    expect(await times(2001)).toEqual([5000n]);
    expect(await times(5001)).toEqual([]);
  });

  it('have names, fields and texts', async () => {
    const trace = await open(build().finalize());
    const [first, note] = await collect(trace.events(0, 1));
    expect(first.name).toBe('core0/stage_transition');
    expect(first.fields()).toEqual({ entity_id: 3n, stage: 0n });
    expect(first.label('stage')).toBe('fetch');
    expect(first.label('entity_id')).toBeUndefined();
    expect(await trace.strings.get(note.field('text')!)).toBe('nop');
    expect(note.field('absent')).toBeUndefined();
  });

  it('can be asked for by type', async () => {
    const trace = await open(build().finalize());
    expect(await collect(trace.events(undefined, undefined, ['annotate']))).toHaveLength(2);
    await expect(collect(trace.events(0, 1, ['anotate']))).rejects.toThrow(/READER_NAME.*core0\/annotate/);
  });

  it('frames come whole, in file order, with empty ones', async () => {
    const trace = await open(build().finalize());
    expect(await collect(trace.frames())).toEqual(parts.flat());
    expect(await collect(trace.frames(2000, 2001))).toEqual([parts[1][0], parts[1][1], parts[2][0]]);
  });

  it('items come one by one', async () => {
    const trace = await open(build().finalize());
    const expected = parts.flat().flatMap(({ timePs, items }) => items.map((item) => ({ timePs, item })));
    expect(await collect(trace.items())).toEqual(expected);
  });

  it('a scan stops when the visitor says so', async () => {
    const trace = await open(build().finalize());
    let ops = 0;
    await trace.scan({}, { op: () => ++ops < 3 });
    expect(ops).toBe(3);
  });

  it('are the same whatever the frames and the compression', async () => {
    const events = async (builder: TraceBuilder) =>
      (await collect((await open(builder.finalize())).events())).map((event) => [
        event.timePs,
        event.fields(),
      ]);
    const expected = await events(build());
    expect(await events(build({ compression: 'none' }))).toEqual(expected);
    expect(await events(build({ interleaved: false }))).toEqual(expected);
  });
});

describe('segments', () => {
  it('can be asked for one by one', async () => {
    for (const builder of [build(), build().finalize()]) {
      const trace = await open(builder);
      expect(await trace.segment(1)).toEqual({
        offset: builder.offsets[1],
        timeStartPs: 2000n,
        timeEndPs: 2001n,
      });
      expect([await trace.segmentAt(1999), await trace.segmentAt(2000)]).toEqual([0, 2]);
      expect([await trace.firstSegmentReaching(2000), await trace.firstSegmentReaching(2001)]).toEqual([
        0, 2,
      ]);
      expect((await trace.loadSegment(2)).header.numFrames).toBe(2);
      expect((await collect(trace.loadedSegmentsFrom(1))).map(({ index }) => index)).toEqual([1, 2]);
      expect((await collect(trace.loadedSegmentsFrom(0, 2000))).map(({ index }) => index)).toEqual([0]);
      expect((await trace.stateBefore(2)).slotField('retired', 0, 0)).toBe(7n);
      for (const index of [-1, 3, 0.5]) {
        await expect(trace.segment(index)).rejects.toThrow(/READER_RANGE.*3/);
        await expect(trace.loadSegment(index)).rejects.toThrow(/READER_RANGE/);
        await expect(trace.stateBefore(index)).rejects.toThrow(/READER_RANGE/);
      }
    }
  });
});

describe('clocks', () => {
  const clocks = [
    { name: 'core_clk', clockId: 0, periodPs: 1000 },
    { name: 'bus_clk', clockId: 1, periodPs: 2500 },
    { name: 'unknown', clockId: 2, periodPs: 0 },
  ];

  it('give the state at a cycle of a named one', async () => {
    const trace = await open(build({ schema: { ...coreSchema, clocks } }).finalize());
    const count = async (cycle: number, clock?: string | number) =>
      (await trace.stateAtCycle(cycle, clock)).slotField('retired', 0, 'count');
    expect([await count(1), await count(2), await count(1n as never)]).toEqual([0n, 8n, 0n]);
    expect([await count(0, 'bus_clk'), await count(1, 'bus_clk'), await count(1, 1)]).toEqual([0n, 8n, 8n]);
    expect([trace.timeOfCycle(3, 'bus_clk'), trace.cycleAt(7499, 'bus_clk')]).toEqual([7500n, 2n]);
    expect(trace.clock()).toEqual(clocks[0]);
    await expect(count(1, 'unknown')).rejects.toThrow(/READER_NO_CYCLES.*"unknown"/);
    await expect(count(1, 'bus')).rejects.toThrow(/READER_NAME.*core_clk, bus_clk, unknown/);
  });
});

describe('strings', () => {
  it('come from the table of a finalized trace and from commit records before', async () => {
    for (const builder of [build(), build().finalize()]) {
      const { strings } = await open(builder);
      expect(await strings.count()).toBe(2);
      expect(await Promise.all([0, 1, 2].map((index) => strings.get(index)))).toEqual(['nop', 'ret', null]);
    }
  });

  it('are absent in an unfinalized trace of another writer', async () => {
    const { strings } = await open(build({ session: null }));
    expect([await strings.count(), await strings.get(0)]).toEqual([0, null]);
  });

  it('are all loaded together where their table is small, and only there', async () => {
    const { strings } = await open(build().finalize());
    expect(await strings.loadAll(8)).toBe(false);
    expect(strings.peek(1)).toBeUndefined();
    expect(await strings.loadAll(1000)).toBe(true);
    expect([0, 1, 2].map((index) => strings.peek(index))).toEqual(['nop', 'ret', undefined]);
    expect(await (await open(build())).strings.loadAll(1000)).toBe(false);
    expect(await (await open(build({ session: null }))).strings.loadAll(1000)).toBe(false);
  });

  it('are found among thousands, in many segments', async () => {
    const builder = new TraceBuilder(spec);
    for (let i = 0; i < 40; i++) {
      const texts = Array.from({ length: i % 7 }, (_, k) => `text ${i}.${k}`);
      builder.segment({ frames: [frame(1000 * i)], strings: texts });
    }
    const all = Array.from({ length: 40 }, (_, i) =>
      Array.from({ length: i % 7 }, (_, k) => `text ${i}.${k}`),
    ).flat();
    for (const live of [true, false]) {
      const { strings } = await open(live ? builder : builder.finalize());
      const found = await Promise.all(all.map((_, index) => strings.get(index)));
      expect(found).toEqual(all);
    }
  });
});

describe('summary', () => {
  const summary = {
    baseIntervalCycles: 1024,
    fanOut: 4,
    totalInstructions: 6n,
    density: [Uint32Array.of(1, 2, 3), Uint32Array.of(6)],
    counters: [
      {
        name: 'retired',
        storageId: 3,
        levels: [{ min: BigUint64Array.of(1n), max: BigUint64Array.of(2n), sum: BigUint64Array.of(3n) }],
      },
    ],
  };

  it('is read by level', async () => {
    const trace = await open(build().finalize({ summary }));
    expect(await trace.summary()).toEqual(summary);
    expect(await trace.summaryLevels()).toBe(2);
    const { baseIntervalCycles: intervalCycles, density } = summary;
    expect(await trace.density()).toEqual({ intervalCycles, births: density[0] });
    const level = await trace.summaryData(1);
    expect([level.intervalCycles, [...level.density], level.counters]).toEqual([4096n, [6], []]);
    await expect(trace.summaryData(2)).rejects.toThrow(/READER_RANGE/);
  });

  /** The trace, and how often its summary has been read. */
  async function counted(bytes: Uint8Array, cacheBytes?: number) {
    let reads = 0;
    let isBroken = false;
    const setBroken = (now: boolean): void => {
      isBroken = now;
    };
    const plain = memorySource(bytes);
    const trace = await openTrace(
      {
        size: plain.size,
        read: async (offset, length) => {
          const part = await plain.read(offset, length);
          const isSummary = part.byteLength >= 4 && String.fromCharCode(...part.subarray(0, 4)) === 'TSUM';
          if (isSummary) reads++;
          if (isSummary && isBroken) throw new Error('unplugged');
          return part;
        },
      },
      { cacheBytes },
    );
    return { trace, reads: () => reads, setBroken };
  }

  it('is read once, however often and however many at once ask for it', async () => {
    const { trace, reads } = await counted(build().finalize({ summary }).bytes);
    const [first, second] = await Promise.all([trace.summary(), trace.summary()]);
    expect(second).toBe(first);
    await trace.summaryData(1);
    expect([await trace.summary(), reads()]).toEqual([first, 1]);
  });

  it('is not kept where it is larger than the cache may be', async () => {
    const { trace, reads } = await counted(build().finalize({ summary }).bytes, 16);
    await trace.summary();
    expect([await trace.summary(), reads()]).toEqual([summary, 2]);
  });

  it('is read again after a failure', async () => {
    const { trace, setBroken } = await counted(build().finalize({ summary }).bytes);
    setBroken(true);
    await expect(trace.summary()).rejects.toThrow(/READER_OPEN.*unplugged/);
    setBroken(false);
    expect(await trace.summary()).toEqual(summary);
  });

  it('is there once a live trace has been finalized', async () => {
    let bytes = build().bytes;
    const trace = await openTrace(memorySource(() => bytes));
    expect(await trace.summary()).toBeNull();
    bytes = build().finalize({ summary }).bytes;
    await trace.poll();
    expect(await trace.summary()).toEqual(summary);
  });

  it('is null where there is none', async () => {
    const trace = await open(build());
    expect([await trace.summary(), await trace.summaryLevels()]).toEqual([null, 0]);
    expect(await trace.density()).toBeNull();
  });
});

describe('files of other writers', () => {
  const foreign = { session: null };

  it('with inclusive segment ends answer the same', async () => {
    const builder = new TraceBuilder({ ...spec, ...foreign })
      .segment({ frames: [frame(0, add(3, 0, 0, 1)), frame(1000, add(3, 0, 0, 1), stage(1, 0))], end: 1000n })
      .segment({ frames: [frame(1500, add(3, 0, 0, 1), stage(2, 0))], start: 1000n, end: 1500n })
      .finalize();
    const trace = await open(builder);
    const count = async (time: number): Promise<bigint> =>
      (await trace.stateAt(time)).slotField('retired', 0, 0);
    expect([await count(0), await count(1000), await count(1499), await count(1500)]).toEqual([
      1n,
      2n,
      2n,
      3n,
    ]);
    expect((await collect(trace.events(1000, 1001))).map((event) => event.field('entity_id'))).toEqual([1n]);
  });

  it('with checkpoints stored after their segment are recognized', async () => {
    const build = (checkpointsAfter: boolean) =>
      new TraceBuilder({ ...spec, ...foreign, checkpointsAfter })
        .segment({ frames: [frame(0, add(3, 0, 0, 2)), frame(1000, set(0, 1, 0, 1))] })
        .segment({ frames: [frame(2000, add(3, 0, 0, 3))] })
        .finalize();
    for (const after of [false, true]) {
      const trace = await open(build(after));
      const counts = [];
      for (const time of [0, 1000, 2000, 3000])
        counts.push((await trace.stateAt(time)).slotField('retired', 0, 0));
      expect(counts).toEqual([2n, 2n, 5n, 5n]);
      expect(trace.warnings.map((warning) => warning.kind)).toEqual(
        after ? ['checkpoints-after-segment'] : [],
      );
    }
  });

  it('with checkpoints stored after are recognized by the first segment that changes the state', async () => {
    const back = [frame(0, set(0, 1, 0, 1)), frame(500, clear(0, 1))];
    const build = (checkpointsAfter: boolean) =>
      new TraceBuilder({ ...spec, ...foreign, checkpointsAfter })
        .segment({ frames: back })
        .segment({ frames: [frame(1000)] })
        .segment({ frames: [frame(2000, add(3, 0, 0, 2))] })
        .segment({ frames: [frame(3000, add(3, 0, 0, 3))] });
    for (const after of [false, true]) {
      const trace = await open(build(after));
      const counts = [];
      for (const time of [0, 1500, 2000, 2999, 3000])
        counts.push((await trace.stateAt(time)).slotField('retired', 0, 0));
      expect(counts).toEqual([0n, 0n, 2n, 2n, 5n]);
      expect(await trace.checkpointsAreAfter()).toBe(after);
      expect(trace.warnings).toHaveLength(after ? 1 : 0);
    }
  });

  it('are recognized when a live one has grown far enough, and a file of ours never is taken for one', async () => {
    for (const session of [null, openSession]) {
      const builder = new TraceBuilder({ ...spec, session, checkpointsAfter: true });
      const trace = await openTrace(memorySource(() => builder.bytes));
      builder.segment({ frames: [frame(0, set(0, 1, 0, 1), clear(0, 1))] });
      await trace.poll();
      expect((await trace.stateAt(0)).occupancy('entities')).toBe(0);
      expect(trace.warnings).toEqual([]);
      builder.segment({ frames: [frame(1000, add(3, 0, 0, 2))] });
      await trace.poll();
      // Of our own file the checkpoint is believed: it holds 2 already.
      expect((await trace.stateAt(1000)).slotField('retired', 0, 0)).toBe(session ? 4n : 2n);
      expect(trace.warnings).toHaveLength(session ? 0 : 1);
    }
  });

  it('whose first checkpoint holds a state are read as they are', async () => {
    const whole = build({ ...foreign, compression: 'none' });
    // The first segment cut off: what is left begins with the state the second one starts from.
    const bytes = whole.bytes.slice();
    new DataView(bytes.buffer).setBigUint64(whole.offsets[1]! + 24, 0n, true);
    const trace = await openTrace(memorySource(bytes));
    expect((await trace.segments()).map(({ timeStartPs }) => timeStartPs)).toEqual([2000n, 2000n]);
    expect((await trace.stateAt(5000)).slotField('retired', 0, 0)).toBe(8n);
    expect(trace.warnings).toEqual([]);
  });

  it('that promise strings and have no table get a warning', async () => {
    const builder = build(foreign).finalize();
    const bytes = builder.bytes.slice();
    const table = Number(new DataView(bytes.buffer).getBigUint64(32, true));
    expect(bytes[table]).toBe(2);
    bytes[table] = 0x77;
    const trace = await openTrace(memorySource(bytes));
    expect(await trace.strings.get(0)).toBeNull();
    expect(trace.warnings.map(({ kind }) => kind)).toEqual(['no-string-table']);
    // Those of ours are in the commit records too.
    const own = build().finalize().bytes.slice();
    own[Number(new DataView(own.buffer).getBigUint64(32, true))] = 0x77;
    expect(await (await openTrace(memorySource(own))).strings.get(1)).toBe('ret');
  });

  it('may name slots that do not exist: they change nothing; in a file of ours they are damage', async () => {
    const frames = [frame(0, set(0, 500, 0, 1), set(0, 1, 0, 1))];
    const trace = await open(new TraceBuilder({ ...spec, ...foreign }).segment({ frames }).finalize());
    expect((await trace.stateAt(0)).occupancy('entities')).toBe(1);
    expect(trace.warnings[0]).toMatchObject({ kind: 'slot-out-of-range' });
    const ours = await open(new TraceBuilder(spec).segment({ frames }).finalize());
    await expect(ours.stateAt(0)).rejects.toThrow(/FORMAT_ID.*slot 500 of "entities"/);
  });

  it('may hold events that are not defined: skipped, with one warning', async () => {
    const unknown = { kind: 'event', eventTypeId: 77, payload: new Uint8Array(5) } as const;
    const frames = [frame(0, unknown, stage(1, 0), unknown)];
    const trace = await open(new TraceBuilder({ ...spec, ...foreign }).segment({ frames }).finalize());
    expect(await collect(trace.events())).toHaveLength(1);
    expect(trace.warnings.map((warning) => warning.kind)).toEqual(['unknown-event']);
  });

  it('with dense buffers get their occupancy from SET and CLEAR, also of slots that hold zeros', async () => {
    const builder = new TraceBuilder({ ...spec, ...foreign })
      .segment({ frames: [frame(0, set(2, 0, 0, 0), set(2, 1, 0, 5), set(2, 2, 0, 0))] })
      .segment({ frames: [frame(1000, clear(2, 2))] })
      .segment({ frames: [frame(2000)] })
      .segment({ frames: [frame(3000, set(2, 2, 0, 0), clear(2, 1))] })
      .segment({ frames: [frame(4000)] })
      .finalize();
    const trace = await open(builder);
    const slots = async (time: number) => [...(await trace.stateAt(time)).storage('queue').slots()];
    expect(await slots(4000)).toEqual([0, 2]);
    expect(await slots(0)).toEqual([0, 1, 2]);
    expect(await slots(2500)).toEqual([0, 1]);
    expect((await trace.stateAt(4000)).occupancy('queue')).toBe(2);
  });
});

describe('damage', () => {
  const bad: [string, Frame, RegExp][] = [
    ['storage', frame(0, set(9, 0, 0, 1)), /FORMAT_ID.*storage 9/],
    ['field', frame(0, set(0, 0, 3, 1)), /FORMAT_ID.*field 3 of "entities"/],
    ['property', frame(0, prop(0, 0, 1)), /FORMAT_ID.*property 0 of "entities"/],
    [
      'payload',
      frame(0, { kind: 'event', eventTypeId: 0, payload: new Uint8Array(4) }),
      /FORMAT_LENGTH.*4 bytes/,
    ],
  ];

  it.each(bad)(
    '%s that the schema does not allow is an error with its offset',
    async (_, badFrame, message) => {
      const builder = new TraceBuilder({ ...spec, session: null, compression: 'none' }).segment({
        frames: [badFrame],
      });
      const trace = await open(builder.finalize());
      const error = await trace.scan({}, {}).catch((thrown: Error) => thrown);
      expect(String(error)).toMatch(message);
      expect((error as { place?: { offset: number } }).place?.offset).toBeGreaterThan(builder.offsets[0]);
    },
  );

  it('a frame count that is not true is an error', async () => {
    const builder = new TraceBuilder(spec).segment({ frames: [frame(0)], patch: { numFrames: 2 } });
    await expect((await open(builder)).scan({}, {})).rejects.toThrow(/FORMAT_LENGTH.*1 frames.*says 2/);
  });

  it('time that runs backwards between segments is an error', async () => {
    const builder = new TraceBuilder(spec)
      .segment({ frames: [frame(0), frame(9000)] })
      .segment({ frames: [frame(5000)], start: 4000n });
    await expect((await open(builder)).scan({}, {})).rejects.toThrow(/FORMAT_VALUE.*backwards/);
  });

  it('a segment whose bytes changed fails its checksum, unless asked not to look', async () => {
    const builder = build({ compression: 'none' }).finalize();
    const bytes = builder.bytes.slice();
    bytes[builder.offsets[1] + 60] ^= 0x10;
    const trace = await openTrace(memorySource(bytes));
    await expect(trace.scan({}, {})).rejects.toThrow(/FORMAT_CHECKSUM/);
    expect(await collect(trace.events(0, 1000))).toHaveLength(2);
    await expect(openTrace(memorySource(bytes), { verify: false })).resolves.toBeDefined();
  });

  it('a missing commit record is only a warning', async () => {
    const builder = build();
    const bytes = builder.bytes.slice();
    const record = Buffer.from(bytes).lastIndexOf('uREC');
    bytes[record] = 0;
    const trace = await openTrace(memorySource(bytes));
    expect(await collect(trace.events())).toHaveLength(4);
    expect(trace.warnings.map((warning) => warning.kind)).toEqual(['no-commit-record']);
  });

  it('errors name the source', async () => {
    await expect(openTrace(memorySource(new Uint8Array(60), 'x.uscope'))).rejects.toThrow(
      /^x\.uscope.*FORMAT_MAGIC/,
    );
    expect(openSession.status).toBe(SessionStatus.OPEN);
  });
});
