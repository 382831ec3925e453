/** SystemC: what the trace file, transactions and the TLM recorder record, and what they report. One program, compiled once. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FtrType } from '../../sdk/src/formats/ftr/types.js';
import { memorySource } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { TRIES_ALL } from '../support/effort.js';
import { contentOf } from '../support/ftr-fixtures.js';
import { checkFtrRules } from '../support/ftr-rules.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';
import { runUscope } from '../support/run-cli.js';
import { callsOf, transfersOf } from './systemc-transport.js';
import { differences, stepsOf } from './systemc-values.js';

// SystemC's headers are compiled.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const probe = ['-x', 'c++', '-std=c++17', '-fsyntax-only', '-'];
const hasSystemC = spawnSync('g++', probe, { input: '#include <sysc/kernel/sc_ver.h>\n' }).status === 0;
const isMissing = lacks('SystemC (libsystemc-dev)', hasSystemC);
let directory = '';

const SOURCE = join(ROOT, 'test/cpp/systemc.cpp');
const FLAGS = ['-Wall', '-Wextra', '-Wconversion', '-Wshadow', '-Wpedantic', '-Werror', '-O0'];
// Debian's library is of C++17; the first compiler that works is used.
/** Of systemc.cpp. */
const KILLS = 24;
const NEWER = ['clang++', '-std=c++20', '-DSC_CPLUSPLUS=201703L'];
// g++ cannot leave SystemC's headers out of a check: test/cpp/systemc/library.hpp.
const UNCHECKED = '-fno-sanitize=shift';
const OLDER = ['g++', '-std=c++17', UNCHECKED];

beforeAll(() => {
  if (isMissing) return;
  buildSdk();
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
  directory = mkdtempSync(join(tmpdir(), 'uscope-systemc-'));
  const hasClang = spawnSync('clang++', ['--version']).status === 0;
  build(hasClang ? NEWER : OLDER, 'systemc');
  results = runAll('systemc', 'out');
});

/** Sanitizers take as much of the compiler's time as the rest: they come where every case is tried. */
const SANITIZERS = TRIES_ALL ? ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'] : [];

function build([compiler, ...standard]: string[], name: string): void {
  execFileSync(compiler!, [
    ...[...FLAGS, ...SANITIZERS, ...standard],
    ...['-I', join(ROOT, 'dpi/include'), '-o', join(directory, name), SOURCE],
    ...[join(ROOT, 'dpi/build/libuscope.a'), '-lsystemc', '-lzmq', '-lpthread'],
  ]);
}
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PARTS = [
  ...['signals', 'killed', 'exception', 'gone', 'names', 'hostile', 'transactions', 'managed', 'tlm'],
  ...['direct', 'transport', 'unbound', 'mixed', 'types', 'femtoseconds', 'nanoseconds'],
] as const;
type Part = (typeof PARTS)[number];

/** All parts one after the other, each in a process, with one daemon: what each said, and how it ended. */
function runAll(program: string, out: string) {
  const env = { ...process.env, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE: '1', ASAN_OPTIONS: 'detect_leaks=0' };
  const args = [BIN, 'run', '--out', out, '--', join(directory, program), 'all', ...PARTS];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: directory, env });
  const sections = (text: string) => text.split(/^== /m).slice(1);
  const said = sections(stderr);
  return sections(stdout).map((text, i) => {
    const codes = [...(text + said[i]).matchAll(/Warning: \/uscope\/(\w+): (.*)/g)];
    return {
      part: text.slice(0, text.indexOf('\n')),
      stdout: text,
      status: Number(/ended with (-?\d+)/.exec(text)?.[1]),
      codes: codes.map(([, code]) => code),
      messages: codes.map(([, , message]) => message),
    };
  });
}
let results: ReturnType<typeof runAll> = [];
const run = (part: Part) => results.find((one) => one.part === part)!;
const fileOf = (name: string): string => join(directory, 'out', `${name}.uscope`);

