// @ts-check
/**
 * `npm run test:long [-- --minutes N] [--seed N|random] [PART...]`: what is too long for `npm test`: the same tests with more runs, other
 * seeds and larger sizes. Every part gets a share of the time (20 minutes by default) and does as much in it as the machine can. What fails
 * is printed with the seed that runs it again. Parts that build for minutes, or need PyPI, run only where they are named. The last line is
 * `N passed, N failed`; the exit status is 0 only when nothing failed.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { make, nodeTool, script } from './commands.mjs';
import { countsFromOutput, total } from './counts.mjs';
import { printFailures } from './failures.mjs';
import { withRunning } from './running-reporter.mjs';
import { build, runScript, SetupError, setUpPackages } from './setup.mjs';
import { printResult, ROOT, run } from './step.mjs';

/** @typedef {import('./counts.mjs').Counts} Counts */
/** @typedef {import('./step.mjs').Command} Command */

/**
 * @typedef {object} Part
 * @property {string} title
 * @property {number} share of the time
 * @property {(seconds: number, seed: number) => Command} [timed] A command that ends after about this time.
 * @property {(seed: number) => Command} [round] One that is repeated while there is time, at least once, each time with the next seed.
 * @property {boolean} [seeded] Its rounds differ.
 * @property {boolean} [byName] Runs only where it is named: it builds for minutes, or gets tools or cores from PyPI.
 */

const DEFAULT_MINUTES = 20;
/** A command that takes so much longer than it may hangs. */
const SLACK_SECONDS = 10 * 60;
/** Of the first round; further rounds count on from it. `npm test` has 1. The same in each run, so that what passes here passes elsewhere. */
const DEFAULT_SEED = 2;
const RANDOM_SEEDS = 1_000_000;
const NUM_FUZZERS = 4;
const FUZZERS_AT_ONCE = 2;
/** The list of running tests, and the compiled sources that all runs of vitest share. */
let scratch = '';
const TORTURE = 'test/torture/run.mjs';
const POWER = 'test/torture/power-run.mjs';

