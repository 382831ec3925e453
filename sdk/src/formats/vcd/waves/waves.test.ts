/** Waveforms in: what a map says of them is what the trace holds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cases } from '../../../../../test/support/effort.js';
import { contextOf, flips } from '../../../../../test/support/foreign.js';
import { limitOfFile, MANY_CASES_MS, PROCESSES_MS } from '../../../../../test/support/limits.js';
import { runUscope } from '../../../../../test/support/run-cli.js';
import { VcdText } from '../../../../../test/support/vcd-text.js';
import { isUscopeError } from '../../../base/errors.js';
import { pipeSource } from '../../../cli/common/pipe-source.js';
import { memorySource } from '../../../reader/index.js';
import { openTraceFile } from '../../../reader/node.js';
import { FORMAT } from '../format.js';
import { VcdTrace } from '../trace.js';

// Whole commands are run.
limitOfFile(PROCESSES_MS);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-waves-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HEAD = 'waves: 1\nclock: clk\n';

async function convert(bytes: Uint8Array, map: string, source = memorySource(bytes, 'wave.vcd')) {
  const file = join(directory, 'map.yaml');
  writeFileSync(file, map);
  const context = contextOf({ map: file });
  const foreign = await FORMAT.open?.(source, context.options);
  if (!foreign) throw new Error('cannot be opened');
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  const stats = await foreign.toUscope({ path }, context);
  return { path, stats, context, isPartial: foreign.isPartial };
}

/** Every operation and event as a line, by time in ns. */
async function linesOf(path: string): Promise<string[]> {
  const trace = await openTraceFile(path);
  const lines: string[] = [];
  const events: string[] = [];
  for await (const event of trace.events()) {
    const values = Object.entries(event.fields()).map(([key, value]) => `${key}=${value}`);
    events.push(`${event.name} ${values.join(' ')}`.trim());
  }
  let time = 0n;
  let next = 0;
  const word = ['', 'set', 'clear', 'add', 'prop'];
  await trace.scan(
    {},
    {
      frame: ({ timePs }) => {
        time = timePs / 1000n;
      },
      op: ({ storageId, action, slot, field, value }) => {
        const def = trace.schema.storages[storageId];
        const name = action === 4 ? def.properties[field]?.name : def.fields[field]?.name;
        lines.push(
          action === 2
            ? `${time} ${def.name}[${slot}] clear`
            : `${time} ${def.name}[${slot}].${name} ${word[action]} ${value}`,
        );
      },
      event: () => {
        lines.push(`${time} ${events[next++]}`);
      },
    },
  );
  await trace.close();
  return lines;
}

/** A clock of 10 ns that rises at 5, 15, …; `values` of the step in which it rises. */
function clocked(
  signals: Readonly<Record<string, number>>,
  rows: readonly Readonly<Record<string, bigint | number | string>>[],
) {
  const vcd = new VcdText([
    { path: 'tb.clk', width: 1 },
    ...Object.entries(signals).map(([name, width]) => ({ path: `tb.${name}`, width })),
  ]);
  const named = (row: Readonly<Record<string, bigint | number | string>>) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [`tb.${name}`, value]));
  rows.forEach((row, cycle) => {
    vcd.step(10 * cycle, { 'tb.clk': 0, ...(cycle === 0 ? named(row) : {}) });
    vcd.step(10 * cycle + 5, { 'tb.clk': 1, ...(cycle === 0 ? {} : named(row)) });
  });
  vcd.step(10 * rows.length, { 'tb.clk': 0 }).step(10 * rows.length + 5, { 'tb.clk': 1 });
  return vcd;
}