/** Its transactions in FTR, whose bytes keep the rules. */
async function ftrOf(name: string) {
  const ftr = join(directory, `${name}.ftr`);
  expect((await runUscope(['convert', '--force', fileOf(name), '-o', ftr])).status).toBe(0);
  const bytes = readFileSync(ftr);
  const content = await contentOf(memorySource(bytes));
  const { transactions, relations } = checkFtrRules(bytes);
  expect([transactions, relations]).toEqual([content.transactions.length, content.relations.length]);
  return content;
}
/** The copy that the daemon made when the trace was complete. */
const copyOf = (name: string) => contentOf(memorySource(readFileSync(join(directory, 'out', `${name}.ftr`))));

it
  .skipIf(isMissing || lacks('USCOPE_TEST_ALL=1 (other compilers)', TRIES_ALL))
  .each([OLDER, ['g++', '-std=c++20', '-DSC_CPLUSPLUS=201703L', UNCHECKED], ['clang++', '-std=c++17']])(
  '%s %s: the same',
  (...compiler) => {
    build(compiler, 'other');
    const shown = ({ part, status, codes }: (typeof results)[number]) => ({ part, status, codes });
    expect(runAll('other', 'out-other').map(shown)).toEqual(results.map(shown));
  },
);

it.skipIf(isMissing)('signals that do not fit are counted at the end, which is status 3', async () => {
  const env = { ...process.env, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE: '1', ASAN_OPTIONS: 'detect_leaks=0' };
  const args = [BIN, 'run', '--out', 'out-many', '--', join(directory, 'systemc'), 'many'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: directory,
    env,
  });
  expect(status).toBe(3);
  const [, leftOut] = /many: OP_STORAGE: (\d+) signals do not fit/.exec(stderr) ?? [];
  expect(stderr).toContain(`${leftOut} rejected, 0 lost`);
  const trace = await openTraceFile(join(directory, 'out-many', 'many.uscope'));
  const names = trace.schema.storages.flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(names.length + Number(leftOut)).toBe(6403);
  // A warning about a name is about a signal that is recorded.
  for (const [, as] of (stdout + stderr).matchAll(/the second is recorded as "([^"]+)"/g))
    expect(names).toContain(as);
  await trace.close();
});

describe.skipIf(isMissing)('every part', () => {
  it('ends by itself, or is killed where it kills itself', () => {
    const ends = results.map(({ part, status }) => [part, status]);
    const wanted = PARTS.map((part) => [part, part === 'killed' ? -9 : 0]);
    expect(ends).toEqual([...wanted, ...Array.from({ length: KILLS }, () => ['kill', -9])]);
  });

  it('has every call that had returned when it is killed, whichever that was', async () => {
    for (let calls = 1; calls <= KILLS; calls++) {
      const trace = await openTraceFile(fileOf(`kill${calls}`));
      const state = await trace.stateAt(trace.totalTimePs);
      let found = 0;
      for await (const _ of trace.events(0n, undefined, ['tr/begin', 'tr/number', 'tr/end'])) found++;
      expect([Number(state.slotField('signals', 0, 'done')), found]).toEqual([calls, calls]);
      await trace.close();
    }
  });
});

