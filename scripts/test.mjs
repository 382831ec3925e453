// @ts-check
/**
 * `npm test`: sets up what is missing, then runs every check there is. A failed step does not keep the others from running
 * unless they need what it builds. The last line is `N passed, N failed` over everything; the exit status is 0 only
 * when nothing failed. `npm test -- --quick` runs the unit tests that compute little and one model from its build to its picture.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cocotbTests, pythonEnvironment } from './cocotb.mjs';
import { make, nodeTool, script } from './commands.mjs';
import { countsFromOutput, countsFromVitest, total } from './counts.mjs';
import { printFailures } from './failures.mjs';
import { runJobs } from './jobs.mjs';
import { childrenSeconds } from './processor-time.mjs';
import { withRunning } from './running-reporter.mjs';
import { buildSteps, runScript, setUpNpm, setUpSystem } from './setup.mjs';
import { skippedLines, slowestLines } from './skipped.mjs';
import { printResult, ROOT, run, runStep } from './step.mjs';

/** @typedef {import('./counts.mjs').Counts} Counts */
/** @typedef {import('./step.mjs').Command} Command */
/** @typedef {import('./jobs.mjs').Job<Counts>} Job */

/** For what hangs; a slow machine must not come near it. */
const VITEST_TIMEOUT_MS = 30 * 60_000;

/** Files of a run, in its own directory. */
const REPORT = 'vitest.json';
const SKIPPED = 'skipped.jsonl';
const TIMES = 'times.jsonl';
const MODULES = 'modules';
const RUNNING = 'running.jsonl';
const QUICK = '--quick';
const ALL_TESTS = 'unit, system and end-to-end tests (vitest)';
/** A model is compiled, recorded by the daemon, verified, counted, listed and drawn. */
const END_TO_END = ['--project', 'builds', 'examples/examples.test.ts', '-t', 'examples/cpp-model'];

const SOURCES = [
  nodeTool('format and lint (biome)', '@biomejs/biome/bin/biome', ['ci', '--colors=off', '.']),
  ...[
    'dpi',
    'sdk/kernel',
    'sdk/kernel/native',
    'sdk/kernel/reader',
    'sdk/kernel/blocks',
    'sdk/kernel/index',
    'sdk/kernel/parquet',
    'bench',
    'examples/c-model',
    'examples/cpp-model',
    'examples/systemc',
  ].map((folder) => make(`format of C in ${folder} (clang-format)`, folder, ['format-check'])),
  script('direction of imports', 'scripts/check-imports.mjs'),
  script('lock file', 'scripts/check-lockfile.mjs'),
  script('constants of all languages', 'scripts/constants.mjs', ['--check']),
  script('one version', 'scripts/version.mjs', ['--check']),
  script('readmes of the packages', 'scripts/readmes.mjs', ['--check']),
  script('words of comments and documents', 'scripts/check-words.mjs'),
];
/** The compiler in machine code: a fifth of the time. Documents and checks of imports use the API of the other one. */
const TSC = 'typescript-7/bin/tsc';
const TYPES = [
  nodeTool('types (tsc)', TSC, ['--noEmit', '-p', 'tsconfig.json']),
  nodeTool('types of the viewer (tsc)', TSC, ['--noEmit', '-p', 'viewer/tsconfig.json']),
  nodeTool('types of its tests (tsc)', TSC, ['--noEmit', '-p', 'viewer/test/tsconfig.json']),
];
/** As verilator-demo/lib/simulator.ts has it. */
const FAST_BUILD = ['CONFIG=tests', 'OPT=-O1', 'LTO=0', 'ONE_UNIT=1'];
/** All that the tests simulate, so that none of them has to build it. */
const DEMO_CORE = [
  make('lint the SystemVerilog (Verilator)', 'verilator-demo', ['lint']),
  make('build the demo core', 'verilator-demo', FAST_BUILD),
  make('build several on one memory', 'verilator-demo', ['soc', ...FAST_BUILD]),
  make('build the native half of the benchmarks', 'bench'),
];
const CLIENT_TESTS = [make('C client tests (ASan, UBSan)', 'dpi', ['-j2', '-O', 'test-once'])];
const KERNEL_TESTS = [
  make('inner loops of the writer (ASan, UBSan)', 'sdk/kernel', ['test']),
  make('what the native kernel adds (ASan, UBSan)', 'sdk/kernel/native', ['test']),
  make('inner loops of the reader (ASan, UBSan)', 'sdk/kernel/reader', ['test']),
  make('the index of a segment (ASan, UBSan)', 'sdk/kernel/index', ['test']),
  make('blocks of instructions (ASan, UBSan)', 'sdk/kernel/blocks', ['test']),
  make('columns of Parquet files (ASan, UBSan)', 'sdk/kernel/parquet', ['test']),
];
const WASM = script('checked-in WebAssembly, compiled again', 'scripts/check-wasm.mjs');
const isOfClient = (/** @type {Command} */ { args }) => args?.includes('dpi') === true;