describe('sampling', () => {
  it('takes the values before the edge, whatever the order of the changes in its step', async () => {
    const map = `${HEAD}scopes:\n  top:\n    storages: {a: a}\n`;
    const vcd = clocked({ a: 8 }, [{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(await linesOf((await convert(vcd.bytes, map)).path)).toEqual([
      '5 a[0].value set 1',
      '25 a[0].value set 2',
      '35 a[0].value set 3',
    ]);
    // The clock after the data in the same step.
    const late = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'a', width: 8 },
    ]);
    late.step(0, { clk: 0, a: 7 }).step(5, { a: 9, clk: 1 }).step(10, { clk: 0 }).step(15, { clk: 1 });
    expect(await linesOf((await convert(late.bytes, map)).path)).toEqual([
      '5 a[0].value set 7',
      '15 a[0].value set 9',
    ]);
  });

  it('measures the period, of fs too, and takes x and z as 0 and says so', async () => {
    const map = `${HEAD}scopes:\n  top: {storages: {a: a}}\n`;
    const vcd = clocked({ a: 8 }, [{ a: '1x0z' }, { a: 'z' }, { a: 3 }]);
    const { path, context } = await convert(vcd.bytes, map);
    expect(await linesOf(path)).toEqual(['5 a[0].value set 8', '25 a[0].value set 0', '35 a[0].value set 3']);
    expect(context.report.rows.find(({ what }) => what.startsWith('values with bits'))?.count).toBe(2n);
    const trace = await openTraceFile(path);
    expect(trace.schema.clocks).toMatchObject([{ name: 'clk', periodPs: 10_000 }]);
    await trace.close();
    const fine = vcd.text.replace('$timescale 1ns', '$timescale 100 fs');
    const other = await openTraceFile((await convert(new TextEncoder().encode(fine), map)).path);
    expect(other.schema.clocks).toMatchObject([{ periodPs: 1 }]);
    await other.close();
  });

  it('sees no edge and no change in $dumpoff and $dumpon', async () => {
    const vcd = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'a', width: 4 },
    ]);
    vcd.step(0, { clk: 0, a: 1 }).step(5, { clk: 1 }).step(10, { clk: 0 });
    vcd.raw('$dumpoff\nx!\nbx "\n$end\n').raw('#50\n$dumpon\n1!\nb0101 "\n$end\n').raw('#60\n0!\n');
    vcd.raw('#65\n1!\n');
    const { path, context } = await convert(
      vcd.bytes,
      `${HEAD}scopes:\n  top: {storages: {a: a}, counters: {edges: '!a[3]'}}\n`,
    );
    expect(await linesOf(path)).toEqual([
      '5 a[0].value set 1',
      '5 edges[0].count add 1',
      '65 a[0].value set 5',
      '65 edges[0].count add 1',
    ]);
    expect(context.report.rows.some(({ what }) => what.includes('$dumpoff'))).toBe(true);
  });

  it('has reals and strings as text, parts of vectors, and vectors of any width in pieces of 64 bits', async () => {
    const vcd = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'wide', width: 100 },
      { path: 'r', width: 64, kind: 'real' },
      { path: 's', width: 1, kind: 'string' },
    ]);
    const value = (0xabcn << 88n) | 0x1234_5678_9abc_def0n;
    vcd.step(0, { clk: 0, wide: value, r: 'r1.5', s: 'sIDLE' }).step(5, { clk: 1 });
    const map = `${HEAD}scopes:\n  top:\n    storages:\n      all: {fields: {w: wide, hi: 'wide[99:88]', bit: 'wide[4]', r: r, s: s}}\n`;
    const { path } = await convert(vcd.bytes, map);
    const trace = await openTraceFile(path);
    const state = await trace.stateAt(5000n);
    const field = (name: string) => state.slotField('top/all', 0, name);
    await trace.strings.load(new Set([0, 1]));
    const text = (name: string) => trace.strings.peek(Number(field(name)));
    expect([field('w.bits100.0'), field('w.bits100.1')]).toEqual([value & ((1n << 64n) - 1n), value >> 64n]);
    expect([field('hi'), field('bit'), text('r'), text('s')].map(String)).toEqual([
      '2748',
      '1',
      '1.5',
      'IDLE',
    ]);
    await trace.close();
  });
});