describe.skipIf(isMissing).each([
  ['bits32', 32],
  ['bits256', 64],
  ['own64', 64],
])('TLM transfers of sockets %s, through two recorders', (link, bits) => {
  it('arrive as without recorders: phases, delays, data, responses, DMI, debug, extensions, exceptions', () => {
    const calls = callsOf(run('transport').stdout, link);
    expect(calls).toHaveLength(91);
    expect(calls).toEqual(callsOf(run('direct').stdout, link));
    expect(run('transport').stdout).toContain('> open 0\n');
  });

  it('are recorded with times, attributes and phases', async () => {
    const { of, phasesOf } = transfersOf(await ftrOf('transport'), link);
    const data = (first: bigint) => {
      let value = 0n;
      for (let i = 7n; i >= 0n; i--) value = (value << 8n) | (first + i);
      return BigInt.asUintN(bits, value);
    };
    const shown = (fiber: string) =>
      of(fiber).map(({ start, end, get }) => [get('addr'), start / 1000n, end / 1000n, get('response')]);
    const ok = 'TLM_OK_RESPONSE';
    for (const recorder of ['outer', 'inner']) {
      expect(shown(`${recorder}.b`)).toEqual([
        [0x100n, 105n, 115n, ok],
        [0x200n, 145n, 155n, ok],
        [0x900n, 185n, 195n, 'TLM_BURST_ERROR_RESPONSE'],
        [0x800n, 225n, 225n, 'exception'],
        [0xa00n, 265n, 295n, ok],
      ]);
      expect(shown(`${recorder}.nb`)).toEqual([
        [0x100n, 336n, 378n, ok],
        [0x200n, 417n, 440n, ok],
        [0x300n, 483n, 489n, ok],
        [0x400n, 528n, 532n, ok],
        [0x500n, 568n, 589n, ok],
        [0x600n, 634n, 661n, ok],
        [0x700n, 700n, 727n, ok],
        [0x800n, 766n, 766n, 'exception'],
        [0x100n, 805n, 840n, ok],
        [0x200n, 806n, 829n, ok],
      ]);
      expect(of(`${recorder}.nb`).map((one) => phasesOf(recorder, one.id))).toEqual([
        ['BEGIN_REQ 336', 'END_REQ 357', 'BEGIN_RESP 372', 'END_RESP 378'],
        ['BEGIN_REQ 417', 'END_REQ 419', 'BEGIN_RESP 438', 'END_RESP 440'],
        ['BEGIN_REQ 483', 'BEGIN_RESP 486', 'END_RESP 489'],
        ['BEGIN_REQ 528'],
        ['BEGIN_REQ 568', 'BEGIN_RESP 589'],
        ['BEGIN_REQ 634', 'BEGIN_RESP 655', 'END_RESP 661'],
        ['BEGIN_REQ 700', 'BEGIN_RESP 721', 'REFRESH 725', 'END_RESP 727'],
        ['BEGIN_REQ 766'],
        ['BEGIN_REQ 805', 'END_REQ 826', 'BEGIN_RESP 841', 'END_RESP 840'],
        ['BEGIN_REQ 806', 'END_REQ 808', 'BEGIN_RESP 827', 'END_RESP 829'],
      ]);
      const early = of(`${recorder}.nb`).filter(({ get }) => get('early_completion') === true);
      expect(early.map(({ get }) => get('addr'))).toEqual([0x400n, 0x500n]);
      const [written, read] = of(`${recorder}.b`);
      expect(written!.names).toEqual([
        'cmd',
        'addr',
        'len',
        'data',
        'tag',
        'tag_after',
        'response',
        'dmi_allowed',
      ]);
      expect([written!.get('cmd'), written!.get('data'), written!.get('dmi_allowed')]).toEqual([
        'write',
        data(1n),
        true,
      ]);
      expect([written!.get('tag'), written!.get('tag_after')]).toEqual([7n, 8n]);
      expect([read!.get('cmd'), read!.get('data')]).toEqual(['read', data(1n)]);
      const width = link === 'bits32' ? undefined : 4n; // 4 bytes are its data length
      expect([read!.get('streaming_width'), read!.get('byte_enable_len')]).toEqual([width, 2n]);
      const answers = of(`${recorder}.dmi`).map(({ get }) => [get('granted'), get('response'), get('end')]);
      expect(answers).toEqual([
        [true, undefined, 0x13fn],
        [false, undefined, 0x13fn],
        [undefined, 'exception', undefined],
        [undefined, undefined, 0x13fn], // invalidated
      ]);
      expect(of(`${recorder}.debug`).map(({ get }) => get('bytes') ?? get('response'))).toEqual([
        4n,
        4n,
        'exception',
      ]);
    }
  });

  it('have parents in the recorder before, and predecessors in the same', async () => {
    const { of, related } = transfersOf(await ftrOf('transport'), link);
    for (const fiber of ['b', 'nb']) {
      const [outer, inner] = ['outer', 'inner'].map((recorder) => of(`${recorder}.${fiber}`));
      expect(inner!.map(({ id }) => related('parent_of', id))).toEqual(outer!.map(({ id }) => [id]));
      expect(outer!.map(({ id }) => related('parent_of', id))).toEqual(outer!.map(() => []));
      for (const transfers of [outer!, inner!]) {
        const before = transfers.map((_, i) => (i > 0 ? [transfers[i - 1]!.id] : []));
        expect(transfers.map(({ id }) => related('pred', id))).toEqual(before);
      }
    }
  });
});

