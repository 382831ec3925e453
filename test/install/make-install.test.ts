/** What `make install` installs, as a user of pkg-config, CMake and the makefile fragments has it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';

// Compilers and CMake run.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOME = mkdtempSync(join(tmpdir(), 'uscope-make-install-'));
const PREFIX = join(HOME, 'prefix');
const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8')).version;
const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

function run(command: string, ...args: string[]) {
  return spawnSync(command, args, {
    cwd: HOME,
    encoding: 'utf8',
    timeout: BUILDS_MS,
    env: {
      PATH: process.env.PATH,
      PKG_CONFIG_PATH: join(PREFIX, 'lib/pkgconfig'),
      CMAKE_PREFIX_PATH: PREFIX,
    },
  });
}

function succeed(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = run(command, ...args);
  expect({ status, stderr: status === 0 ? '' : `${stdout}${stderr}` }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const shell = (command: string): string => succeed('sh', '-c', command).trim();
const headersOf = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => /\.(h|hpp)$/.test(name))
    .sort();

beforeAll(() => {
  succeed('make', '-s', '-C', join(ROOT, 'dpi'), 'install', `PREFIX=${PREFIX}`);
  writeFileSync(
    join(HOME, 'model.c'),
    '#include <stdio.h>\n#include "uscope_cpu.h"\nint main(void) { puts(uscope_version()); return 0; }\n',
  );
});
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

describe('make install', () => {
  it('installs every header and all of sv/', () => {
    expect(headersOf(join(PREFIX, 'include'))).toEqual(headersOf(join(ROOT, 'dpi/include')));
    const files = (directory: string) =>
      readdirSync(directory)
        .filter((name) => name !== 'README.md')
        .sort();
    expect(files(join(PREFIX, 'share/uscope/sv'))).toEqual(files(join(ROOT, 'sv')));
    expect(files(join(PREFIX, 'share/uscope/sv/mk'))).toEqual(files(join(ROOT, 'sv/mk')));
  });

  it.each(['uscope', 'uscope_dpi'])('%s.pc has the version, and what it promises links', (name) => {
    expect(shell(`pkg-config --validate ${name} && pkg-config --modversion ${name}`)).toBe(VERSION);
    expect(shell(`pkg-config --variable=svdir ${name}`)).toBe(join(PREFIX, 'share/uscope/sv'));
    if (name === 'uscope') {
      shell(`cc model.c $(pkg-config --cflags --libs ${name}) -o shared`);
      expect(shell('./shared')).toBe(VERSION);
    }
    // Without the shared library the same flags name the archive.
    rmSync(join(HOME, 'archives'), { recursive: true, force: true });
    mkdirSync(join(HOME, 'archives'));
    shell(`cp ${PREFIX}/lib/lib${name}.a archives`);
    const defined = name === 'uscope' ? '' : '-Wl,--unresolved-symbols=ignore-all';
    shell(
      `cc model.c ${defined} -Larchives $(pkg-config --static --cflags --libs ${name} | sed "s|-L[^ ]*/prefix/lib||") -o static`,
    );
    expect(shell('./static')).toBe(VERSION);
    expect(shell('ldd ./static')).not.toContain('libuscope');
  });

  it.skipIf(lacks('CMake', has('cmake')))('find_package(uscope) gives targets that link', () => {
    const targets = ['client', 'client_static'];
    const lines = targets.map(
      (name) => `add_executable(${name} ../model.c)\ntarget_link_libraries(${name} PRIVATE uscope::${name})`,
    );
    mkdirSync(join(HOME, 'cmake'), { recursive: true });
    writeFileSync(
      join(HOME, 'cmake/CMakeLists.txt'),
      [
        'cmake_minimum_required(VERSION 3.16)',
        'project(model C)',
        'find_package(uscope ${WANTED} REQUIRED COMPONENTS client)',
        'if(NOT EXISTS ${uscope_SV_DIR}/uscope_pkg.sv)\n  message(FATAL_ERROR "no SystemVerilog")\nendif()',
        ...lines,
        '',
      ].join('\n'),
    );
    succeed('cmake', '-S', 'cmake', '-B', 'build', `-DWANTED=${VERSION}`);
    succeed('cmake', '--build', 'build');
    for (const name of targets) expect(shell(`build/${name}`)).toBe(VERSION);
    const newer = run('cmake', '-S', 'cmake', '-B', 'newer', '-DWANTED=99.0');
    expect(newer.status).not.toBe(0);
    expect(newer.stderr).toContain(`version: ${VERSION}`);
  });

  it('fragments of simulators find the library and the command', () => {
    writeFileSync(
      join(HOME, 'Makefile'),
      `include ${PREFIX}/share/uscope/sv/mk/common.mk\nplaces:\n\t@echo $(USCOPE_CLI) $(realpath $(USCOPE_DPI)) $(realpath $(USCOPE_SV))\n`,
    );
    expect(shell('make -s places')).toBe(`uscope ${PREFIX}/lib ${PREFIX}/share/uscope/sv`);
  });
});
