/**
 * What simulators that cannot run here need: the commands of sv/mk, a library that asks the loader for nothing unusual, and sources that
 * two front ends accept.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';

// Each design is built with the simulators that are there.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const LIBRARY = join(ROOT, 'dpi/build/libuscope_dpi.so');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-simulators-'));
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const CODEGEN = 'node $USCOPE/sdk/bin/uscope.js codegen core.yaml --sv --output core_trace_pkg.sv';
const RUN = 'node $USCOPE/sdk/bin/uscope.js run --schema core.yaml --out traces --';
const FILES = '$USCOPE/sv/uscope_pkg.sv $USCOPE/sv/uscope_cpu_pkg.sv core_trace_pkg.sv core.sv tracer.sv';
const LIB = '$USCOPE/dpi/build/libuscope_dpi';

/** Of each simulator: what compiles, and what runs. */
const COMMANDS: Record<string, string[]> = {
  verilator: [
    'rm -f obj_dir/Vtb',
    `verilator --binary --top-module tb -I$USCOPE/sv -LDFLAGS "${LIB}.a -lzmq -lpthread" +define+X ${FILES}`,
    `${RUN} obj_dir/Vtb +seed=7`,
  ],
  vcs: [
    `vcs -full64 -sverilog -timescale=1ns/1ps +incdir+$USCOPE/sv +define+X ${FILES} -top tb -o simv`,
    `${RUN} ./simv -sv_lib ${LIB} +seed=7`,
  ],
  questa: [
    'vlib work',
    `vlog -64 -sv -timescale 1ns/1ps +incdir+$USCOPE/sv +define+X ${FILES}`,
    'touch uscope_compiled',
    `${RUN} vsim -64 -c -sv_lib ${LIB} +seed=7 tb -do "run -all; quit -f"`,
  ],
  xcelium: [
    `xrun -64bit -sv -elaborate -timescale 1ns/1ps -incdir $USCOPE/sv +define+X ${FILES} -top tb -sv_lib ${LIB}.so`,
    'touch uscope_compiled',
    `${RUN} xrun -64bit -R -sv_lib ${LIB}.so +seed=7`,
  ],
  riviera: [
    'vlib work',
    `vlog -timescale 1ns/1ps +incdir+$USCOPE/sv +define+X ${FILES}`,
    'touch uscope_compiled',
    `${RUN} vsim -c -do "vsim -sv_lib ${LIB} +seed=7 tb; run -all; exit"`,
  ],
  dsim: [
    `dsim -timescale 1ns/1ps +incdir+$USCOPE/sv +define+X ${FILES} -top work.tb -genimage image`,
    'touch uscope_compiled',
    `${RUN} dsim -image image -sv_lib ${LIB}.so +seed=7`,
  ],
};

