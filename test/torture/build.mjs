// @ts-check
/** Compiles simulator.c against the client library, and the shim that is loaded into processes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TORTURE = join(ROOT, 'test/torture');
const BUILD = join(TORTURE, 'build');
const LIBRARY = join(ROOT, 'dpi/build/libuscope.a');
const HEADERS = join(ROOT, 'dpi/include');

/** Paths of the shims, built by `buildSimulator`. */
export const SHIM = join(BUILD, 'shim.so');
export const FAIL_CALL = join(BUILD, 'fail-call.so');

/** @returns {string} path of the program */
export function buildSimulator() {
  const program = join(BUILD, 'simulator');
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
  mkdirSync(BUILD, { recursive: true });
  compile(program, [join(TORTURE, 'simulator.c'), LIBRARY], {
    before: ['-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-Werror', `-I${HEADERS}`],
    after: ['-lzmq', '-lpthread'],
  });
  for (const [shim, source] of [
    [SHIM, 'shim.c'],
    [FAIL_CALL, 'fail-call.c'],
  ])
    compile(shim, [join(TORTURE, source)], {
      before: [
        '-std=gnu11',
        '-D_GNU_SOURCE',
        '-O1',
        '-Wall',
        '-Wextra',
        '-Wconversion',
        '-Werror',
        '-shared',
        '-fPIC',
      ],
      after: ['-ldl'],
    });
  return program;
}

/**
 * Makes `output` when a source is newer. Several test files come here at once, and run what is there: a program is linked under another
 * name and renamed, since one that is half written is refused by the system, or worse, starts.
 *
 * @param {string} output
 * @param {readonly string[]} sources
 * @param {{ before: readonly string[], after: readonly string[] }} options
 */
function compile(output, sources, { before, after }) {
  if (sources.every((source) => changed(source) < changed(output))) return;
  const made = `${output}.${process.pid}`;
  execFileSync(process.env.CC ?? 'cc', [...before, ...sources, ...after, '-o', made], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  renameSync(made, output);
}

/**
 * Milliseconds; 0 where there is no such file.
 *
 * @param {string} file
 */
function changed(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