describe.skipIf(isMissing)('delta cycles, widths, stopping', () => {
  const valuesOf = async (name: string) => {
    const { out } = await runUscope(['dump', '--jsonl', fileOf(name)]);
    return [...out.matchAll(/"count"[^0-9]*?(\d+)/g)].map(([, value]) => Number(value));
  };

  it('records delta cycles where they are asked for, else the last of a time step', async () => {
    expect(await valuesOf('deltas')).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await valuesOf('steps')).toEqual([4, 8]);
  });

  it('stops where a report of ours has that action; the file is whole', async () => {
    const { stdout, messages } = run('mixed');
    expect(stdout).toContain('stopped at 3 ns');
    expect(stdout).not.toContain('not reached');
    expect(messages.filter((text) => text?.includes('"lonely"'))).toHaveLength(2);
    const trace = await openTraceFile(fileOf('widths'));
    expect(trace.isComplete).toBe(true);
    await trace.close();
  });

  it('records sockets of 32 and 256 bits, and fibers that no switch by wildcard has turned off', async () => {
    const { stdout } = run('mixed');
    for (const bits of [32, 256]) expect(stdout).toContain(`${bits} bits: TLM_OK_RESPONSE, dmi 0, debug 0`);
    const { transactions, declarations } = await ftrOf('widths');
    const nameOf = new Map(declarations.map(({ id, name }) => [id, name]));
    const of = (fiber: string) => transactions.filter(({ stream }) => nameOf.get(stream) === fiber);
    expect(of('narrow.b')).toEqual([]);
    for (const name of ['usual', 'wide']) {
      const [one] = of(`${name}.b`);
      const attributes = Object.fromEntries(one!.attributes.map((a) => [a.name, a.value]));
      const data = name === 'wide' ? 0x1111_1111_1111_1111n : 0x1111_1111n;
      expect(attributes).toMatchObject({ cmd: 'read', data, response: 'TLM_OK_RESPONSE' });
      expect(attributes.streaming_width).toBe(name === 'wide' ? 4n : undefined);
    }
    expect(of('usual.dmi').map(({ attributes }) => attributes.map((a) => a.name))).toEqual([
      ['start', 'end'],
      expect.arrayContaining(['granted']),
    ]);
  });
});

