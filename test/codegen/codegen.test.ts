/** Generated code meets the tools of its language: it is clean, and it makes the calls it promises, the same in every language. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckpointSnapshot, TraceWriter } from '../../sdk/src/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { type CoreTrace, coreOpen, FlushReason } from '../vectors/codegen/core.js';
import {
  Class,
  HostileTrace,
  Level,
  SCHEMA_SHA256,
  ST_ALL_TYPES,
  ST_SIGNED_COUNTER,
  St,
  type Writer,
} from '../vectors/codegen/hostile.js';
import { WideTrace, type Writer as WideWriter } from '../vectors/codegen/wide.js';
import {
  C_PROGRAM,
  EXPECTED,
  EXPECTED_LANES,
  EXPECTED_SNAPSHOTS,
  PACKED_EVENT,
  PYTHON_PROGRAM,
  SV_PROGRAM,
} from './programs.js';
import { ROOT, VECTORS, writeRecorder } from './recorder.js';
import {
  C_WIDE,
  CPP_WIDE,
  EXPECTED_WIDE,
  EXPECTED_WIDE_SNAPSHOT,
  icarusModule,
  PACKED_BURST,
  PYTHON_WIDE,
} from './wide-programs.js';

// Generated code is compiled, and SystemVerilog simulated.
limitOfFile(BUILDS_MS);

const NAMES = ['core', 'hostile', 'plain', 'wide'] as const;
const OPENED = `open t ${SCHEMA_SHA256.slice(0, 8)} site=lab,lane=3,class=c,trace_name=x,core=-1`;
const WARNINGS = [
  '-Wall',
  '-Wextra',
  '-Wconversion',
  '-Wsign-conversion',
  '-Wshadow',
  '-pedantic',
  '-Werror',
];

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-codegen-'));
  writeRecorder(directory);
  cpSync(VECTORS, directory, { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The environment that `npm test` makes has pyslang and mypy. */
const VENV_PYTHON = fileURLToPath(new URL('../../cocotb-adapter/.venv/bin/python', import.meta.url));
const PYTHON = existsSync(VENV_PYTHON) ? VENV_PYTHON : 'python3';

const succeeds = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Runs a tool in the directory; what it says is part of the failure. */
function run(program: string, ...args: string[]): string {
  const result = spawnSync(program, args, { cwd: directory, encoding: 'utf8' });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${program} ${args.join(' ')}\n${result.stdout}${result.stderr}`);
  return result.stdout + result.stderr;
}

const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return name;
};
const lines = (text: string): string[] => text.trimEnd().split('\n');

describe('C', () => {
  it.each(
    NAMES.flatMap((name) => [
      [name, 'gcc', 'c11', 'c'] as const,
      [name, 'g++', 'c++11', 'cpp'] as const,
      [name, 'g++', 'c++20', 'cpp'] as const,
    ]),
  )('%s: %s -std=%s has nothing to say', (name, compiler, standard, extension) => {
    const source = file(`only_${name}.${extension}`, `#include "${name}.h"\n#include "${name}.h"\n`);
    expect(run(compiler, `-std=${standard}`, ...WARNINGS, '-fsyntax-only', source)).toBe('');
  });

  it('makes the calls it promises', () => {
    run('gcc', '-std=c11', ...WARNINGS, '-o', 'program', file('program.c', C_PROGRAM), 'recorder.c');
    expect(lines(run('./program'))).toEqual([
      OPENED,
      ...EXPECTED,
      ...EXPECTED_SNAPSHOTS,
      ...EXPECTED_LANES,
      PACKED_EVENT,
    ]);
  });
});