describe('the Makefile fragments', () => {
  beforeAll(() => {
    for (const name of ['core.yaml', 'core.sv', 'tracer.sv']) writeFileSync(join(directory, name), '');
    writeFileSync(
      join(directory, 'Makefile'),
      [
        'USCOPE_SOURCES := core.sv tracer.sv',
        'USCOPE_PACKAGES := uscope_cpu_pkg',
        'USCOPE_FLAGS := +define+X',
        'USCOPE_RUN_FLAGS := +seed=7',
        'include $(USCOPE)/sv/mk/$(SIMULATOR).mk',
      ].join('\n'),
    );
  });

  /** With single blanks: where a variable is empty make leaves two. */
  const commandsOf = (simulator: string, target: string[]): string[] =>
    execFileSync(
      'make',
      ['-n', '--no-print-directory', `USCOPE=${ROOT}`, `SIMULATOR=${simulator}`, ...target],
      { cwd: directory, encoding: 'utf8' },
    )
      .trimEnd()
      .split('\n')
      .map((line) => line.replaceAll(ROOT, '$USCOPE').replace(/ {2,}/g, ' ').trimEnd());

  /** What the documents say of one simulator: the page of Verilator, or what commercial simulators share and the section of one. */
  function pageOf(simulator: string): string {
    if (simulator === 'verilator') return read('docs/how-to/simulators/verilator.md');
    const [shared, ...sections] = read('docs/how-to/simulators/commercial.md').split(
      /^(?=## (?:VCS|Questa|Xcelium|Riviera-PRO|DSim)$)/m,
    );
    const own = sections.find((section) => section.toLowerCase().startsWith(`## ${simulator}`));
    expect(own).toBeDefined();
    return `${shared}${own}`;
  }

  it('are those of COMMANDS', () =>
    expect(readdirSync(join(ROOT, 'sv/mk')).sort()).toEqual(
      ['common', ...Object.keys(COMMANDS)].map((name) => `${name}.mk`).sort(),
    ));

  it.each(Object.entries(COMMANDS))('%s.mk: make runs the design', (simulator, commands) =>
    expect(commandsOf(simulator, [])).toEqual([CODEGEN, ...commands]),
  );

  it.each(Object.entries(COMMANDS))('%s: the page shows the flags of the commands', (simulator, commands) => {
    const page = pageOf(simulator);
    const flags = commands.join(' ').match(/(?<= )[-+][a-z_]\w*/gi) ?? [];
    const mine = ['--schema', '--out', '--', '+define', '+seed', '-f', '-do', '-p'];
    expect(flags.filter((flag) => !mine.includes(flag) && !page.includes(flag))).toEqual([]);
  });

  it('uscope-check needs no simulator, and finds what is missing', () => {
    const check = (...more: string[]) =>
      spawnSync('make', ['-n', `USCOPE=${ROOT}`, 'SIMULATOR=vcs', 'uscope-check', ...more], {
        cwd: directory,
        encoding: 'utf8',
      });
    expect(check().stdout).toContain('ldd');
    const real = spawnSync('make', ['-o', 'core_trace_pkg.sv', ...makeCheck('USCOPE_DPI=/nowhere')], {
      cwd: directory,
      encoding: 'utf8',
    });
    expect(real.status).not.toBe(0);
    expect(real.stdout).toContain('test -f /nowhere/libuscope_dpi.so');
  });
  const makeCheck = (...more: string[]) => [`USCOPE=${ROOT}`, 'SIMULATOR=vcs', 'uscope-check', ...more];
});

/** The functions that svdpi.h of IEEE 1800 (annex I) declares and that every simulator has to have. */
const SVDPI = new Set(
  `svDpiVersion svGetBitselBit svGetBitselLogic svPutBitselBit svPutBitselLogic svGetPartselBit svGetPartselLogic
   svPutPartselBit svPutPartselLogic svLeft svRight svLow svHigh svIncrement svSize svDimensions svGetArrayPtr svSizeOfArray
   svGetArrElemPtr svGetArrElemPtr1 svGetArrElemPtr2 svGetArrElemPtr3 svPutBitArrElemVecVal svPutBitArrElem1VecVal
   svPutBitArrElem2VecVal svPutBitArrElem3VecVal svPutLogicArrElemVecVal svPutLogicArrElem1VecVal svPutLogicArrElem2VecVal
   svPutLogicArrElem3VecVal svGetBitArrElemVecVal svGetBitArrElem1VecVal svGetBitArrElem2VecVal svGetBitArrElem3VecVal
   svGetLogicArrElemVecVal svGetLogicArrElem1VecVal svGetLogicArrElem2VecVal svGetLogicArrElem3VecVal svGetBitArrElem
   svGetBitArrElem1 svGetBitArrElem2 svGetBitArrElem3 svGetLogicArrElem svGetLogicArrElem1 svGetLogicArrElem2
   svGetLogicArrElem3 svPutLogicArrElem svPutLogicArrElem1 svPutLogicArrElem2 svPutLogicArrElem3 svPutBitArrElem
   svPutBitArrElem1 svPutBitArrElem2 svPutBitArrElem3 svGetScope svSetScope svGetNameFromScope svGetScopeFromName
   svPutUserData svGetUserData svGetCallerInfo svIsDisabledState svAckDisabledState svGetTime svGetTimeUnit
   svGetTimePrecision`.split(/\s+/),
);
/** What a loader gives to every library, or leaves out: weak. */
const WEAK = ['_ITM_deregisterTMCloneTable', '_ITM_registerTMCloneTable', '__cxa_finalize', '__gmon_start__'];

interface DynamicSymbol {
  readonly kind: string;
  readonly name: string;
}

function symbolsOf(library: string): DynamicSymbol[] {
  const lines = execFileSync('nm', ['-D', library], { encoding: 'utf8', maxBuffer: 1 << 26 }).trimEnd();
  return lines.split('\n').map((line) => {
    const [, kind = '', name = ''] = /([A-Za-z]) (\S+)$/.exec(line) ?? [];
    return { kind, name: name.replace(/@.*/, '') };
  });
}

const names = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1]);
const documented = (): Set<string> =>
  new Set([
    ...['uscope.h', 'uscope_cpu.h', 'uscope_noc.h'].flatMap((header) =>
      names(read(`dpi/include/${header}`), /^USCOPE_API[^;(]*?\b(uscope_\w+)\(/gm),
    ),
    ...imported(),
  ]);
/** C names of what the SystemVerilog sources import: `c_name = function` or the function's own. */
function imported(): string[] {
  const sources = readdirSync(join(ROOT, 'sv')).filter((name) => /\.svh?$/.test(name));
  const pattern = /import "DPI-C"(?: context)? (?:(\w+) = )?function [^;(]*?(\w+)\(/g;
  return sources.flatMap((name) =>
    [...read(`sv/${name}`).matchAll(pattern)].map(([, given, own]) => given ?? own),
  );
}

describe.skipIf(lacks('nm (binutils)', existsSync('/usr/bin/nm')))('libuscope_dpi.so', () => {
  const symbols = () => symbolsOf(LIBRARY);

  it('exports what the headers declare and the packages import, and nothing else', () => {
    const exported = symbols().filter(({ kind }) => !'Uw'.includes(kind));
    expect(exported.map(({ name }) => name).sort()).toEqual([...documented()].sort());
    expect(new Set(exported.map(({ kind }) => kind))).toEqual(new Set(['T']));
  });

  it('every export is in the reference of the C API or of the imports', () => {
    const pages = read('docs/reference/api/c.md') + read('docs/reference/api/systemverilog.md');
    const helpers = read('dpi/include/uscope_cpu.h') + read('dpi/include/uscope_noc.h');
    const missing = [...documented()].filter((name) => !new RegExp(`\\b${name}\\b`).test(pages + helpers));
    expect(missing).toEqual([]);
  });

  it('needs of the simulator only what svdpi.h has', () => {
    const needed = symbols().filter(({ kind, name }) => kind === 'U' && /^(sv|vpi_|acc_|tf_)/.test(name));
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.filter(({ name }) => !SVDPI.has(name))).toEqual([]);
  });

  it('needs otherwise only libc and libzmq; weak is only what a design may export', () => {
    const paths = execFileSync('ldd', [LIBRARY], { encoding: 'utf8' }).matchAll(/(\S+) => (\S+)/g);
    const found = new Map([...paths].map(([, name, path]) => [name.replace(/\.so.*/, ''), path]));
    const needs = execFileSync('readelf', ['-d', LIBRARY], { encoding: 'utf8' });
    const direct = names(needs, /NEEDED.*\[(\S+?)\.so/g).filter((name) => !name.startsWith('ld-linux'));
    expect(
      direct.filter((name) => !['libc', 'libm', 'libpthread', 'libdl', 'libzmq'].includes(name)),
    ).toEqual([]);
    const provided = new Set(
      direct
        .flatMap((name) => symbolsOf(found.get(name) ?? '').filter(({ kind }) => !'Uw'.includes(kind)))
        .map((s) => s.name),
    );
    const left = symbols().filter(
      ({ kind, name }) => 'Uw'.includes(kind) && !provided.has(name) && !SVDPI.has(name),
    );
    const strong = left.filter(({ kind }) => kind === 'U').map(({ name }) => name);
    expect(strong.filter((name) => name !== '__tls_get_addr')).toEqual([]); // of the loader itself
    const weak = left.filter(({ kind, name }) => kind === 'w' && !WEAK.includes(name));
    expect(weak.map(({ name }) => name)).toEqual(['uscope_checkpoint']);
  });

  it('is of the 64-bit kind and stays loaded', () => {
    expect(execFileSync('readelf', ['-h', LIBRARY], { encoding: 'utf8' })).toContain('ELF64');
    expect(execFileSync('readelf', ['-d', LIBRARY], { encoding: 'utf8' })).toContain('NODELETE');
  });
});

const VENV_PYTHON = join(ROOT, 'cocotb-adapter/.venv/bin/python');
const PYTHON = existsSync(VENV_PYTHON) ? VENV_PYTHON : 'python3';
const hasPyslang = spawnSync(PYTHON, ['-c', 'import pyslang']).status === 0;

describe('the SystemVerilog sources', () => {
  const packages = readdirSync(join(ROOT, 'sv')).filter((name) => name.endsWith('_pkg.sv'));
  /** uscope_pkg is what the others import. */
  const ordered = ['uscope_pkg.sv', ...packages.filter((name) => name !== 'uscope_pkg.sv').sort()];
  const monitors = readdirSync(join(ROOT, 'sv')).filter(
    (name) => name.endsWith('.sv') && !packages.includes(name),
  );
  const sources = [...ordered, ...monitors].map((name) => join(ROOT, 'sv', name));
  const includer = (): string => {
    const path = join(directory, 'includer.sv');
    const module =
      'module includer;\n  `include "uscope_dpi.svh"\n  chandle w;\n  byte unsigned bytes[];\n  initial begin\n';
    const raw = '`ifndef VERILATOR\n    uscope_event_raw(w, 0, bytes);\n`endif\n';
    writeFileSync(
      path,
      `${module}    w = uscope_open("t");\n    bytes = new[2];\n${raw}    uscope_close(w);\n  end\nendmodule\n`,
    );
    return path;
  };

  it('are what the .core and Bender files list', () => {
    for (const name of [...ordered, ...monitors]) {
      expect(read('sv/uscope.core')).toContain(name);
      expect(read('sv/Bender.yml')).toContain(name);
    }
  });

  it.skipIf(lacks('Verilator', has('verilator')))(
    'pass verilator --lint-only -Wall, included in a module too',
    () => {
      const lint = (...files: string[]) =>
        spawnSync(
          'verilator',
          [
            '--lint-only',
            '-Wall',
            '-Wno-MULTITOP',
            '-Wno-UNUSEDPARAM',
            '-Wno-DECLFILENAME',
            `-I${ROOT}/sv`,
            ...files,
          ],
          {
            encoding: 'utf8',
          },
        ).stderr;
      // On a packages-only command line Verilator 5.006 finds no top module and fails.
      expect(lint('-Wno-UNUSEDSIGNAL', '--top-module', 'includer', ...sources, includer())).toBe('');
    },
  );

  it.skipIf(lacks('Verilator', has('verilator'))).each([
    ['with a timescale', '`timescale 1ns / 1ps\n'],
    ['without one', ''],
  ])('pass Verilator without options next to a design %s', (_, timescale) => {
    const design = join(directory, 'dut.sv');
    const generated = join(ROOT, 'test/vectors/codegen/core.sv');
    writeFileSync(
      design,
      `${timescale}module dut;\n  import uscope_pkg::*;\n  import core_trace_pkg::*;\nendmodule\n`,
    );
    const { status, stderr } = spawnSync(
      'verilator',
      ['--lint-only', '--top-module', 'dut', `-I${ROOT}/sv`, ...sources, generated, design],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.skipIf(lacks('pyslang', hasPyslang))(
    'pass slang, with open arrays, included in a module as VCS wants it too',
    () => {
      const script = join(directory, 'check.py');
      writeFileSync(
        script,
        `import sys, pyslang
driver = pyslang.driver.Driver()
driver.addStandardArgs()
assert driver.parseCommandLine(' '.join(['check', '-Weverything', '-Wno-unused'] + sys.argv[1:]))
assert driver.processOptions() and driver.parseAllSources()
compilation = driver.createCompilation()
for diagnostic in compilation.getAllDiagnostics():
    if diagnostic.isError():
        print(diagnostic.code, diagnostic.args)
`,
      );
      const run = spawnSync(PYTHON, [script, `+incdir+${ROOT}/sv`, ...sources, includer()], {
        encoding: 'utf8',
      });
      expect({ status: run.status, said: run.stdout, stderr: run.status === 0 ? '' : run.stderr }).toEqual({
        status: 0,
        said: '',
        stderr: '',
      });
    },
  );
});