describe('what a map makes', () => {
  it('counters, events, words, state machines and packed words', async () => {
    const map = `${HEAD}reset: "!rst_n"
scopes:
  top:
    in: tb
    counters: {busy: valid & !stall, odd: (state == 1 | state == 3) & valid}
    events: {go: {when: valid && data != 0, fields: {data: data}}, both: valid & stall}
    words: {regs: 'regs[*]', nibbles: {packed: data, bits: 4}}
    fsms: {fsm: {state: state, values: {IDLE: 0, RUN: 1}}}
`;
    const names = { rst_n: 1, valid: 1, stall: 1, data: 8, state: 2, 'regs[0]': 8, 'regs[1]': 8 };
    const vcd = clocked(names, [
      { rst_n: 0, valid: 1, stall: 0, data: 0x12, state: 0, 'regs[0]': 5, 'regs[1]': 6 },
      { rst_n: 1, state: 1 },
      { stall: 1, 'regs[1]': 7, state: 2 },
    ]);
    expect(await linesOf((await convert(vcd.bytes, map)).path)).toEqual(
      [
        '5 regs[0].value set 5',
        '5 regs[1].value set 6',
        '5 nibbles[0].value set 2',
        '5 nibbles[1].value set 1',
        '5 fsm[0].state set 0',
        '25 busy[0].count add 1',
        '25 odd[0].count add 1',
        '25 top/go data=18',
        '25 fsm[0].state set 1',
        '25 top/fsm_changed from=0 to=1',
        '35 regs[1].value set 7',
        '35 top/go data=18',
        '35 top/both',
        '35 fsm[0].state set 2',
        '35 top/fsm_changed from=1 to=2',
      ].map((line) => line.replace('15 ', '15 ')),
    );
  });

  it('FIFOs by pointers with and without a lap bit, and by a bit per entry', async () => {
    const map = `${HEAD}scopes:
  top:
    fifos:
      lap: {write: w, read: r, slots: 2, fields: {d: 'm[*]'}}
      full: {write: 'w[0]', read: 'r[0]', slots: 2, full: isfull}
      bits: {valid: v, packed: data, bits: 4}
`;
    const vcd = clocked({ w: 2, r: 2, 'm[0]': 8, 'm[1]': 8, isfull: 1, v: 2, data: 8 }, [
      { w: 0, r: 0, 'm[0]': 0, 'm[1]': 0, isfull: 0, v: 0, data: 0 },
      { w: 1, 'm[0]': 0xaa, v: 1, data: 0x03 },
      { w: 2, 'm[1]': 0xbb, isfull: 1, v: 3, data: 0x43 },
      { r: 2, isfull: 0, v: 0 },
    ]);
    const { path } = await convert(vcd.bytes, map);
    const trace = await openTraceFile(path);
    const held = async (name: string, ns: number) => {
      const state = await trace.stateAt(BigInt(ns) * 1000n);
      return [0, 1].map((slot) => state.slotValid(`top/${name}`, slot));
    };
    expect(await held('lap', 25)).toEqual([true, false]);
    expect(await held('lap', 35)).toEqual([true, true]);
    expect(await held('full', 35)).toEqual([true, true]);
    expect(await held('bits', 35)).toEqual([true, true]);
    for (const name of ['lap', 'full', 'bits']) expect(await held(name, 45)).toEqual([false, false]);
    const state = await trace.stateAt(35_000n);
    expect([0, 1].map((slot) => String(state.slotField('top/lap', slot, 'd')))).toEqual(['170', '187']);
    expect([0, 1].map((slot) => String(state.slotField('top/bits', slot, 'data')))).toEqual(['3', '4']);
    await trace.close();
  });

  it('channels as transactions', async () => {
    const map = `${HEAD}scopes:\n  top: {channels: {bus: {valid: valid, ready: ready, fields: {addr: addr, data: data}}}}\n`;
    const vcd = clocked({ valid: 1, ready: 1, addr: 8, data: 68 }, [
      { valid: 1, ready: 0, addr: 4, data: 1n << 67n },
      { ready: 1 },
      { addr: 9 },
      { ready: 0 },
      { valid: 0 },
    ]);
    const { path, context } = await convert(vcd.bytes, map);
    const lines = (await linesOf(path)).filter((line) => /begin|end|attr/.test(line));
    expect(lines.slice(0, 4)).toEqual([
      '5 tr/begin tx=1 stream=1 generator=2 t=5000',
      // Names and long values are strings of the trace.
      '25 tr/attr tx=1 idx=0 phase=2 name=4 type=3 bits=4 str=3',
      '25 tr/attr tx=1 idx=0 phase=2 name=5 type=6 bits=0 str=6',
      '25 tr/end tx=1 t=25000',
    ]);
    const trace = await openTraceFile(path);
    await trace.strings.load(new Set([4, 5, 6]));
    expect([4, 5, 6].map((index) => trace.strings.peek(index))).toEqual([
      'addr',
      'data',
      (1n << 67n).toString(2),
    ]);
    await trace.close();
    expect(context.report.rows.map(({ what, count }) => `${what} ${count}`)).toEqual(
      expect.arrayContaining(['transfers of channels 2', 'offers that were withdrawn 1']),
    );
  });

  it.each([
    ['waves: 1\nscopes: {a: {}}\n', 'map.yaml:2', 'has no clock'],
    [`${HEAD}scopes:\n  a:\n    storages:\n      x: nothing\n`, 'map.yaml:6', 'no signal "nothing"'],
    [`${HEAD}scopes:\n  a:\n    counters:\n      x: clk &\n`, 'map.yaml:6', 'not complete'],
    [`${HEAD}scopes:\n  a:\n    rvfi: rvfi_\n`, 'map.yaml:5', 'rvfi_valid'],
    [`${HEAD}scopes:\n  a:\n    fifo: {}\n`, 'map.yaml:5', 'fifos'],
    [`${HEAD}scopes:\n  a:\n    words: {x: 'a[*]'}\n`, 'map.yaml:5', 'of the form a[*]'],
    ['', 'map.yaml', 'the map'],
  ])('%j: says where and what', async (map, place, what) => {
    const vcd = clocked({ a: 8 }, [{ a: 1 }]);
    const error = await convert(vcd.bytes, map).catch((caught: unknown) => caught);
    expect(isUscopeError(error) && error.message).toContain(place);
    expect(isUscopeError(error) && error.message).toContain(what);
  });
});