describe.skipIf(isMissing)('every overload of sc_trace', () => {
  it('records in each step what SystemC says of the object', async () => {
    const { stdout, codes } = run('types');
    expect(codes).toEqual([]);
    const steps = stepsOf(stdout);
    expect(steps).toHaveLength(12);
    const trace = await openTraceFile(fileOf('types'));
    for (const step of steps) {
      expect(step.values).toHaveLength(594);
      expect(await differences(trace, 'top/types/signals', step)).toEqual([]);
    }
    const fields = trace.names.storage('top/types/signals').fields.map((one) => one.name);
    expect(fields).not.toContain('nothing');
    await trace.close();
  });

  it('records events and comments in the time step in which they come', async () => {
    const names = ['--event', 'top/types/event', '--event', 'sc/comment', '--event', 'sc/report'];
    const { out } = await runUscope(['events', fileOf('types'), ...names, '--from', '1']);
    expect(
      out
        .trim()
        .replace(/ {2}cycle \d+/g, '')
        .split('\n'),
    ).toEqual([
      '3000 ps  event  top/types/event',
      '4000 ps  event  sc/comment text="step 4"',
      '6000 ps  event  sc/comment text="six of 12"',
      '6000 ps  event  top/types/event',
      '8000 ps  event  sc/comment text="step 8"',
      '9000 ps  event  top/types/event',
      '12000 ps  event  sc/comment text="step 12"',
      '12000 ps  event  top/types/event',
    ]);
  });

  it.each([
    ['femtoseconds', [1n, 4n, 9n]],
    ['nanoseconds', [1_500_000n, 4_500_000n, 9_000_000n]],
  ] as const)('counts in ps where the kernel counts in %s', async (name, ends) => {
    const { transactions } = await ftrOf(name);
    expect(transactions.map(({ end }) => end)).toEqual(ends);
    const trace = await openTraceFile(fileOf(name));
    for (const [i, attributes] of transactions.map((one) => one.attributes).entries()) {
      const state = await trace.stateAt(ends[i]! - 1n);
      expect(state.slotField('signals', 0, 'when')).toBe(attributes[0]!.value);
    }
    await trace.close();
  });
});