describe('SystemVerilog', () => {
  it.each(NAMES)('%s: verilator --lint-only -Wall has nothing to say', (name) =>
    expect(run('verilator', '--lint-only', '-Wall', '-I.', 'uscope_pkg.sv', `${name}.sv`)).toBe(''),
  );

  it.skipIf(lacks('pyslang', succeeds(PYTHON, '-c', 'import pyslang'))).each(NAMES)(
    '%s: pyslang has nothing to say',
    (name) => {
      const script = file(
        'check.py',
        `import sys, pyslang
try:
    from pyslang.ast import Compilation
    from pyslang.syntax import SyntaxTree
except ImportError:
    from pyslang import Compilation, SyntaxTree
compilation = Compilation()
for path in sys.argv[1:]:
    compilation.addSyntaxTree(SyntaxTree.fromFile(path))
for diagnostic in compilation.getAllDiagnostics():
    print(diagnostic.code, diagnostic.args, diagnostic.location.offset)
`,
      );
      expect(run(PYTHON, script, 'uscope_pkg.sv', `${name}.sv`)).toBe('');
    },
  );

  it('makes the calls it promises', () => {
    file('top.sv', SV_PROGRAM);
    const options = [
      '--binary',
      '-Wall',
      '-I.',
      '-CFLAGS',
      '-I..',
      '-MAKEFLAGS',
      'OPT_FAST=-O0 OPT_GLOBAL=-O0',
      '--Mdir',
      'obj',
      '--top-module',
      'top',
    ];
    run('verilator', ...options, 'uscope_pkg.sv', 'hostile.sv', 'top.sv', 'recorder.c', 'unused.c');
    const printed = lines(run('obj/Vtop')).filter((line) => !line.startsWith('- '));
    expect(printed).toEqual([OPENED, ...EXPECTED, ...EXPECTED_SNAPSHOTS, ...EXPECTED_LANES]);
  });
});

describe('Python', () => {
  it.each(NAMES)('%s compiles', (name) => expect(run('python3', '-m', 'py_compile', `${name}.py`)).toBe(''));

  it.skipIf(lacks('mypy', succeeds(PYTHON, '-m', 'mypy', '--version')))('is clean for mypy --strict', () => {
    file('program.py', PYTHON_PROGRAM);
    run(PYTHON, '-m', 'mypy', '--strict', ...NAMES.map((name) => `${name}.py`), 'program.py');
  });

  it('makes the calls it promises', () => {
    expect(lines(run('python3', file('program.py', PYTHON_PROGRAM)))).toEqual([OPENED, ...EXPECTED]);
  });
});

describe('TypeScript', () => {
  it('makes the calls it promises', () => {
    const calls: string[] = [];
    const log = (...words: unknown[]): void => void calls.push(words.map((word) => String(word)).join(' '));
    const value = (given: unknown): unknown => (typeof given === 'boolean' ? Number(given) : given);
    const writer: Writer = {
      slotSet: (storage, slot, field, given) => {
        if (typeof given === 'string') log('string', given);
        log('set', storage, slot, field, typeof given === 'string' ? 0 : value(given));
      },
      slotClear: (storage, slot) => log('clear', storage, slot),
      slotAdd: (storage, slot, field, delta) => log('add', storage, slot, field, delta),
      propSet: (storage, property, given) => log('prop', storage, property, value(given)),
      event: (type, fields) => log('event', type, ...(fields as readonly unknown[])),
    };
    const t = new HostileTrace(writer);
    t.w.set(255);
    t.signedCounter.add(-5);
    t.signedCounter.set(-32768);
    t.state.set(Class.MRO);
    t.label.set('a "b"');
    t.endmodule.put(65534, 1, 65535, Class.MODULE);
    t.endmodule.clear(65534);
    t.allTypes.put(
      1,
      1,
      65535,
      0xffff_ffff,
      -1n,
      -128,
      -32768,
      -(2 ** 31),
      -(1n << 63n),
      true,
      7,
      Class.TRUE,
      Level.HIGH,
    );
    t.allTypes.propPi(-2);
    t.allTypes.propPb(true);
    t.allTypes.propPe(St.DENSE);
    t.evNothing();
    t.evKeywords(1, 2, 3, 4, 5, 6, 7, 8);
    t.laneSiteShared.add(18);
    expect(calls).toEqual(EXPECTED);
  });

  it('names the storage of a snapshot', () => {
    const given: unknown[] = [];
    const checkpoint: CheckpointSnapshot = { timePs: 0n, storage: (...args) => void given.push(args) };
    const bytes = Uint8Array.of(1, 2);
    const t = new HostileTrace({} as Writer);
    t.signedCounter.snapshot(checkpoint, bytes);
    t.allTypes.snapshot(checkpoint, bytes);
    expect(given).toEqual([
      [ST_SIGNED_COUNTER, bytes],
      [ST_ALL_TYPES, bytes],
    ]);
    expect([ST_SIGNED_COUNTER, ST_ALL_TYPES]).toEqual([3, 8]);
  });

  it('writes a trace of the schema it was generated from, with its variables', async () => {
    const schemaText = readFileSync(join(VECTORS, 'core.yaml'), 'utf8');
    const path = join(directory, 'core7.uscope');
    const trace: CoreTrace<TraceWriter> = await coreOpen({ path, schemaText }, { core: 7 });
    trace.writer.beginCycle(1000);
    trace.entities.put(3, 11, 0x8000_0000_0000_0001n, 0x13);
    trace.rob.propRetirePtr(2);
    trace.committedInsns.add(1);
    trace.evFlush(11, FlushReason.INTERRUPT);
    trace.evAnnotate(11, 'text');
    trace.writer.endCycle();
    expect(await trace.writer.close()).toMatchObject({ frames: 1n, items: 7n, strings: 1n });

    const reader = await openTraceFile(path);
    expect(reader.names.storageNames).toContain('core7/rob');
    expect(reader.schema.storages.map((def) => def.name)).toEqual([
      'entities',
      'regs',
      'rob',
      'committed_insns',
      'cycles',
    ]);
    await reader.close();
  });

  it('refuses another schema', async () => {
    const schemaText = readFileSync(join(VECTORS, 'core.yaml'), 'utf8').replace('slots: 64', 'slots: 128');
    const opening = coreOpen({ path: join(directory, 'other.uscope'), schemaText });
    await expect(opening).rejects.toThrow(
      /SCHEMA_MISMATCH: .*changed or new: storage "core\$\{core\}\/entities"; changed or gone: 1/,
    );
  });
});