describe('the bytes', () => {
  const map = `${HEAD}scopes:\n  top: {storages: {a: a, b: b}}\n`;
  const rows = Array.from({ length: 12 }, (_, n) => ({ a: n * 37, b: BigInt(n) << 60n }));
  const whole = () => clocked({ a: 12, b: 70 }, rows).bytes;

  it('may be packed, come from a pipe in small pieces, or by the command from standard input', async () => {
    const expected = await linesOf((await convert(whole(), map)).path);
    expect(expected.length).toBeGreaterThan(20);
    expect(await linesOf((await convert(gzipSync(whole()), map)).path)).toEqual(expected);
    async function* pieces() {
      const bytes = whole();
      for (let at = 0; at < bytes.length; at += 7) yield bytes.slice(at, at + 7);
    }
    const piped = await convert(new Uint8Array(0), map, pipeSource('pipe', pieces()));
    expect(await linesOf(piped.path)).toEqual(expected);
  });

  it('that end early give what was there', { timeout: MANY_CASES_MS }, async () => {
    const bytes = whole();
    const expected = await linesOf((await convert(bytes, map)).path);
    const begin = Buffer.from(bytes).indexOf('#0');
    // Every conversion waits for the disk.
    const step = Math.ceil((bytes.length - begin) / cases(30));
    for (let length = begin; length < bytes.length; length += step) {
      const cut = await convert(bytes.slice(0, length), map);
      const lines = await linesOf(cut.path);
      expect(expected.slice(0, lines.length)).toEqual(lines);
      // A last word that is one by itself is taken without its end of line.
      const text = new TextDecoder().decode(bytes.slice(0, length));
      const last = text.slice(text.lastIndexOf('\n') + 1);
      const before = Number([...text.matchAll(/#(\d+)\n/g)].at(-1)?.[1] ?? 0);
      const isWhole = /^#\d/.test(last)
        ? Number(last.slice(1)) >= before
        : /^([01]!|b[01]+ ["#]|)$/.test(last);
      expect([length, cut.isPartial]).toEqual([length, !isWhole]);
      const isCounted = cut.context.report.rows.some(({ what }) => what.includes('without an end of line'));
      expect([length, isCounted]).toEqual([length, isWhole && last !== '']);
    }
    await expect(convert(bytes.slice(0, begin - 5), map)).rejects.toMatchObject({
      code: 'CONVERT_TRUNCATED',
    });
  });

  it.each([
    ['#5\nq!\n', 'CONVERT_FORMAT', 'not a change'],
    ['#5\nb01a1 "\n', 'CONVERT_FORMAT', 'not a vector'],
    ['#5\n#4\n', 'CONVERT_FORMAT', 'goes back'],
    ['#1x\n', 'CONVERT_FORMAT', 'not a number'],
    ['pD 6 0 "\n', 'CONVERT_UNSUPPORTED', 'ports'],
    ['#99999999999999999999\n', 'CONVERT_UNSUPPORTED', '2^53'],
  ])('%j is %s', async (text, code, what) => {
    const vcd = new VcdText([
      { path: 'clk', width: 1 },
      { path: 'a', width: 12 },
      { path: 'b', width: 70 },
    ]).raw(text);
    const error = await convert(vcd.bytes, map).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code });
    expect(isUscopeError(error) && error.place.offset).toBeGreaterThanOrEqual(vcd.bytes.length - text.length);
    expect(isUscopeError(error) && error.message).toContain(what);
  });

  it('that are damaged end with a code, or with a trace', async () => {
    for (const damaged of flips(whole(), cases(25))) {
      try {
        await convert(damaged, map);
      } catch (error) {
        expect(isUscopeError(error) && error.code).toMatch(/^(CONVERT|SCHEMA|OP)_/);
      }
    }
  });
});

describe('at the command line', () => {
  it('--map, --guess, info; without a map it says what to do', async () => {
    const wave = join(directory, 'cli.vcd');
    const map = join(directory, 'cli.yaml');
    const out = join(directory, 'cli.uscope');
    writeFileSync(
      wave,
      clocked({ rst_n: 1, fifo_wptr: 3, fifo_rptr: 3, valid: 1, ready: 1 }, [
        { rst_n: 0, fifo_wptr: 0, fifo_rptr: 0, valid: 0, ready: 1 },
        { rst_n: 1, fifo_wptr: 1, valid: 1 },
        { fifo_rptr: 1, valid: 0 },
      ]).bytes,
    );
    expect(await runUscope(['convert', wave, '-o', out])).toMatchObject({
      status: 1,
      err: expect.stringContaining('--guess'),
    });
    const guess = await runUscope(['convert', wave, '--guess']);
    expect(guess.out).toContain('clock: tb.clk\nreset: "!tb.rst_n"\n');
    expect(guess.out).toContain('{write: fifo_wptr, read: fifo_rptr}');
    expect(guess.out).not.toContain('rvfi');
    writeFileSync(map, guess.out);
    expect((await runUscope(['convert', wave, '--map', map, '-o', out])).status).toBe(0);
    const dump = await runUscope(['dump', wave]);
    expect(dump.out).toContain('15 tb.fifo_wptr 001\n');
    expect((await runUscope(['info', wave])).out).toContain('tb.fifo_wptr');
    expect(await new VcdTrace(memorySource(clocked({ a: 1 }, [{}]).bytes)).guess()).toContain(
      'clock: tb.clk',
    );
  });
});