await runScript(async () => {
  const started = performance.now();
  const isQuick = process.argv.includes(QUICK);
  const args = process.argv.slice(2).filter((arg) => arg !== QUICK);
  const scratch = mkdtempSync(join(tmpdir(), 'uscope-test-'));
  try {
    await setUpSystem(isQuick ? 'demo' : 'test');
    shareObjects(scratch);
    const all = isQuick ? quickJobs(args, scratch) : jobs(args, scratch);
    const { passed, failed, skipped } = total(await runJobs(all, 2));
    const minutes = (/** @type {number} */ seconds) => `${(seconds / 60).toFixed(1)} minutes`;
    const elapsed = minutes((performance.now() - started) / 1000);
    const computed = childrenSeconds();
    const parts = [computed === null ? '' : `, ${minutes(computed)} of processor time`];
    if (skipped) parts.push(`; ${skipped} tests skipped`);
    printFiles(scratch);
    printFailures();
    console.log(`\n${elapsed}${parts.join('')}`);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/**
 * Everything, the long ones first. Vitest's tests, which wait for processes most of the time, begin when all that they run is built, and have one of the two
 * places until the end: what else there is runs in the other. What is written in C, and Python's packages, need not wait for those of npm.
 * @param {string[]} args filters and options for vitest
 * @param {string} scratch directory of this run
 * @returns {Job[]}
 */
function jobs(args, scratch) {
  const builds = buildSteps();
  const python = pythonEnvironment();
  return [
    { name: 'npm packages', run: () => setUpNpm().then(() => total([])) },
    inOrder('client library', [], builds.filter(isOfClient)),
    inOrder(
      'SDK',
      ['npm packages'],
      builds.filter((step) => !isOfClient(step)),
    ),
    inOrder('demo core', ['SDK', 'client library'], DEMO_CORE),
    { name: 'tests', needs: ['SDK', 'demo core'], run: () => python.then(() => vitest(args, scratch)) },
    inOrder('client', ['client library'], CLIENT_TESTS),
    { name: 'cocotb', needs: ['SDK', 'client library'], run: () => cocotbTests(python) },
    inOrder('kernels', ['npm packages'], KERNEL_TESTS),
    { name: 'WebAssembly', needs: ['npm packages'], run: compileWasmAgain },
    inOrder('types', ['SDK'], TYPES),
    inOrder('sources', ['npm packages'], SOURCES),
  ];
}

/**
 * For whoever has just changed something, or has just come.
 * @param {string[]} args filters and options for the unit tests
 * @param {string} scratch directory of this run
 * @returns {Job[]}
 */
function quickJobs(args, scratch) {
  const builds = buildSteps();
  /** @param {string} title @param {string[]} tests */
  const quick = (title, tests) =>
    vitest(tests, mkdtempSync(join(scratch, 'part-')), { title, env: { USCOPE_TEST_QUICK: '1' } });
  return [
    { name: 'npm packages', run: () => setUpNpm().then(() => total([])) },
    inOrder('client library', [], builds.filter(isOfClient)),
    inOrder(
      'SDK',
      ['npm packages'],
      builds.filter((step) => !isOfClient(step)),
    ),
    {
      name: 'unit',
      needs: ['SDK'],
      run: () => quick('unit tests (vitest)', ['--project', 'unit', ...args]),
    },
    {
      name: 'end to end',
      needs: ['SDK', 'client library'],
      run: () => quick('a model from its build to its picture', END_TO_END),
    },
  ];
}

/**
 * Models that tests build share the objects of Verilator's runtime.
 * @param {string} directory
 */
function shareObjects(directory) {
  if (process.env.OBJCACHE !== undefined || /[^\w./+-]/.test(ROOT)) return;
  process.env.OBJCACHE = `sh ${join(ROOT, 'scripts/object-cache.sh')}`;
  process.env.OBJECT_CACHE = directory;
}

/**
 * @param {string} name
 * @param {string[]} needs
 * @param {Command[]} steps
 * @returns {Job}
 */
function inOrder(name, needs, steps) {
  return { name, needs, run: () => inTurn(steps) };
}

/**
 * @param {Command[]} steps
 * @returns {Promise<Counts>}
 */
async function inTurn(steps) {
  /** @type {Counts[]} */
  const counts = [];
  for (const step of steps) counts.push(countsFromOutput(await runStep(step)));
  return total(counts);
}

/** Which comparison there was is not a matter of course: bytes need the compiler that made them. */
async function compileWasmAgain() {
  const outcome = await runStep(WASM);
  const weaker = outcome.output.split('\n').filter((line) => /another compiler|not compared/.test(line));
  for (const line of weaker) console.log(`      ${line}`);
  if (outcome.output.includes('not compared')) return { passed: 0, failed: 0, skipped: 1 };
  return countsFromOutput(outcome);
}

/**
 * @param {string[]} args filters and options for vitest
 * @param {string} directory where its report and the list of what is missing go
 * @param {{title?: string, env?: Record<string, string>}} [options]
 * @returns {Promise<Counts>}
 */
async function vitest(args, directory, { title = ALL_TESTS, env: more = {} } = {}) {
  const report = join(directory, REPORT);
  const reporters = [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    '--reporter=./scripts/times-reporter.mjs',
    '--reporter=./scripts/again-reporter.mjs',
    '--reporter=./scripts/running-reporter.mjs',
  ];
  const step = nodeTool(title, 'vitest/vitest.mjs', ['run', ...reporters, ...args]);
  const env = {
    ...more,
    NO_COLOR: '1',
    USCOPE_SKIPPED: join(directory, SKIPPED),
    USCOPE_FILE_TIMES: join(directory, TIMES),
    USCOPE_MODULE_CACHE: join(directory, MODULES),
    USCOPE_RUNNING: join(directory, RUNNING),
  };
  const ended = await run({ ...step, timeoutMs: VITEST_TIMEOUT_MS, env });
  const outcome = withRunning(ended, readOrNull(join(directory, RUNNING)) ?? '');
  printResult(step.title, outcome);
  return countsFromVitest(outcome.ok, readOrNull(report));
}

/**
 * What the tests were slow at, and what they were skipped for.
 * @param {string} directory
 */
function printFiles(directory) {
  const report = readOrNull(join(directory, REPORT));
  if (report === null) return;
  const files = JSON.parse(report).testResults;
  console.log(
    `\nSlowest test files\n${slowestLines(readOrNull(join(directory, TIMES)) ?? '', ROOT).join('\n')}`,
  );
  const skipped = skippedLines(files, readOrNull(join(directory, SKIPPED)) ?? '', ROOT);
  if (skipped.length > 0) console.log(`\nSkipped tests\n${skipped.join('\n')}`);
}

/** @param {string} file */
function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
