import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DecodedFile, decodeFile } from '../../../test/support/decode-file.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { cpuSchema } from '../../../test/support/schemas.js';
import { zstdForTests } from '../../../test/support/zstd.js';
import { Action, Flag, type Item, SessionStatus } from '../format/index.js';
import { parseSchema } from '../schema/index.js';
import { StorageState } from '../state/storage-state.js';
import { TraceWriter } from './trace-writer.js';

// Properties: hundreds of traces are written and read.
limitOfFile(MANY_CASES_MS);

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-writer-'));
  path = join(directory, 'core0.uscope');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const schema = cpuSchema();
const options = (more: object = {}) => ({
  path,
  schema,
  checkpointIntervalPs: 10_000,
  maxDelayMs: 0,
  ...more,
});
const items = (file: DecodedFile): Item[] => file.segments.flatMap((s) => s.frames.flatMap((f) => f.items));
const times = (file: DecodedFile): bigint[] => file.segments.flatMap((s) => s.frames.map((f) => f.timePs));

/** Replays all segments; fails unless every checkpoint is the state before its segment. Returns the final state. */
function replay(file: DecodedFile): StorageState {
  const state = new StorageState(file.preamble.schema);
  for (const segment of file.segments) {
    expect(Buffer.from(segment.checkpoint)).toEqual(Buffer.from(state.encodeCheckpoint()));
    for (const frame of segment.frames) {
      for (const item of frame.items) {
        if (item.kind !== 'op') continue;
        const lo = Number(item.value & 0xffff_ffffn);
        state.apply(item.action, item.storageId, item.slot, item.field, lo, Number(item.value >> 32n));
      }
    }
  }
  return state;
}

