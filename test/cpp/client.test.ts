/** The C++ client: its files say what those of the C client say, its errors have codes, its calls allocate nothing. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';
import { runUscope } from '../support/run-cli.js';

// Programs are compiled, with sanitizers.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const VECTORS = join(ROOT, 'test/vectors/codegen');
const WARNINGS = ['-Wall', '-Wextra', '-Wconversion', '-Wshadow', '-Wpedantic', '-Werror'];
const INCLUDES = ['-I', join(ROOT, 'dpi/include'), '-I', VECTORS];
let directory = '';

beforeAll(() => {
  buildSdk();
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
  directory = mkdtempSync(join(tmpdir(), 'uscope-cpp-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const dump = async (trace: string): Promise<string> =>
  (await runUscope(['dump', '--jsonl', join(directory, 'out', `${trace}.uscope`)])).out;

describe('uscope.hpp', () => {
  it('records what the C calls record, and allocates nothing', async () => {
    const program = join(directory, 'client');
    execFileSync('g++', [
      ...['-std=c++17', '-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
      ...[
        ...WARNINGS,
        ...INCLUDES,
        '-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=_Znwm',
        '-o',
        program,
      ],
      ...[join(ROOT, 'test/cpp/client.cpp'), join(ROOT, 'dpi/build/libuscope.a'), '-lzmq', '-lpthread'],
    ]);
    const args = [BIN, 'run', '--schema', join(VECTORS, 'core.yaml'), '--out', 'out', '--', program];
    const env = { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' };
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: directory, env });
    // The run reports the traces that were refused, as they should be.
    expect({ status, stdout }).toEqual({ status: 3, stdout: '0 failures\n' });
    const golden = await dump('c');
    expect(golden.split('\n').length).toBeGreaterThan(4000);
    expect(await dump('handles')).toBe(golden);
    expect(await dump('generated')).toBe(golden);
    expect(await dump('built')).toContain('-5');
    // Fields of more than 64 bits, more than eight fields, lanes; snapshots are in the state at the end of the trace.
    const much = await dump('much_c');
    expect(much.split('\n').length).toBeGreaterThan(600);
    expect(await dump('much')).toBe(much);
    const state = async (trace: string): Promise<string> =>
      (await runUscope(['state', join(directory, 'out', `${trace}.uscope`), '--at', '20000'])).out;
    expect(await state('much')).toBe(await state('much_c'));
    expect(await state('much')).toMatch(/top\/one\D+1\/1\n.*121/);
  });

  const hasClang = !lacks('clang++', spawnSync('clang++', ['--version']).status === 0);
  it.each([
    ['g++', 'c++20'],
    ...(hasClang
      ? [
          ['clang++', 'c++17'],
          ['clang++', 'c++20'],
        ]
      : []),
  ])('compiles without warnings (%s, %s), generated code too', (compiler, standard) => {
    const source = ['core', 'plain', 'hostile', 'wide'].map((name) => `#include "${name}.hpp"\n`).join('');
    const file = join(directory, 'all.cpp');
    writeFileSync(file, source);
    execFileSync(compiler, [`-std=${standard}`, ...WARNINGS, ...INCLUDES, '-fsyntax-only', file]);
  });

  it('refuses at compile time what the schema does not have', () => {
    const wrong = [
      't.robb().clear(1);', // a storage that is not there
      't.rob().set_dome(1, true);', // a field that is not there
      't.ev_flush(1, core::pipeline_stage::fetch);', // another enum
      't.ev_flush(1, 2);', // a number for an enum
      't.rob().put(1, "x", true);', // a string for a number
    ];
    const lines = wrong.map((statement, n) => `void f${n}(core::trace &t) { ${statement} }`);
    const file = join(directory, 'wrong.cpp');
    writeFileSync(
      file,
      `#include "core.hpp"\n${lines.join('\n')}\nvoid fraction(uscope::storage &s) { s.put(1, 1.5); }\n`,
    );
    const args = ['-std=c++17', ...INCLUDES, '-fsyntax-only', file];
    const { stderr } = spawnSync('g++', args, { encoding: 'utf8' });
    const places = [...stderr.matchAll(/wrong\.cpp:(\d+):\d+: error/g)].map(([, line]) => Number(line));
    expect([...new Set(places)]).toHaveLength(wrong.length);
    // Of what has no generated code, the header says it.
    expect(stderr).toMatch(/error: static assertion failed: fields hold integers, bool, enums/);
  });
});