describe.skipIf(isMissing)('a trace file', () => {
  it('records every type, and reports what it refuses', async () => {
    const { codes, messages } = run('signals');
    expect(codes).toEqual(['SCHEMA_DUPLICATE', 'OP_LATE']);
    expect(messages[1]).toContain('"top.late"');
    const trace = await openTraceFile(fileOf('signals'));
    const state = await trace.stateAt(6000n);
    const f64 = (value: number): bigint => new BigUint64Array(new Float64Array([value]).buffer)[0]!;
    // As the trace holds them: the bits of the field's type.
    const values: Record<string, bigint> = {
      flag: 1n,
      count: BigInt.asUintN(32, -7n),
      'wide.bits70.0': 0b10101n,
      'wide.bits70.x0': 0b01100n,
      bits: 21n,
      logic: 3n,
      small: BigInt.asUintN(32, -700n),
      large: (1n << 32n) + 7n,
      'huge.bits90.0': 0n,
      'huge.bits90.1': BigInt.asUintN(26, -7n << 6n),
      full: (1n << 64n) - 1n,
      'real.f64': f64(1.75),
      'fixed.f64': f64(-10.5),
      when: 7000n,
      array_3: 7n,
      word: 9n,
      state: 3n,
      flag_2: 1n,
    };
    for (const [field, value] of Object.entries(values)) {
      expect([field, BigInt(state.slotField('top/s/signals', 0, field)!)]).toEqual([field, value]);
    }
    expect(Number(state.slotField('signals', 0, 'bit'))).toBe(1);
    const count = async (name: string) => {
      let found = 0;
      for await (const _ of trace.events(0n, undefined, [name])) found++;
      return found;
    };
    expect(await count('top/s/event')).toBe(20);
    expect(await count('sc/phase')).toBe(4);
    expect(await count('sc/comment')).toBe(1);
    await trace.close();
  });

  it('has what was recorded when the model is killed', async () => {
    run('killed');
    const trace = await openTraceFile(fileOf('killed'));
    const state = await trace.stateAt(trace.totalTimePs);
    expect(Number(state.slotField('top/s/signals', 0, 'count'))).toBe(2 ** 32 - 500);
    await trace.close();
    const { transactions } = await ftrOf('killed_tx');
    expect((await copyOf('killed_tx')).transactions).toEqual(transactions);
    expect(transactions.map(({ start, attributes }) => [start, attributes[0]?.value])).toEqual([
      [500_000n, 500n],
    ]);
  });

  it('has the error of a process that throws, and is whole', async () => {
    expect(run('exception').stdout).toContain('caught');
    const trace = await openTraceFile(fileOf('exception'));
    const { out } = await runUscope(['events', fileOf('exception')]);
    const report = 'severity=error type="model" message="it broke" process="bad.run"';
    expect(out).toContain(report);
    expect((await runUscope(['events', fileOf('second')])).out).toContain(report);
    expect(trace.isComplete).toBe(true);
    await trace.close();
  });

  it('may be closed after the model is gone, and has its last time step', async () => {
    run('gone');
    const trace = await openTraceFile(fileOf('gone'));
    const state = await trace.stateAt(trace.totalTimePs);
    expect(Number(state.slotField('top/s/signals', 0, 'word'))).toBe(-20 & 15);
    expect(state.slotField('top/s/signals', 0, 'when')).toBe(20_000n);
    await trace.close();
  });

  it('keeps names apart, and reports what does not fit', async () => {
    const { codes, messages } = run('names');
    expect(codes).toEqual(['SCHEMA_LIMIT', 'OP_HANDLE', 'OP_HANDLE']);
    const refused = Number(/x(\d+)" does not fit/.exec(messages[0]!)![1]);
    expect(refused).toBeGreaterThan(200);
    const trace = await openTraceFile(fileOf('names'));
    const state = await trace.stateAt(trace.totalTimePs);
    const fields = trace.schema.storages.flatMap((one) => one.fields.map((field) => field.name));
    expect(fields.filter((name) => /^x{200}\d+$/.test(name))).toHaveLength(refused);
    expect(Number(state.slotField('top/signals', 0, 'signals'))).toBe(1);
    expect(Number(state.slotField('top/signals/signals', 0, 'x'))).toBe(1);
    expect(Number(state.slotField('sc_/signals', 0, 'report'))).toBe(1);
    await trace.close();
  });
});

describe.skipIf(isMissing)('transactions', () => {
  it('have attributes, relations and times; misuse is reported', async () => {
    expect(run('transactions').codes).toEqual([
      'OP_TX_ATTRIBUTE',
      'OP_TX_ENDED',
      'OP_TX_ENDED',
      'OP_TX_CLOSED',
    ]);
    const content = await ftrOf('tx');
    expect(await copyOf('tx')).toEqual(content);
    const { transactions, relations } = content;
    expect(transactions.map(({ start, end }) => [start, end])).toEqual([
      [0n, 200n],
      [100n, 200n],
      [200n, 200n],
      [200n, 200n],
    ]);
    const shown = transactions.map(({ attributes }) => attributes.map(({ name, value }) => [name, value]));
    expect(shown[0]).toEqual([
      ['addr', 0xffffffff00000040n],
      ['burst', true],
      ['result', 'ok'],
    ]);
    expect(Object.fromEntries(shown[1]! as [string, unknown][])).toEqual({
      undeclared: -5n,
      real: 1.5,
      text: 'a "b"',
      string: 's',
      time: 3000n,
      int: -3n,
      uint: 3n,
      bv: '0101',
      lv: '01XZ',
      fixed: -2.25,
      logic: 'Z',
      view: 'vie',
      chars: 'chars',
      owed: -2n,
      ufixed: 2.5,
      ufix: 0,
    });
    const types = Object.fromEntries(transactions[1]!.attributes.map(({ name, type }) => [name, type]));
    expect([types.fixed, types.ufixed, types.ufix, types.owed]).toEqual([
      FtrType.FIXED_POINT_INTEGER,
      FtrType.UNSIGNED_FIXED_POINT_INTEGER,
      FtrType.UNSIGNED_FIXED_POINT_INTEGER,
      FtrType.INTEGER,
    ]);
    // Nothing of a fiber that is off, by itself or by a wildcard; it may be on again.
    expect(shown.slice(2)).toEqual([[], [['again', 4n]]]);
    expect(relations.map(({ name, source, sink }) => [name, source, sink])).toEqual([['next', 1n, 2n]]);
  });
});

describe.skipIf(isMissing)('types and settings of the user', () => {
  it('may report, throw and make warnings errors: nothing is lost, nothing ends the simulation', async () => {
    expect(run('hostile').stdout).toMatch(/thrown\n(.|\n)*closed\n/);
    const { transactions } = await ftrOf('hostile');
    const shown = transactions.map(({ attributes }) => attributes.map(({ name, value }) => [name, value]));
    expect(shown).toEqual([
      [['reports', 1n]],
      [
        ['throws', 1n],
        ['after', 2n],
        ['invalid', ''],
        ['string', 3n],
      ],
    ]);
    const { out } = await runUscope(['events', fileOf('hostile')]);
    expect(out.match(/type="model" message="reported"/g)).toHaveLength(2);
  });
});

describe.skipIf(isMissing)('a TLM recorder', () => {
  it('holds a payload that is released in the call, and ends a transfer that is never answered', async () => {
    expect(run('managed').stdout).toContain('freed 1\nopen 0\n');
    const { transactions, declarations } = await ftrOf('managed');
    const stream = declarations.find((one) => one.name === 'recorder.nb')!.id;
    const ends = transactions
      .filter((one) => one.stream === stream)
      .map(({ end, attributes }) => [
        end,
        attributes.find((one) => one.name === 'response')?.value,
        attributes.find((one) => one.name === 'early_completion')?.value,
      ]);
    expect(ends).toEqual([
      [50_000n, 'never completed', undefined],
      [70_000n, 'TLM_OK_RESPONSE', true],
    ]);
  });

  it('changes nothing of what passes, and records times, phases, early completion and relations', async () => {
    const { stdout, codes } = run('tlm');
    expect(codes).toEqual([]);
    expect(stdout).toContain(
      'b 15 ns TLM_OK_RESPONSE\nnb 2 BEGIN_REQ 4 ns\nnb 1 END_REQ 3 ns\ndata 1\ndmi 1\ndebug 8\n',
    );
    const { transactions, relations, declarations } = await ftrOf('tlm');
    const name = (id: bigint) => declarations.find((one) => one.id === id)!.name;
    const of = (stream: string) => transactions.filter((one) => name(one.stream) === stream);
    // b_transport: from the annotated delay before it to the one after it
    expect(of('outer.b').map(({ start, end }) => [start, end])).toEqual([[105_000n, 115_000n]]);
    expect(of('inner.nb').map(({ start, end }) => [start, end])).toEqual([
      [101_000n, 104_000n],
      [101_000n, 121_000n],
    ]);
    const attribute = (one: (typeof transactions)[number], wanted: string) =>
      one.attributes.find((attribute) => attribute.name === wanted)?.value;
    expect(of('outer.nb').map((one) => attribute(one, 'early_completion'))).toEqual([true, undefined]);
    expect(attribute(of('outer.b')[0]!, 'data')).toBe(0x1122334455667788n);
    expect(attribute(of('outer.b')[0]!, 'tag')).toBe(7n);
    expect(of('outer.phases').map((one) => attribute(one, 'phase'))).toEqual([
      ...['BEGIN_REQ', 'BEGIN_REQ', 'END_REQ', 'BEGIN_RESP', 'END_RESP'],
    ]);
    expect([of('outer.dmi').length, of('outer.debug').length]).toEqual([1, 1]);
    const parent = relations.find(({ sink }) => sink === of('inner.b')[0]!.id);
    expect(parent).toMatchObject({ name: 'parent_of', source: of('outer.b')[0]!.id });
    expect(relations.filter((relation) => relation.name === 'pred')).toHaveLength(2);
  });

  it('reports a socket that is not bound, and the simulation continues', () => {
    const { stdout, codes } = run('unbound');
    expect(codes).toEqual(['OP_UNBOUND']);
    expect(stdout).toContain('b 5 ns TLM_ADDRESS_ERROR_RESPONSE\n');
  });
});