describe('a small trace', () => {
  it('holds the items in call order, ops and events mixed', async () => {
    const writer = await TraceWriter.create(options());
    writer.beginCycle(1000);
    writer.slotSet('core0/entities', 3, 'pc', 0x8000_0000_0000_0000n);
    writer.event('core0/stage_transition', { entity_id: 3, stage: 'decode' });
    writer.slotAdd('core0/committed_insns', 0, 'count', 2);
    writer.propSet('core0/rob', 'retire_ptr', 7);
    writer.slotClear('core0/entities', 3);
    writer.endCycle();
    const stats = await writer.close();
    const file = decodeFile(path);
    expect(items(file)).toEqual([
      { kind: 'op', action: Action.SET, storageId: 0, slot: 3, field: 1, value: 0x8000_0000_0000_0000n },
      { kind: 'event', eventTypeId: 0, payload: Uint8Array.of(3, 0, 0, 0, 1) },
      { kind: 'op', action: Action.ADD, storageId: 1, slot: 0, field: 0, value: 2n },
      { kind: 'op', action: Action.PROP_SET, storageId: 2, slot: 0, field: 0, value: 7n },
      { kind: 'op', action: Action.CLEAR, storageId: 0, slot: 3, field: 0, value: 0n },
    ]);
    expect(stats).toMatchObject({
      frames: 1n,
      items: 5n,
      segments: 1,
      totalTimePs: 1000n,
      status: SessionStatus.CLOSED,
    });
    expect(stats.bytes).toBe(BigInt(file.bytes.length));
  });

  it('is finalized: flags, times, session, section table, 8-aligned parts', async () => {
    const writer = await TraceWriter.create(options({ dut: [['dut_name', 'x']] }));
    for (let t = 0; t < 50; t++) {
      writer.beginCycle(t * 1000);
      writer.slotAdd('core0/committed_insns', 0, 'count', 1);
      writer.endCycle();
    }
    await writer.close();
    const file = decodeFile(path);
    expect(file.header.flags).toBe(Flag.COMPLETE | Flag.COMPRESSED | Flag.INTERLEAVED);
    expect(file.header.totalTimePs).toBe(49_000n);
    expect(file.header.numSegments).toBe(5);
    expect(file.preamble.session).toMatchObject({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
    expect(file.preamble.dut).toEqual([['dut_name', 'x']]);
    expect(file.segments.map((s) => [s.header.timeStartPs, s.header.timeEndPs])).toEqual([
      [0n, 10_000n],
      [10_000n, 20_000n],
      [20_000n, 30_000n],
      [30_000n, 40_000n],
      [40_000n, 49_001n],
    ]);
    expect(file.segmentTable?.map((s) => Number(s.offset))).toEqual(file.segments.map((s) => s.offset));
    for (const segment of file.segments) expect(segment.offset % 8).toBe(0);
    expect(file.segments.map((s) => s.record.nextFrame)).toEqual([10n, 20n, 30n, 40n, 50n]);
    expect(replay(file).value(1, 0, 0)).toBe(50n);
  });

  it('without any frame has no segments and no segment table', async () => {
    const writer = await TraceWriter.create(options());
    expect(writer.string('never used')).toBe(0);
    await writer.close();
    const file = decodeFile(path);
    expect(file.header.tailOffset).toBe(0n);
    expect(file.segmentTable).toBeNull();
    expect(file.strings).toEqual(['never used']);
    expect(file.summary).not.toBeNull();
  });

  it('may be closed twice', async () => {
    const writer = await TraceWriter.create(options());
    expect(await writer.close()).toEqual(await writer.close());
  });
});

describe('strings', () => {
  it('are interned, numbered from 0, kept in commit records until the table is written', async () => {
    const writer = await TraceWriter.create(options());
    const texts = ['addi', 'größer', 'addi', ''];
    expect(texts.map((text) => writer.string(text))).toEqual([0, 1, 0, 2]);
    for (let t = 0; t < 30; t++) {
      writer.beginCycle(t * 1000);
      writer.event('core0/annotate', { entity_id: t, text: `insn ${t % 25}` });
      writer.endCycle();
    }
    await writer.close();
    const file = decodeFile(path);
    const expected = ['addi', 'größer', '', ...Array.from({ length: 25 }, (_, i) => `insn ${i}`)];
    expect(file.strings).toEqual(expected);
    const inRecords = file.segments.flatMap((s) => s.record.strings.map((b) => Buffer.from(b).toString()));
    expect(inRecords).toEqual(expected);
    expect(file.segments.at(-1)?.record.nextString).toBe(28n);
  });
});

describe('compression', () => {
  for (const compression of ['none', 'lz4', 'zstd'] as const) {
    it.skipIf(compression === 'zstd' && lacks('zstd-napi or Node 22.15', zstdForTests))(
      `${compression} gives the same items`,
      async () => {
        const writer = await TraceWriter.create(options({ compression }));
        for (let t = 0; t < 3000; t++) {
          writer.beginCycle(t * 500);
          writer.slotSet('core0/entities', t % 16, 'entity_id', t % 16);
          writer.endCycle();
        }
        await writer.close();
        const file = decodeFile(path, zstdForTests?.decompress);
        expect(items(file)).toHaveLength(3000);
        expect(times(file)).toEqual(Array.from({ length: 3000 }, (_, t) => BigInt(t * 500)));
        replay(file);
      },
    );
  }
});

describe('cuts', () => {
  it('split a cycle of more than 65,535 items into frames of equal time', async () => {
    const writer = await TraceWriter.create(options());
    writer.beginCycle(5);
    for (let i = 0; i < 70_000; i++) writer.slotAdd('core0/committed_insns', 0, 'count', 1);
    writer.endCycle();
    const stats = await writer.close();
    const file = decodeFile(path);
    expect(stats.frames).toBe(2n);
    expect(file.segments[0].frames.map((f) => [f.timePs, f.items.length])).toEqual([
      [5n, 65_535],
      [5n, 4465],
    ]);
    expect(replay(file).value(1, 0, 0)).toBe(70_000n);
  });

  it('happen softly only where time advances, hard also within one instant', async () => {
    const limits = { softCutBytes: 2000, hardCutBytes: 8000, checkpointIntervalPs: 10n ** 12n };
    const writer = await TraceWriter.create(options(limits));
    const cycle = (t: number) => {
      writer.beginCycle(t);
      for (let i = 0; i < 10; i++) writer.slotSet('core0/entities', i, 'pc', BigInt(i) << 40n);
      writer.endCycle();
    };
    for (let i = 0; i < 100; i++) cycle(7);
    cycle(8);
    await writer.close();
    const file = decodeFile(path);
    const bounds = file.segments.map((s) => [s.header.timeStartPs, s.header.timeEndPs]);
    expect(bounds.slice(0, 2)).toEqual([
      [0n, 8n],
      [7n, 8n],
    ]);
    expect(bounds.at(-1)).toEqual([8n, 9n]);
    expect(file.segments[0].header.deltasRawSize).toBeGreaterThanOrEqual(8000);
    expect(times(file)).toEqual([...Array.from({ length: 100 }, () => 7n), 8n]);
    replay(file);
  });

  it('commit waiting frames after the maximum delay although nothing follows', async () => {
    const durable: bigint[] = [];
    const writer = await TraceWriter.create(
      options({ maxDelayMs: 40, onDurable: (frames: bigint) => durable.push(frames) }),
    );
    writer.beginCycle(3);
    writer.slotAdd('core0/committed_insns', 0, 'count', 1);
    writer.endCycle();
    // endCycle keeps small batches back; flush is what pushes them
    await writer.flush();
    expect(durable).toEqual([1n]);
    writer.beginCycle(3);
    writer.endCycle();
    writer.beginCycle(9);
    writer.endCycle();
    await writer.close();
    const file = decodeFile(path);
    expect(file.segments.map((s) => [s.header.timeStartPs, s.header.timeEndPs])).toEqual([
      [0n, 4n],
      [3n, 10n],
    ]);
    expect(times(file)).toEqual([3n, 3n, 9n]);
    replay(file);
  });
});

describe('checkpoint callback', () => {
  it('is asked at each grid crossing and its snapshot replaces the state', async () => {
    const writer = await TraceWriter.create(options());
    const asked: bigint[] = [];
    writer.onCheckpoint((snapshot) => {
      asked.push(snapshot.timePs);
      snapshot.storage('core0/committed_insns', Uint8Array.of(asked.length, 0, 0, 0, 0, 0, 0, 1));
    });
    for (let t = 0; t < 30; t += 3) {
      writer.beginCycle(t * 1000);
      writer.slotAdd('core0/committed_insns', 0, 'count', 1);
      writer.endCycle();
    }
    await writer.close();
    const file = decodeFile(path);
    expect(asked).toEqual([12_000n, 21_000n]);
    const counts = file.segments.map((s) => {
      const state = new StorageState(schema);
      state.loadCheckpoint(s.checkpoint);
      return state.value(1, 0, 0);
    });
    expect(counts).toEqual([0n, (1n << 56n) + 1n, (1n << 56n) + 2n]);
  });
});

describe('misuse', () => {
  const cases: [string, string, (w: TraceWriter) => void][] = [
    [
      'an unknown storage',
      'OP_STORAGE: no storage "core0/nix"; there are: core0/entities, core0/committed_insns, core0/rob',
      (w) => w.slotSet('core0/nix', 0, 0, 0),
    ],
    [
      'an unknown field',
      'OP_FIELD: no field of core0/entities "nix"; there are: entity_id, pc, inst_bits',
      (w) => w.slotSet('core0/entities', 0, 'nix', 0),
    ],
    [
      'a slot out of range',
      'OP_SLOT: slot 16 of core0/entities is not below 16',
      (w) => w.slotClear('core0/entities', 16),
    ],
    [
      'a value too large',
      'OP_VALUE: core0/entities.entity_id: 4294967296 does not fit u32 (0..4294967295)',
      (w) => w.slotSet('core0/entities', 0, 0, 2 ** 32),
    ],
    [
      'an inexact number',
      'OP_VALUE: core0/entities.pc: 9007199254740992 is not an exact integer; use a bigint',
      (w) => w.slotSet('core0/entities', 0, 'pc', 2 ** 53),
    ],
    [
      'an unknown enum label',
      'OP_VALUE: core0/stage_transition.stage: "nix" is not a value of enum pipeline_stage {fetch, decode, execute}',
      (w) => w.event('core0/stage_transition', { entity_id: 0, stage: 'nix' }),
    ],
    [
      'a missing event field',
      'OP_PAYLOAD: event core0/stage_transition has 2 fields, 1 were given',
      (w) => w.event('core0/stage_transition', { entity_id: 0 }),
    ],
    [
      'an undefined string index',
      'OP_STRING: core0/annotate.text: string 5 was never defined; there are 0',
      (w) => w.event('core0/annotate', [0, 5]),
    ],
    ['a nested cycle', 'OP_NESTED_CYCLE: beginCycle(11) inside the cycle at 10 ps', (w) => w.beginCycle(11)],
  ];
  for (const [what, message, act] of cases) {
    it(`${what} is refused and leaves the trace intact`, async () => {
      const writer = await TraceWriter.create(options());
      writer.beginCycle(10);
      writer.slotAdd('core0/committed_insns', 0, 'count', 1);
      expect(() => act(writer)).toThrow(message);
      writer.endCycle();
      await writer.close();
      expect(items(decodeFile(path))).toHaveLength(1);
    });
  }

  it('time running backwards is refused', async () => {
    const writer = await TraceWriter.create(options());
    writer.beginCycle(10);
    writer.endCycle();
    expect(() => writer.beginCycle(9)).toThrow(
      'OP_TIME: beginCycle(9) is earlier than the cycle before, 10 ps',
    );
    await writer.close();
  });

  it('an op outside a cycle is refused', async () => {
    const writer = await TraceWriter.create(options());
    expect(() => writer.slotSet('core0/entities', 0, 0, 0)).toThrow(
      'OP_OUTSIDE_CYCLE: core0/entities: call beginCycle first',
    );
    await writer.close();
  });

  it('a directory that does not exist is named', async () => {
    const missing = join(directory, 'no', 'x.uscope');
    await expect(TraceWriter.create(options({ path: missing }))).rejects.toMatchObject({
      code: 'WRITER_DIRECTORY',
      place: { file: missing },
    });
  });
});

describe('what is at the path', () => {
  it('is replaced when it is a finalized trace', async () => {
    for (let run = 0; run < 2; run++) await (await TraceWriter.create(options())).close();
    expect(readdirSync(directory)).toEqual(['core0.uscope']);
  });

  it('is set aside when it is an unfinalized trace', async () => {
    const sessionId = Uint8Array.from({ length: 16 }, (_, i) => 0xa0 + i);
    const first = await TraceWriter.create(options({ sessionId }));
    first.beginCycle(1);
    first.endCycle();
    await first.flush();
    const second = await TraceWriter.create(options());
    await second.close();
    expect(readdirSync(directory).sort()).toEqual(['core0.a0a1a2a3.unfinished.uscope', 'core0.uscope']);
    const aside = decodeFile(join(directory, 'core0.a0a1a2a3.unfinished.uscope'));
    expect(times(aside)).toEqual([1n]);
    await first.close();
  });

  it('is left alone when it is something else', async () => {
    writeFileSync(path, 'my thesis, the only copy, longer than any header of forty-eight bytes');
    await expect(TraceWriter.create(options())).rejects.toMatchObject({ code: 'WRITER_EXISTS' });
  });
});

describe('random traces', () => {
  const value = fc.oneof(fc.bigInt(0n, 0xffffn), fc.bigInt(0n, 0xffff_ffff_ffff_ffffn));
  const op = fc.oneof(
    fc.record({ op: fc.constant('set' as const), slot: fc.nat(15), value }),
    fc.record({ op: fc.constant('add' as const), slot: fc.nat(15), value }),
    fc.record({ op: fc.constant('clear' as const), slot: fc.nat(15), value }),
    fc.record({ op: fc.constant('prop' as const), slot: fc.nat(15), value }),
    fc.record({ op: fc.constant('event' as const), slot: fc.nat(15), value }),
  );
  const cycle = fc.record({ delta: fc.nat(6000), ops: fc.array(op, { maxLength: 12 }) });

  it('come back item by item, with a true checkpoint before every segment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cycle, { maxLength: 60 }), async (cycles) => {
        const writer = await TraceWriter.create(options({ compression: 'none' }));
        const expected: [bigint, number, bigint][] = [];
        let now = 0n;
        for (const { delta, ops } of cycles) {
          now += BigInt(delta);
          writer.beginCycle(now);
          for (const { op: kind, slot, value: v } of ops) {
            if (kind === 'set') writer.slotSet(0, slot, 1, v);
            else if (kind === 'add') writer.slotAdd(0, slot, 2, v);
            else if (kind === 'clear') writer.slotClear(0, slot);
            else if (kind === 'prop') writer.propSet(2, 0, v & 0xffffn);
            else writer.event(0, [v & 0xffff_ffffn, 1]);
            expected.push([now, slot, v]);
          }
          writer.endCycle();
        }
        const stats = await writer.close();
        const file = decodeFile(path);
        expect(stats.items).toBe(BigInt(expected.length));
        expect(file.segments.flatMap((s) => s.frames).map((f) => f.items.length)).toEqual(
          cycles.map((c) => c.ops.length),
        );
        expect(file.segments.flatMap((s) => s.frames.flatMap((f) => f.items.map(() => f.timePs)))).toEqual(
          expected.map((e) => e[0]),
        );
        replay(file);
      }),
      { numRuns: 60 },
    );
  });
});

