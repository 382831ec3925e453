import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles, MemoryOutput, type TestContext } from '../../../../test/support/foreign.js';
import { memorySource, type Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { SchemaBuilder } from '../../schema/index.js';
import { findCore, type Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { sliceTrace } from '../../tools/slice/index.js';
import { TraceWriter } from '../../writer/index.js';
import { FORMAT as KONATA } from '../konata/format.js';
import { FORMAT } from './format.js';
import { PerfettoWriter } from './index.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-perfetto-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Protobuf's wire format read by the rules, without knowing the writer: fields in order, as numbers or bytes. */
type Field = readonly [number: number, value: bigint | Uint8Array];
function fieldsOf(bytes: Uint8Array): Field[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new Error('a varint without end');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const fields: Field[] = [];
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) fields.push([tag >> 3, varint()]);
    else if (wire === 1) {
      fields.push([tag >> 3, view.getBigUint64(at, true)]);
      at += 8;
    } else if (wire === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new Error('a length beyond the message');
      fields.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    } else throw new Error(`wire type ${wire}`);
  }
  return fields;
}
const all = (fields: Field[], number: number) =>
  fields.filter(([n]) => n === number).map(([, value]) => value);
const int = (fields: Field[], number: number): number | undefined => {
  const value = all(fields, number)[0];
  return typeof value === 'bigint' ? Number(value) : undefined;
};
const messages = (fields: Field[], number: number) =>
  all(fields, number).map((value) => fieldsOf(value as Uint8Array));
const text = (fields: Field[], number: number): string | undefined => {
  const value = all(fields, number)[0];
  return value === undefined ? undefined : Buffer.from(value as Uint8Array).toString();
};

interface Seen {
  tracks: Map<
    number,
    { name: string; parent: number | undefined; isCounter: boolean; rank: number | undefined }
  >;
  processes: Map<number, string>;
  slices: {
    track: string;
    name: string;
    category: string;
    from: number;
    to: number;
    args: Record<string, string | number>;
    flows: number[];
    ends: number[];
  }[];
  instants: { track: string; name: string; time: number }[];
  counters: { track: string; time: number; value: number }[];
}

/** What trace_processor makes of the packets: interned names resolved, begins and ends matched per track, in order of time. */
function decode(bytes: Uint8Array): Seen {
  const seen: Seen = { tracks: new Map(), processes: new Map(), slices: [], instants: [], counters: [] };
  const interned = [new Map<number, string>(), new Map<number, string>(), new Map<number, string>()];
  let isClear = false;
  const events: { time: number; track: number; type: number; name: string; fields: Field[] }[] = [];
  for (const [number, value] of fieldsOf(bytes)) {
    expect(number).toBe(1);
    const packet = fieldsOf(value as Uint8Array);
    expect(int(packet, 10)).toBe(1);
    const flags = int(packet, 13) ?? 0;
    if (flags & 1) for (const table of interned) table.clear();
    isClear ||= (flags & 1) !== 0;
    expect(isClear).toBe(true);
    for (const [descriptor] of [messages(packet, 60)]) {
      if (!descriptor) continue;
      const uuid = int(descriptor, 1) ?? 0;
      const [process] = messages(descriptor, 3);
      expect(seen.tracks.has(uuid) || seen.processes.has(uuid)).toBe(false);
      if (process) seen.processes.set(uuid, text(process, 6) ?? '');
      else
        seen.tracks.set(uuid, {
          name: text(descriptor, 2) ?? '',
          parent: int(descriptor, 5),
          isCounter: all(descriptor, 8).length > 0,
          rank: int(descriptor, 12),
        });
    }
    for (const data of messages(packet, 12)) {
      for (const [index, table] of interned.entries()) {
        for (const entry of messages(data, index + 1)) table.set(int(entry, 1) ?? 0, text(entry, 2) ?? '');
      }
    }
    for (const event of messages(packet, 11)) {
      const id = int(event, 10);
      if (id !== undefined) expect(interned[1]?.has(id)).toBe(true);
      const args = messages(event, 4).map((one) => [
        interned[2]?.get(int(one, 1) ?? 0),
        text(one, 6) ?? int(one, 3),
      ]);
      events.push({
        time: int(packet, 8) ?? -1,
        track: int(event, 11) ?? 0,
        type: int(event, 9) ?? 0,
        name: interned[1]?.get(id ?? 0) ?? '',
        fields: Object.assign(event, {
          args: Object.fromEntries(args),
          category: interned[0]?.get(int(event, 3) ?? 0) ?? '',
        }),
      });
    }
  }
  const open = new Map<number, Seen['slices']>();
  for (const { time, track, type, name, fields } of events.toSorted((a, b) => a.time - b.time)) {
    const known = seen.tracks.get(track);
    if (!known) throw new Error(`an event on the unknown track ${track}`);
    const stack = open.get(track) ?? [];
    open.set(track, stack);
    const { args, category } = fields as Field[] & {
      args: Record<string, string | number>;
      category: string;
    };
    if (type === 1) {
      expect(stack).toEqual([]); // nothing overlaps
      const slice = {
        track: known.name,
        name,
        category,
        from: time,
        to: -1,
        args,
        flows: all(fields, 47).map(Number),
        ends: all(fields, 48).map(Number),
      };
      stack.push(slice);
      seen.slices.push(slice);
    } else if (type === 2) {
      const slice = stack.pop();
      if (!slice) throw new Error('an end without a begin');
      slice.to = time;
    } else if (type === 3) seen.instants.push({ track: known.name, name, time });
    else if (type === 4)
      seen.counters.push({ track: known.name, time, value: int(fields, 30) ?? Number.NaN });
    else throw new Error(`event type ${type}`);
  }
  expect([...open.values()].flat()).toEqual([]);
  return seen;
}

