import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles, MemoryOutput } from '../../../../test/support/foreign.js';
import { splitPieces } from '../../format/wide-fields.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { parseSchema, SchemaBuilder } from '../../schema/index.js';
import { TraceWriter } from '../../writer/index.js';
import { FORMAT } from './format.js';
import { VcdWriter } from './index.js';
import { shortId } from './writer.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-vcd-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Vcd {
  timescale: string;
  comments: string[];
  /** By path: width, and values with their times. */
  variables: Map<string, { kind: string; width: number; changes: [time: number, value: string][] }>;
  end: number;
}

/** Reads a VCD by the grammar of the standard, token by token; throws at what breaks it. */
function parse(text: string): Vcd {
  const tokens = text.split(/\s+/).filter((token) => token !== '');
  let at = 0;
  const next = (): string => {
    const token = tokens[at++];
    if (token === undefined) throw new Error('the file ends inside a command');
    return token;
  };
  const untilEnd = (): string[] => {
    const words: string[] = [];
    for (let word = next(); word !== '$end'; word = next()) words.push(word);
    return words;
  };
  const vcd: Vcd = { timescale: '', comments: [], variables: new Map(), end: -1 };
  const byId = new Map<string, { kind: string; width: number; changes: [number, string][] }>();
  const path: string[] = [];
  for (let command = next(); command !== '$enddefinitions'; command = next()) {
    const words = untilEnd();
    if (command === '$timescale') vcd.timescale = words.join('');
    else if (command === '$comment') vcd.comments.push(words.join(' '));
    else if (command === '$scope') path.push(words[1] ?? '');
    else if (command === '$upscope') path.pop();
    else if (command === '$var') {
      const [kind = '', width = '', id = '', name = '', range] = words;
      expect(range).toBe(width === '1' ? undefined : `[${Number(width) - 1}:0]`);
      const one = { kind, width: Number(width), changes: [] };
      expect(byId.has(id)).toBe(false);
      byId.set(id, one);
      const full = [...path, name].join('.');
      expect(vcd.variables.has(full)).toBe(false);
      vcd.variables.set(full, one);
    } else throw new Error(`the command ${command}`);
  }
  expect(untilEnd()).toEqual([]);
  expect(path).toEqual([]);
  let inValues = false;
  while (at < tokens.length) {
    const token = next();
    if (token === '$dumpvars') inValues = true;
    else if (token === '$end' && inValues) inValues = false;
    else if (token.startsWith('#')) {
      const time = Number(token.slice(1));
      expect(time).toBeGreaterThan(vcd.end);
      vcd.end = time;
    } else {
      const isLong = /^[bs]/.test(token);
      const id = isLong ? next() : token.slice(1);
      const one = byId.get(id);
      if (!one || vcd.end < 0) throw new Error(`a change of "${id}"`);
      expect(isLong).toBe(one.width > 1 || one.kind === 'string');
      if (token.startsWith('b')) expect(token.length - 1).toBeLessThanOrEqual(one.width);
      const value = token.startsWith('s')
        ? token.slice(1)
        : token.startsWith('b')
          ? token === 'bx'
            ? 'x'
            : String(BigInt(`0b${token.slice(1)}`))
          : (token[0] ?? '');
      one.changes.push([vcd.end, value]);
    }
  }
  return vcd;
}

async function exported(trace: Trace, options: Record<string, string> = {}, extension = '.vcd') {
  const files = new MemoryFiles();
  const context = contextOf(options);
  await FORMAT.write?.(trace, files, extension, context);
  return { bytes: files.bytes(), context };
}

async function small(run: (writer: TraceWriter) => void, checkpointIntervalPs = 3000): Promise<Trace> {
  const builder = new SchemaBuilder().clock('clk', 1000).enum('state', ['idle', 'busy']);
  const soc = builder
    .scope('soc', { clock: 'clk' })
    .counter('cycles')
    .event('note', { text: 'string', n: 'u8' });
  soc.storage('big', { slots: 300, kind: 'dense', fields: { v: 'u8' } });
  soc
    .scope('core')
    .storage('rob', {
      slots: 2,
      kind: 'buffer',
      fields: { id: 'u16', done: 'bool' },
      properties: { head: { type: 'u8', role: 'head' } },
    })
    .storage('state', { slots: 1, kind: 'dense', fields: { now: 'state' } })
    .counter('hits');
  const path = join(directory, 'small.uscope');
  rmSync(path, { force: true });
  const writer = await TraceWriter.create({ path, ...builder.build(), checkpointIntervalPs });
  run(writer);
  await writer.close();
  return openTraceFile(path);
}

describe('the writer', () => {
  it('identifiers are printable, different, and short', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => shortId(n));
    expect(new Set(ids).size).toBe(10_000);
    expect(ids.every((id) => /^[!-~]{1,3}$/.test(id))).toBe(true);
    expect(ids.slice(0, 94).every((id) => id.length === 1)).toBe(true);
  });

  it('time does not go back, and a timescale is one', async () => {
    const top = { name: 'top', scopes: [], variables: [] };
    const writer = new VcdWriter(new MemoryOutput(), { timescale: '10 ns', top });
    writer.moveTo(4n);
    expect(() => writer.moveTo(3n)).toThrowError(/FORMAT_VALUE/);
    expect(() => new VcdWriter(new MemoryOutput(), { timescale: '3 ns', top })).toThrowError(/FORMAT_VALUE/);
  });
});