describe('numbers', () => {
  const names = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'bool', 'label', 'text'] as const;
  const fields = `{${names.map((name) => `${name}: ${{ label: 'level', text: 'string' }[name as string] ?? name}`).join(', ')}}`;
  const { schema: typed } = parseSchema(
    `uscope: 1\nclocks: {clk: 1 ns}\nenums: {level: [low, high]}\nstorages:\n  s: {slots: 4, kind: buffer, fields: ${fields}, properties: ${fields}}\nevents: {e: ${fields}}\n`,
  );
  const bounds = [
    0,
    1,
    -1,
    ...[8, 16, 32, 53].flatMap((bits) => [
      2 ** bits - 1,
      2 ** bits,
      -(2 ** (bits - 1)),
      -(2 ** (bits - 1)) - 1,
    ]),
  ];
  const number = fc
    .oneof(fc.constantFrom(...bounds), fc.maxSafeInteger(), fc.nat(300))
    .map((n) => (Number.isSafeInteger(n) ? n : 7));
  const call = fc.record({
    kind: fc.constantFrom('set', 'add', 'prop', 'event', 'named'),
    field: fc.nat(names.length - 1),
    number,
  });
  /** The code of the refusal; '' when there was none. */
  const refusal = (act: () => void): string => {
    try {
      act();
      return '';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  async function write(
    name: string,
    calls: readonly { kind: string; field: number; number: number }[],
    as: (n: number) => number | bigint,
  ) {
    const writer = await TraceWriter.create(
      options({ path: join(directory, name), schema: typed, compression: 'none' }),
    );
    writer.string('one');
    const refusals = calls.map(({ kind, field, number: n }, i) => {
      writer.beginCycle(as(i * 1000));
      const values = names.map((_, at) => (at === field ? as(n) : as(0)));
      const refused = refusal(() => {
        if (kind === 'set') writer.slotSet(0, i % 4, field, as(n));
        else if (kind === 'add') writer.slotAdd(0, i % 4, field, as(n));
        else if (kind === 'prop') writer.propSet(0, field, as(n));
        else if (kind === 'event') writer.event(0, values);
        else writer.event(0, Object.fromEntries(names.map((key, at) => [key, values[at]])));
      });
      writer.endCycle();
      return refused;
    });
    await writer.close();
    const file = decodeFile(join(directory, name));
    return { refusals, items: items(file), times: times(file) };
  }

  it('are taken and refused as BigInts of the same value are', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 60 }), async (calls) => {
        const numbers = await write('numbers', calls, (n) => n);
        expect(numbers).toEqual(await write('bigints', calls, BigInt));
        refused += numbers.refusals.filter((code) => code !== '').length;
      }),
      { numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('that are not whole are refused', async () => {
    const writer = await TraceWriter.create(options({ schema: typed }));
    writer.beginCycle(0);
    for (const n of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      for (const act of [
        () => writer.slotSet(0, 0, 'u64', n),
        () => writer.slotAdd(0, 0, 'u64', n),
        () => writer.propSet(0, 'u64', n),
        () => writer.event(0, [n, 0, 0, 0, 0, 0, 0, 0, 0, 0, writer.string('')]),
      ])
        expect(refusal(act)).toBe('OP_VALUE');
    writer.endCycle();
    for (const n of [0.5, Number.NaN, -1])
      expect(refusal(() => writer.beginCycle(n))).toMatch(/^OP_(VALUE|TIME)$/);
    expect((await writer.close()).items).toBe(0n);
  });

  it('booleans and texts in events represent 0, 1 and their index', async () => {
    const writer = await TraceWriter.create(options({ schema: typed }));
    writer.beginCycle(0);
    writer.event(0, [0, 0, 0, 0, 0, 0, 0, 0, true, 'high', 'a text']);
    writer.event(0, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, writer.string('a text')]);
    writer.slotSet(0, 0, 'bool', true);
    writer.slotSet(0, 0, 'bool', 1);
    writer.endCycle();
    await writer.close();
    const [first, second, third, fourth] = items(decodeFile(path));
    expect(first).toEqual(second);
    expect(third).toEqual(fourth);
  });
});