/** @type {Record<string, Part>} */
const PARTS = {
  torture: {
    title: 'killed at random moments',
    share: 4,
    timed: (seconds, seed) => torture(seconds, seed, []),
  },
  'torture-load': {
    title: 'killed at random moments, under load',
    share: 4,
    timed: (seconds, seed) => torture(seconds, seed, ['--load', '8']),
  },
  faults: {
    title: 'a file call that fails',
    share: 3,
    timed: (seconds, seed) => torture(seconds, seed, ['--faults']),
  },
  power: {
    title: 'power loss at every operation',
    share: 3,
    seeded: true,
    round: (seed) => script('', POWER, ['--segments', '8', '--seeds', '3', '--seed', `${seed}`]),
  },
  farm: {
    title: '500 simulators on one daemon',
    share: 2,
    round: () => ({ ...vitest(['system'], ['test/bridge/farm.test.ts']), env: { USCOPE_FARM: '500' } }),
  },
  properties: {
    title: 'properties, with other seeds',
    share: 3,
    seeded: true,
    round: (seed) => ({
      ...vitest(['unit'], filesWith('sdk/src', "from 'fast-check'")),
      env: { NO_COLOR: '1', USCOPE_SEED: `${seed}` },
    }),
  },
  leaves: {
    title: 'each leaf deleted in a copy of the sources',
    share: 0.2,
    round: () => script('', 'scripts/leaves.mjs', []),
  },
  'every-case': {
    title: 'every case of tests that try a part',
    share: 2,
    round: () => ({
      ...vitest(
        ['unit', 'builds', 'system'],
        ['sdk/src', 'test'].flatMap((folder) => filesWith(folder, "/effort.js'")),
      ),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  demo: {
    byName: true,
    title: 'the core of the demo, built without its tracer',
    share: 0.5,
    round: () => ({
      ...vitest(['demo'], ['core.test.ts', 'timing.test.ts', 'machine-mode.test.ts']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  bottleneck: {
    byName: true,
    title: 'the guide to a bottleneck, with the out-of-order cores that it builds',
    share: 0.5,
    round: () => ({
      ...vitest(['demo'], ['bottleneck.test.ts']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  'demo-build': {
    title: 'the demo as `npm run demo` builds it, optimised as a whole',
    share: 0.5,
    round: () => ({
      ...vitest(['demo'], ['verilator-demo/demo.test.ts']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  'viewer-demo': {
    byName: true,
    title: 'the demo while a page shows it, to its end and killed',
    share: 0.3,
    round: () => ({
      ...vitest(['builds'], ['viewer/test/demo-live.test.ts']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  'lint-sv': {
    byName: true,
    title: 'SystemVerilog under verible and slang',
    share: 0.2,
    round: () => script('', 'scripts/lint-sv.mjs', []),
  },
  engines: {
    byName: true,
    title: 'Spark, pandas and Polars over a dataset',
    share: 0.5,
    round: () => script('', 'scripts/engines.mjs', []),
  },
  regressions: {
    byName: true,
    title: 'a farm of 1,000 runs with ten regressions',
    share: 1,
    round: () =>
      script('', 'verilator-demo/farm/main.ts', [], ['--import', './test/support/source-process.mjs']),
  },
  o3: {
    title: 'the out-of-order core, 20 programs of 10,000 instructions in lockstep',
    share: 1,
    round: () => ({
      ...vitest(['demo'], ['verilator-demo/o3.test.ts', '-t', 'constrained-random']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  cores: {
    title: 'three public cores, each instruction compared with a log of its pins',
    share: 1,
    round: () =>
      script('', 'examples/cores/run.mjs', ['picorv32', 'serv', 'ibex', '--rounds', '1', '--quick']),
  },
  'all-cores': {
    byName: true,
    title: 'all public cores, two of them on Icarus with cocotb',
    share: 1,
    round: () => script('', 'examples/cores/run.mjs', ['--cocotb']),
  },
  client: {
    title: 'C client tests against the library as it is shipped, and under ThreadSanitizer',
    share: 0.5,
    round: () => make('', 'dpi', ['-j2', '-O', 'test-unit', 'test-threads']),
  },
  'kernel-threads': {
    title: 'threads of the native kernel under ThreadSanitizer',
    share: 0.1,
    round: () => make('', 'sdk/kernel/native', ['-j2', '-O', 'test-threads']),
  },
  fuzz: {
    title: 'fuzzing of the C client (libFuzzer)',
    share: 2,
    timed: (seconds) => {
      const each = Math.max(1, Math.floor((seconds * FUZZERS_AT_ONCE) / NUM_FUZZERS));
      return make('', 'dpi', ['test-fuzz', `FUZZ_SECONDS=${each}`, `-j${FUZZERS_AT_ONCE}`, '-O']);
    },
  },
  endurance: {
    title: 'thousands of traces (LeakSanitizer)',
    share: 1,
    round: () => make('', 'dpi', ['endurance', 'LIVES=500']),
  },
  'bench-rows': {
    title: 'every benchmark, short, with its rows',
    share: 1,
    round: () => ({
      ...vitest(['system'], ['bench/bench.test.ts']),
      env: { NO_COLOR: '1', USCOPE_TEST_ALL: '1' },
    }),
  },
  bench: {
    title: 'benchmarks, one run of each',
    share: 1,
    round: () =>
      script('', 'bench/run.mjs', ['client', 'path', 'size', 'writer', 'library', 'reader', '--runs', '1']),
  },
};

/** @param {number} seconds @param {number} seed @param {string[]} more */
function torture(seconds, seed, more) {
  return script('', TORTURE, ['--minutes', `${seconds / 60}`, '--seed', `${seed}`, ...more]);
}

/**
 * @param {string[]} projects
 * @param {string[]} files
 */
function vitest(projects, files) {
  const only = projects.flatMap((project) => ['--project', project]);
  const reporters = ['default', './scripts/again-reporter.mjs', './scripts/running-reporter.mjs'].map(
    (name) => `--reporter=${name}`,
  );
  const args = ['run', ...reporters, ...only, ...files];
  return { ...nodeTool('', 'vitest/vitest.mjs', args), env: { NO_COLOR: '1' } };
}

/** @param {string} folder @param {string} text that the tests contain */
function filesWith(folder, text) {
  const names = /** @type {string[]} */ (readdirSync(join(ROOT, folder), { recursive: true }));
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((path) => readFileSync(join(ROOT, path), 'utf8').includes(text));
}

/**
 * Runs a command; where it is vitest and is stopped, its output names the tests that it was in.
 * @param {Command} command
 */
async function runNamed(command) {
  const list = join(scratch, 'running.jsonl');
  rmSync(list, { force: true });
  const env = { ...command.env, USCOPE_RUNNING: list, USCOPE_MODULE_CACHE: join(scratch, 'modules') };
  const outcome = await run({ ...command, env });
  return withRunning(outcome, existsSync(list) ? readFileSync(list, 'utf8') : '');
}

/**
 * @param {Part} part
 * @param {number} seconds
 * @param {number} seed
 * @returns {Promise<Counts>}
 */
async function runPart({ title, timed, round, seeded }, seconds, seed) {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const timeoutMs = (seconds + SLACK_SECONDS) * 1000;
  /** @type {Counts[]} */
  const counts = [];
  let longest = 0;
  for (let n = 0; ; n++) {
    const command = timed ? timed(seconds, seed) : round?.(seed + n);
    if (!command) throw new Error(`${title} has nothing to run`);
    const outcome = await runNamed({ ...command, timeoutMs });
    counts.push(countsFromOutput(outcome));
    longest = Math.max(longest, outcome.seconds);
    const isLast = timed !== undefined || elapsed() + longest > seconds;
    if (!outcome.ok || isLast) {
      const whole = { ...outcome, seconds: elapsed() };
      const rounds = seeded ? `${n + 1}×, seeds from ${seed}` : `${n + 1}×`;
      printResult(round ? `${title} (${rounds})` : title, whole);
      return total(counts);
    }
  }
}

function request() {
  const options = /** @type {const} */ ({
    minutes: { type: 'string', default: `${DEFAULT_MINUTES}` },
    seed: { type: 'string', default: `${DEFAULT_SEED}` },
  });
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const minutes = Number(values.minutes);
  const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
  if (!(minutes > 0)) throw new SetupError(`CLI_USAGE: --minutes takes a number, not ${values.minutes}`, 2);
  const seed = values.seed === 'random' ? randomInt(RANDOM_SEEDS) : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new SetupError(`CLI_USAGE: --seed takes a whole number or random, not ${values.seed}`, 2);
  if (unknown) throw new SetupError(`CLI_USAGE: ${unknown} is none of ${Object.keys(PARTS).join(', ')}`, 2);
  const usual = Object.keys(PARTS).filter((name) => !PARTS[name]?.byName);
  return { minutes, seed, names: positionals.length > 0 ? positionals : usual };
}

await runScript(async () => {
  const { minutes, seed, names } = request();
  const started = performance.now();
  await setUpPackages('test');
  await build();
  const parts = names.map((name) => PARTS[name]);
  const shares = parts.reduce((sum, { share }) => sum + share, 0);
  console.log(`\nLong tests, ${minutes} minutes`);
  /** @type {Counts[]} */
  const counts = [];
  scratch = mkdtempSync(join(tmpdir(), 'uscope-long-'));
  try {
    for (const part of parts) counts.push(await runPart(part, (minutes * 60 * part.share) / shares, seed));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  const { passed, failed } = total(counts);
  printFailures();
  console.log(`\n${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