async function exported(
  trace: Trace,
  options: Record<string, string> = {},
): Promise<{ seen: Seen; context: TestContext }> {
  const files = new MemoryFiles();
  const context = contextOf(options);
  await FORMAT.write?.(trace, files, '.pftrace', context);
  return { seen: decode(files.bytes()), context };
}

const TWO_THREADS = fileURLToPath(
  new URL('../../../../test/vectors/konata/two-threads.kanata', import.meta.url),
);

async function konataTrace(period: string, log: Uint8Array = readFileSync(TWO_THREADS)): Promise<Trace> {
  const context = contextOf({ period });
  const foreign = await KONATA.open?.(memorySource(log), context.options);
  const path = join(directory, 'log.uscope');
  rmSync(path, { force: true });
  await foreign?.toUscope({ path }, context);
  return openTraceFile(path);
}

describe('the writer', () => {
  it('writes each name once, and all anew after a number of names', async () => {
    const output = new MemoryOutput();
    const writer = new PerfettoWriter(output, 100);
    writer.track({ uuid: 5, name: 'many' });
    for (let n = 0; n < 1000; n++) {
      writer.begin(5, n, `slice ${n}`, { category: n % 2 ? 'odd' : 'even', args: { n } });
      writer.end(5, n);
      await writer.drain();
    }
    await writer.finish();
    const { slices } = decode(output.bytes);
    expect(slices.length).toBe(1000);
    expect(
      slices.every(
        ({ name, from, category, args }) =>
          name === `slice ${from}` && args.n === from && category === (from % 2 ? 'odd' : 'even'),
      ),
    ).toBe(true);
  });
});