describe('values of more than 64 bits', () => {
  const opened = /^open t [0-9a-f]{8} $/;
  const whole = [...EXPECTED_WIDE, EXPECTED_WIDE_SNAPSHOT];

  it('C', () => {
    run('gcc', '-std=c11', ...WARNINGS, '-o', 'wide', file('wide.c', C_WIDE), 'recorder.c');
    expect(lines(run('./wide'))).toEqual([expect.stringMatching(opened), ...whole, PACKED_BURST]);
  });

  it('C++ takes arrays of the right size', () => {
    const source = file('wide.cpp', CPP_WIDE);
    const check = ['-std=c++17', ...WARNINGS, '-I', join(ROOT, 'dpi/include'), '-fsyntax-only'];
    expect(run('g++', ...check, source)).toBe('');
    file('other.cpp', CPP_WIDE.replace('vregs.put(4, other, bus, 7)', 'vregs.put(4, bus, bus, 7)'));
    expect(() => run('g++', ...check, 'other.cpp')).toThrow('array');
  });

  // Verilator knows no x and z.
  it.skipIf(lacks('iverilog', succeeds('iverilog', '-V')))('SystemVerilog, with x and z', () => {
    const source = icarusModule(readFileSync(join(directory, 'wide.sv'), 'utf8'));
    run('iverilog', '-g2012', '-o', 'wide.vvp', file('icarus.sv', source));
    expect(lines(run('vvp', 'wide.vvp'))).toEqual(whole);
  });

  it('Python', () =>
    expect(lines(run('python3', file('wide_program.py', PYTHON_WIDE)))).toEqual(EXPECTED_WIDE));

  it('TypeScript', () => {
    const calls: string[] = [];
    const log = (...words: unknown[]): void => void calls.push(words.join(' '));
    const signed = (value: unknown): bigint => BigInt.asIntN(64, BigInt(value as bigint));
    const t = new WideTrace<WideWriter>({
      slotSet: (storage, slot, field, value) => log('set', storage, slot, field, signed(value)),
      slotClear: () => undefined,
      slotAdd: () => undefined,
      propSet: (storage, property, value) => log('prop', storage, property, signed(value)),
      event: (type, values) => log('event', type, ...(values as readonly unknown[])),
    });
    t.vregs.setData(3, (0xffff_ffff_ffff_fffen << 64n) | 1n);
    t.vregs.put(4, (6n << 64n) | 5n, [(165n << 64n) | 240n, (128n << 64n) | 240n], 7);
    t.vregs.propLine((1n << 64n) | 9n);
    t.evBeat(2, [(((1n << 36n) - 1n) << 64n) | 3n, (1n << 99n) | 1n]);
    expect(calls).toEqual(EXPECTED_WIDE);
  });
});