describe('µScope to VCD', () => {
  it('scopes, vectors, valid bits, properties, counters, events, texts', async () => {
    const trace = await small((w) => {
      w.beginCycle(1000);
      w.slotSet('soc/core/rob', 1, 'id', 40_000);
      w.slotSet('soc/core/rob', 1, 'done', 1);
      w.propSet('soc/core/rob', 'head', 3);
      w.slotAdd('soc/core/hits', 0, 0, 5);
      w.event('soc/note', { text: 'a text', n: 7 });
      w.slotSet('soc/big', 299, 'v', 1);
      w.endCycle();
      w.beginCycle(9000);
      w.slotClear('soc/core/rob', 1);
      w.slotAdd('soc/core/hits', 0, 0, 5);
      w.slotAdd('soc/core/hits', 0, 0, (1n << 64n) - 1n);
      w.slotSet('soc/core/state', 0, 'now', 'busy');
      w.event('soc/note', { text: 'one', n: 1 });
      w.event('soc/note', { text: 'two', n: 2 });
      w.endCycle();
      w.beginCycle(12_000);
      w.endCycle();
    });
    const { bytes, context } = await exported(trace);
    await trace.close();
    const { timescale, comments, variables, end } = parse(Buffer.from(bytes).toString());
    expect({ timescale, comments, end }).toEqual({
      timescale: '1ps',
      comments: ['enum state: 0=idle 1=busy'],
      end: 12_000,
    });
    const of = (path: string) => variables.get(`trace.${path}`)?.changes;
    expect([...variables.keys()].filter((path) => path.includes('big'))).toEqual([]);
    expect(variables.get('trace.soc.core.rob.slot1_id')).toMatchObject({ kind: 'wire', width: 16 });
    expect(of('soc.core.rob.slot1_id')).toEqual([
      [0, '0'],
      [1000, '40000'],
      [9000, '0'],
    ]);
    expect(of('soc.core.rob.slot1_valid')).toEqual([
      [0, '0'],
      [1000, '1'],
      [9000, '0'],
    ]);
    expect(of('soc.core.rob.slot0_valid')).toEqual([[0, '0']]);
    expect(of('soc.core.rob.head')).toEqual([
      [0, '0'],
      [1000, '3'],
    ]);
    expect(of('soc.core.hits')).toEqual([
      [0, '0'],
      [1000, '5'],
      [9000, '9'],
    ]);
    expect(of('soc.core.state')).toEqual([
      [0, '0'],
      [9000, '1'],
    ]);
    expect(of('soc.note.happens')).toEqual([
      [1000, '1'],
      [9000, '1'],
    ]);
    expect(of('soc.note.text')).toEqual([
      [1000, 'a_text'],
      [9000, 'two'],
    ]);
    expect(of('soc.note.n')).toEqual([
      [0, 'x'],
      [1000, '7'],
      [9000, '2'],
    ]);
    const rows = context.report.rows.map(({ fate, what, count }) => `${fate} ${what} ${count}`);
    expect(rows).toEqual([
      'kept changes of storages 8',
      'kept events 2',
      'approximated events of one kind at one time 1',
      'dropped changes of large storages 1',
    ]);
  });

  it('at every time the values are those of the trace’s state', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(3), fc.nat(1), fc.nat(65_535), fc.nat(3000)), {
          minLength: 1,
          maxLength: 60,
        }),
        async (steps) => {
          let time = 0;
          const trace = await small((w) => {
            for (const [what, slot, value, pause] of steps) {
              w.beginCycle(time);
              if (what === 0) w.slotSet('soc/core/rob', slot, 'id', value);
              else if (what === 1) w.slotClear('soc/core/rob', slot);
              else if (what === 2) w.slotAdd('soc/core/rob', slot, 'id', value);
              else w.slotAdd('soc/cycles', 0, 0, value);
              w.endCycle();
              time += pause;
            }
          });
          const { variables, end } = parse(
            gunzipSync((await exported(trace, { events: 'no' }, '.vcd.gz')).bytes).toString(),
          );
          for (const at of [0, Math.floor(end / 2), end]) {
            const state = await trace.stateAt(at);
            const shown = (path: string) =>
              variables.get(`trace.soc.${path}`)?.changes.findLast(([t]) => t <= at)?.[1];
            for (const slot of [0, 1]) {
              expect(shown(`core.rob.slot${slot}_id`)).toBe(
                String(state.slotField('soc/core/rob', slot, 'id')),
              );
              expect(shown(`core.rob.slot${slot}_valid`)).toBe(
                state.slotValid('soc/core/rob', slot) ? '1' : '0',
              );
            }
            expect(shown('cycles')).toBe(String(state.slotField('soc/cycles', 0, 0)));
          }
          await trace.close();
        },
      ),
      { numRuns: 15 },
    );
  });

  it('a field of more than 64 bits is one vector, also where one of its pieces changes, and with x and z', async () => {
    const path = join(directory, 'wide.uscope');
    rmSync(path, { force: true });
    const schema = parseSchema(`uscope: 1
clocks: {clk: 1 ns}
scopes:
  core:
    clock: clk
    storages:
      line: {slots: 1, kind: sparse, fields: {tag: u8, data: {bits: 100, states: 4}, last: bool}, properties: {top: {bits: 70}}}
      sum: {slots: 1, kind: dense, fields: {all: {bits: 65}}}
    events:
      fill: {data: {bits: 130}, way: u8}
`);
    const writer = await TraceWriter.create({ path, ...schema });
    const line = (field: string, value: bigint | number): void =>
      writer.slotSet('core/line', 0, field, value);
    writer.beginCycle(1000);
    line('data.bits100.0', 5n);
    line('data.bits100.1', 1n << 35n);
    line('last', 1);
    writer.slotSet('core/sum', 0, 'all.bits65.1', 1);
    writer.propSet('core/line', 'top.bits70.1', 32n);
    writer.event('core/fill', [...splitPieces((3n << 128n) | 9n, 130), 6]);
    writer.endCycle();
    writer.beginCycle(2000);
    line('data.bits100.x0', 0b110n);
    writer.endCycle();
    writer.beginCycle(3000);
    line('data.bits100.x0', 0n);
    writer.endCycle();
    await writer.close();
    const trace = await openTraceFile(path);
    const text = Buffer.from((await exported(trace)).bytes).toString();
    await trace.close();
    const idOf = (name: string, width: number): string =>
      new RegExp(`\\$var wire ${width} (\\S+) ${name} \\[${width - 1}:0\\] \\$end`).exec(text)?.[1] ?? 'none';
    const changes = (id: string): string[] =>
      text.split('\n').flatMap((one) => (one.endsWith(` ${id}`) ? [one.slice(1, -id.length - 1)] : []));
    const value = (1n << 99n) | 5n;
    expect(changes(idOf('data', 100))).toEqual([
      '0',
      value.toString(2),
      // Of the two unknown bits the value has one.
      `${value.toString(2).slice(0, -3)}xz1`,
      value.toString(2),
    ]);
    expect(changes(idOf('data', 130))).toEqual(['x', ((3n << 128n) | 9n).toString(2)]);
    expect(changes(idOf('top', 70))).toEqual(['0', (1n << 69n).toString(2)]);
    expect(changes(idOf('sum', 65))).toEqual(['0', (1n << 64n).toString(2)]);
    expect(text).not.toContain('bits');
  });

  it('a field with the bits of a floating-point number is a real', async () => {
    const path = join(directory, 'floats.uscope');
    rmSync(path, { force: true });
    const writer = await TraceWriter.create({
      path,
      ...parseSchema(
        'uscope: 1\nclocks: {clk: 1 ns}\nscopes: {top: {clock: clk, storages: {s: {kind: dense, slots: 1, fields: {volts.f64: u64, gain_f32: u32, plain.f64: u32}}}, events: {e: {at.f64: u64}}}}\n',
      ),
    });
    const bits = (value: number): bigint => new BigUint64Array(new Float64Array([value]).buffer)[0]!;
    const values = [0.1, -2.5e-300, Number.NaN, Number.NEGATIVE_INFINITY];
    values.forEach((value, index) => {
      writer.beginCycle(1000 * index);
      writer.slotSet('top/s', 0, 'volts.f64', bits(value));
      writer.slotSet('top/s', 0, 'gain_f32', 0x3fc0_0000);
      writer.endCycle();
    });
    writer.beginCycle(4000);
    writer.event('top/e', [bits(3.25)]);
    writer.endCycle();
    await writer.close();
    const trace = await openTraceFile(path);
    const text = Buffer.from((await exported(trace)).bytes).toString();
    await trace.close();
    const changesOf = (name: string): string[] => {
      const id = new RegExp(`\\$var real 64 (\\S+) ${name} \\$end`).exec(text)?.[1] ?? 'none';
      return text
        .split('\n')
        .filter((line) => line.endsWith(` ${id}`) && !line.startsWith('$'))
        .map((line) => line.split(' ')[0]!);
    };
    expect(changesOf('volts.f64')).toEqual(['r0', 'r0.1', 'r-2.5e-300', 'rnan', 'r-inf']);
    expect(changesOf('gain_f32')).toEqual(['r0', 'r1.5']);
    expect(changesOf('at.f64')).toEqual(['r3.25']);
    expect(text).toMatch(/\$var wire 32 \S+ plain.f64 /);
  });

  it.each([{ 'max-slots': 'many' }, { events: 'some' }])('%j: CONVERT_OPTION', async (options) => {
    const trace = await small(() => undefined);
    await expect(exported(trace, options as Record<string, string>)).rejects.toMatchObject({
      code: 'CONVERT_OPTION',
    });
    await trace.close();
  });
});
