// @ts-check
/** Compiles simulator.c against the client library, and the shim that is loaded into processes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Path of the shim, built by `buildSimulator`. */
export const SHIM = join(ROOT, 'test/torture/build/shim.so');

/** @returns {string} path of the program */
export function buildSimulator() {
  /** @type {import('node:child_process').ExecFileSyncOptions} */
  const quiet = { stdio: ['ignore', 'ignore', 'pipe'] };
  const library = join(ROOT, 'dpi/build/libuscope.a');
  const build = join(ROOT, 'test/torture/build');
  const program = join(build, 'simulator');
  execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], quiet);
  mkdirSync(build, { recursive: true });
  const sources = [join(ROOT, 'test/torture/simulator.c'), library, '-lzmq', '-lpthread'];
  const flags = ['-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-Werror'];
  execFileSync(
    process.env.CC ?? 'cc',
    [...flags, `-I${join(ROOT, 'dpi/include')}`, ...sources, '-o', program],
    quiet,
  );
  const shim = ['-std=gnu11', '-D_GNU_SOURCE', '-O1', '-Wall', '-Wextra', '-Wconversion', '-Werror'];
  const shared = ['-shared', '-fPIC', join(ROOT, 'test/torture/shim.c'), '-ldl', '-o', SHIM];
  execFileSync(process.env.CC ?? 'cc', [...shim, ...shared], quiet);
  return program;
}
