/** Building and running the demo's simulator from tests. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TRIES_ALL } from '../../test/support/effort.js';

export const DEMO = fileURLToPath(new URL('..', import.meta.url));

/** What the harness reports (sim/main.cpp). 64-bit numbers are decimal strings. */
export interface Report {
  readonly program: string;
  readonly passed: boolean;
  readonly halted: boolean;
  readonly cause: number;
  readonly pc: number;
  readonly tval: number;
  readonly result: number | null;
  readonly expected: number;
  readonly counters: Readonly<Record<string, string>>;
  readonly registers: readonly number[];
  /** What the simulator's thread spent on the cycles, opening and closing of the trace left out. */
  readonly wall_ns: string;
  readonly cpu_ns: string;
}

/** What the harness of several cores reports (sim/soc_main.cpp). */
export interface SocReport {
  readonly passed: boolean;
  readonly halted: boolean;
  readonly cycles: string;
  readonly result: number | null;
  readonly expected: number;
  readonly cores: readonly SocCore[];
  readonly wall_ns: string;
  readonly cpu_ns: string;
}

export interface SocCore {
  readonly halted: boolean;
  readonly cause: number;
  readonly pc: number;
  readonly tval: number;
  readonly counters: Readonly<Record<string, string>>;
  /** What the interconnect counted at its port. */
  readonly port: Readonly<Record<string, string>>;
  readonly registers: readonly number[];
}

/** Models that are built for tests only: with less optimisation, next to those of `npm run demo`. */
export const TESTS = 'tests';
export const FAST_BUILD = [`CONFIG=${TESTS}`, 'OPT=-O1', 'LTO=0', 'ONE_UNIT=1'];

/** The build of the traced core: when every case is tried the one of `npm run demo`, which is optimised as a whole. */
export const BUILD = TRIES_ALL ? [] : ['--build', TESTS];
export const TRACED = TRIES_ALL ? 'obj_dir' : `obj_dir_${TESTS}`;
export const makeTraced = (): void => make(...(TRIES_ALL ? [] : FAST_BUILD));

/** What runs programs without a trace: the core with its tracer off or, when every case is tried, the one that is built without. */
export const UNTRACED = TRIES_ALL ? 'obj_dir_notrace' : TRACED;
export const makeUntraced = (): void => (TRIES_ALL ? make('TRACE=0') : makeTraced());

/** Runs make in the demo's folder; what it printed goes into the error when it fails. */
export function make(...targets: string[]): void {
  execFileSync('make', ['-C', DEMO, '--no-print-directory', ...targets], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Builds the out-of-order core for tests. Several files need it and may come to this at the same time: one builds, the others wait. */
export function makeO3(...variables: string[]): void {
  const command = ['make', '-C', DEMO, '--no-print-directory', 'o3', ...FAST_BUILD, ...variables];
  execFileSync('flock', [join(DEMO, 'Makefile'), ...command], { stdio: ['ignore', 'ignore', 'pipe'] });
}

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly report: Report;
}

/** Runs a simulator without a trace. */
export function simulate(args: readonly string[], folder: string, build = UNTRACED): Run {
  const reportFile = join(folder, 'report.json');
  const run = spawnSync(join(DEMO, build, 'Vtop'), ['+notrace', ...args, `+report=${reportFile}`], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (run.error) throw run.error;
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  rmSync(reportFile);
  return { status: run.status, stdout: run.stdout, stderr: run.stderr, report };
}