describe('µScope to Perfetto', () => {
  it('an instruction is a slice per stage, on a track of the stage on which nothing overlaps', async () => {
    const trace = await konataTrace('2 ns');
    const { seen, context } = await exported(trace);
    const lives: Instruction[] = [];
    for await (const one of instructions(trace, findCore(trace))) lives.push(one);
    await trace.close();
    const expected = lives.flatMap(({ stages, endPs }) =>
      stages.map(
        ({ name, timePs }, n) =>
          `${name} ${timePs / 1000n} ${(stages[n + 1]?.timePs ?? endPs ?? 24_000n) / 1000n}`,
      ),
    );
    expect(seen.slices.map(({ track, from, to }) => `${track} ${from} ${to}`).sort()).toEqual(
      expected.sort(),
    );
    expect([...seen.processes.values()]).toEqual(['core0']);
    // As many tracks of a stage as instructions were in it at a time.
    const named = [...seen.tracks.values()].filter(({ isCounter }) => !isCounter).map(({ name }) => name);
    expect(named.filter((name) => name === 'F').length).toBe(2);
    const first = seen.slices.find(({ name, track }) => name === 'lw a0, 0(sp)' && track === 'F');
    expect(first).toMatchObject({
      category: 'retired',
      args: { pc: '0x80000000', entity_id: 0, thread: 0, end: 'retired', seq: 0 },
    });
    expect(seen.counters).toEqual([
      { track: 'committed_insns', time: 14, value: 1 },
      { track: 'committed_insns', time: 18, value: 2 },
    ]);
    const dropped = context.report.unwaived().map(({ what, count }) => `${what} ${count}`);
    expect(dropped).toEqual(['events about instructions that no slice says 7']); // lanes, explicit ends, retire numbers
  });

  it.each([
    ['kan-gap.log', ['F 0+2', 'X 5+1', 'F 5+1']],
    ['pft-overlap.kanata', ['F 0+1', 'X 1+4', 'F 0+0', 'D 0+2', 'X 2+5', 'F 1+1', 'X 2+9']],
  ])('%s: a stage ends where the log ends it', async (name, slices) => {
    const log = readFileSync(
      fileURLToPath(new URL(`../../../../test/vectors/konata/${name}`, import.meta.url)),
    );
    const trace = await konataTrace('1 ns', log);
    const { seen } = await exported(trace);
    await trace.close();
    const found = seen.slices.map(({ track, from, to }) => `${track} ${from}+${to - from}`);
    expect(found.toSorted()).toEqual(slices.toSorted());
  });

  it('an instruction has the name that a log gives it, and its remarks are notes', async () => {
    const log = [
      'Kanata\t0004',
      'C=\t0',
      'I\t0\t0\t0',
      'L\t0\t1\tPRF: x5\\nROB: 3',
      'S\t0\t0\tF',
      'L\t0\t0\taddi a0,',
      'C\t1',
      'L\t0\t0\t a0, 1',
      'L\t0\t2\tin the queue',
      'R\t0\t0\t0',
      '',
    ].join('\n');
    const trace = await konataTrace('1 ns', new TextEncoder().encode(log));
    const { seen } = await exported(trace);
    await trace.close();
    expect(seen.slices).toMatchObject([
      { name: 'addi a0, a0, 1', args: { notes: 'PRF: x5\nROB: 3\nin the queue' } },
    ]);
  });

  it('a dependency is a flow from the producer’s slice to the consumer’s', async () => {
    const trace = await konataTrace('1 ns');
    const { seen } = await exported(trace);
    await trace.close();
    const [from, to] = [
      seen.slices.filter(({ flows }) => flows.length > 0),
      seen.slices.filter(({ ends }) => ends.length > 0),
    ];
    expect(from.map(({ track, name }) => `${track} ${name}`)).toEqual(['X lw a0, 0(sp)']);
    expect(to.map(({ track, name }) => `${track} ${name}`)).toEqual(['D add a1, a0, a0']);
    expect(to[0]?.ends).toEqual(from[0]?.flows);
  });

  it('a dependency of a part of a trace is a flow too, though its instructions have no numbers', async () => {
    const path = join(directory, 'part.uscope');
    const whole = await konataTrace('1 ns');
    await sliceTrace(whole, { path, name: 'log.uscope', from: 3000n });
    await whole.close();
    const trace = await openTraceFile(path);
    const { seen, context } = await exported(trace);
    await trace.close();
    expect(seen.slices.filter(({ ends }) => ends.length > 0).map(({ track }) => track)).toEqual(['D']);
    expect(context.report.rows.filter(({ what }) => what === 'dependencies').map(({ fate }) => fate)).toEqual(
      ['kept'],
    );
  });

  it.each([
    ['1500ps', {}, 'core0 (1 ns = 1 ps of the trace)', 3000],
    ['1500ps', { time: 'ns' }, 'core0', 3],
    ['1500ps', { time: 'cycles' }, 'core0 (1 ns = 1/1 cycle of clk)', 2],
    ['1500ps', { time: 'cycles', cycle: '10' }, 'core0 (1 ns = 1/10 cycle of clk)', 20],
    ['2ns', {}, 'core0', 4],
  ])('a clock of %s with %j: %s', async (period, options, process, firstNs) => {
    const trace = await konataTrace(period);
    const { seen, context } = await exported(trace, { ...options, counters: 'none' });
    await trace.close();
    expect([...seen.processes.values()]).toEqual([process]);
    expect(Math.min(...seen.slices.map(({ from }) => from))).toBe(firstNs);
    const isRounded = 'time' in options && options.time === 'ns';
    expect(context.report.rows.some(({ what }) => what === 'times')).toBe(isRounded);
  });

  it.each([{ time: 's' }, { time: 'cycles', cycle: '0' }, { counters: 'all' }])(
    '%j: CONVERT_OPTION',
    async (options) => {
      const trace = await konataTrace('1 ns');
      await expect(exported(trace, options)).rejects.toMatchObject({ code: 'CONVERT_OPTION' });
      await trace.close();
    },
  );

  it('counters, occupancies and stalls have their own tracks', async () => {
    const builder = new SchemaBuilder().clock('clk', 1000).enum('why', ['full', 'miss']);
    const scope = builder.scope('c', { protocol: 'cpu', clock: 'clk' });
    scope.storage('entities', { slots: 4, kind: 'sparse', fields: { entity_id: 'u32', pc: 'u64' } });
    scope.storage('rob', { slots: 4, kind: 'buffer', fields: { entity_id: 'u32' } });
    scope.counter('hits').event('stall', { reason: 'why' });
    const path = join(directory, 'small.uscope');
    const writer = await TraceWriter.create({ path, ...builder.build() });
    for (let n = 0; n < 4; n++) {
      writer.beginCycle(n * 1000);
      writer.slotSet('c/rob', n % 2, 'entity_id', n);
      if (n === 3) writer.slotClear('c/rob', 0);
      if (n !== 1) writer.slotAdd('c/hits', 0, 0, 5);
      if (n === 2) writer.event('c/stall', { reason: 'miss' });
      writer.endCycle();
    }
    await writer.close();
    const trace = await openTraceFile(path);
    const { seen } = await exported(trace);
    await trace.close();
    const of = (name: string) =>
      seen.counters.filter(({ track }) => track === name).map(({ time, value }) => [time, value]);
    expect(of('hits')).toEqual([
      [0, 5],
      [2, 10],
      [3, 15],
    ]);
    expect(of('rob')).toEqual([
      [0, 1],
      [1, 2],
      [2, 2],
      [3, 1],
    ]);
    expect(seen.instants).toEqual([{ track: 'stalls', name: 'miss', time: 2 }]);
  });
});
