import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { ROOT } from './step.mjs';

// Compilers are started.
limitOfFile(PROCESSES_MS);

const RUNTIME = '/somewhere/include/verilated_dpi.cpp';
let directory = '';

/** Replaces a compiler: it notes that it was called, and makes an object of its arguments. */
const COMPILER = `#!/bin/sh
echo "$@" >> calls
case $* in *-Wrong*) exit 3 ;; esac
while [ "$1" != -o ]; do shift; done
echo "$COMPILED" > "$2"
`;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-object-cache-'));
  mkdirSync(join(directory, 'cache'));
  writeFileSync(join(directory, 'compiler'), COMPILER);
  chmodSync(join(directory, 'compiler'), 0o755);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function compile(args: readonly string[], compiled: string, cache = 'cache'): number | null {
  const command = [join(ROOT, 'scripts/object-cache.sh'), './compiler', ...args];
  const env = { ...process.env, COMPILED: compiled, OBJECT_CACHE: cache };
  return spawnSync('sh', command, { cwd: directory, env }).status;
}
const calls = (): number => readFileSync(join(directory, 'calls'), 'utf8').trimEnd().split('\n').length;
const object = (name: string): string => readFileSync(join(directory, name), 'utf8').trim();

describe('the object cache', () => {
  it('compiles the runtime once for all models with the same options', () => {
    expect(compile(['-I.', '-Os', '-c', '-o', 'a.o', RUNTIME], 'first')).toBe(0);
    expect(compile(['-I/model', '-I.', '-Os', '-c', '-o', 'b.o', RUNTIME], 'second')).toBe(0);
    expect([calls(), object('a.o'), object('b.o')]).toEqual([1, 'first', 'first']);
  });

  it.each([
    ['other options', RUNTIME, ['-O2', '-c', '-o', 'b.o', RUNTIME]],
    ['another source', RUNTIME, ['-Os', '-c', '-o', 'b.o', RUNTIME.replace('dpi', 'threads')]],
    ['a source that is not of the runtime', 'Vtop.cpp', ['-Os', '-c', '-o', 'b.o', 'Vtop.cpp']],
  ])('compiles %s anew', (_, before, args) => {
    compile(['-Os', '-c', '-o', 'a.o', before], 'first');
    expect(compile(args, 'second')).toBe(0);
    expect([calls(), object('b.o')]).toEqual([2, 'second']);
  });

  describe('of what Verilator makes of a design', () => {
    const ALL = 'Vtop__ALL.cpp';
    const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    beforeEach(() => {
      write(ALL, '#include "Vtop.cpp"');
      write('Vtop.cpp', '#include "Vtop.h"');
      write('Vtop.h', 'the top');
      expect(compile(['-Os', '-c', '-o', 'a.o', ALL], 'first')).toBe(0);
    });

    it('compiles the same files once, whatever else is in their directory', () => {
      write('verilated.o', 'compiled');
      expect(compile(['-Os', '-c', '-o', 'b.o', ALL], 'second')).toBe(0);
      expect([calls(), object('b.o')]).toEqual([1, 'first']);
    });

    it.each(['Vtop.h', 'Vtop.cpp', ALL])('compiles anew when %s has changed', (name) => {
      write(name, 'another design');
      expect(compile(['-Os', '-c', '-o', 'b.o', ALL], 'second')).toBe(0);
      expect([calls(), object('b.o')]).toEqual([2, 'second']);
    });

    it.each([[['-O2']], [['-Os', '-g']]])('compiles anew with %j', (options) => {
      for (const name of ['b.o', 'c.o']) expect(compile([...options, '-c', '-o', name, ALL], name)).toBe(0);
      expect(object('b.o')).toBe('b.o');
      // Debug information names the directory: that is compiled each time.
      expect(object('c.o')).toBe(options.includes('-g') ? 'c.o' : 'b.o');
    });
  });

  it('does not optimise what nobody asked to be fast, only what is optimised for size by default', () => {
    compile(['-Os', '-c', '-o', 'a.o', RUNTIME], '');
    compile(['-O2', '-c', '-o', 'b.o', 'a file.cpp'], '');
    expect(readFileSync(join(directory, 'calls'), 'utf8')).toBe(
      `-O0 -c -o a.o ${RUNTIME}\n-O2 -c -o b.o a file.cpp\n`,
    );
  });

  it('keeps nothing of a compiler that fails', () => {
    for (let round = 0; round < 2; round++)
      expect(compile(['-Wrong', '-c', '-o', 'a.o', RUNTIME], '')).toBe(3);
    expect(calls()).toBe(2);
  });

  it.each(['', 'absent'])('does without its directory (%j)', (cache) => {
    for (const name of ['a.o', 'b.o']) expect(compile(['-c', '-o', name, RUNTIME], name, cache)).toBe(0);
    expect([calls(), object('b.o')]).toEqual([2, 'b.o']);
  });

  it('leaves nothing half written behind', () => {
    compile(['-c', '-o', 'a.o', RUNTIME], 'first');
    const names = readdirSync(join(directory, 'cache')).sort();
    expect(names).toEqual([
      expect.stringMatching(/^verilated_dpi-\d+-\d+\.o$/),
      expect.stringMatching(/^verilated_dpi-\d+-\d+\.options$/),
    ]);
  });
});
