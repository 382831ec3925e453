// @ts-check
/**
 * `npm test`: sets up what is missing, then runs every check there is. A failed step does not keep the others from running
 * unless they need what it builds. The last line is `N passed, N failed` over everything; the exit status is 0 only
 * when nothing failed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cocotbTests } from './cocotb.mjs';
import { countsFromOutput, countsFromVitest, total } from './counts.mjs';
import { buildSteps, runScript, setUpPackages } from './setup.mjs';
import { printResult, run, runStep } from './step.mjs';

/** @typedef {import('./counts.mjs').Counts} Counts */
/** @typedef {import('./step.mjs').Command} Command */

/** For what hangs; a slow machine must not come near it. */
const VITEST_TIMEOUT_MS = 30 * 60_000;

/** @param {string} path */
const bin = (path) => ({ command: process.execPath, lead: [`node_modules/${path}`] });
/**
 * @param {string} title
 * @param {string} path of a Node program below node_modules
 * @param {string[]} args
 * @returns {Command}
 */
function nodeTool(title, path, args) {
  const { command, lead } = bin(path);
  return { title, command, args: [...lead, ...args] };
}
/**
 * @param {string} title
 * @param {string} folder
 * @param {string[]} targets
 * @returns {Command}
 */
function make(title, folder, targets = []) {
  return { title, command: 'make', args: ['-C', folder, '--no-print-directory', ...targets] };
}
/**
 * @param {string} title
 * @param {string} name
 * @returns {Command}
 */
function script(title, name) {
  return { title, command: process.execPath, args: [`scripts/${name}`] };
}

/** Headline -> steps. */
const SECTIONS = /** @type {const} */ ([
  [
    'Sources',
    [
      nodeTool('format and lint (biome)', '@biomejs/biome/bin/biome', ['ci', '--colors=off', '.']),
      ...['dpi', 'sdk/kernel', 'sdk/kernel/native', 'sdk/kernel/reader', 'bench', 'examples/c-model'].map(
        (folder) => make(`format of C in ${folder} (clang-format)`, folder, ['format-check']),
      ),
      nodeTool('types (tsc)', 'typescript/bin/tsc', ['--noEmit', '-p', 'tsconfig.json']),
      script('direction of imports', 'check-imports.mjs'),
      script('lock file', 'check-lockfile.mjs'),
    ],
  ],
  ['Build', buildSteps()],
  [
    'Demo core',
    [
      make('lint the SystemVerilog (Verilator)', 'verilator-demo', ['lint']),
      make('build the demo core', 'verilator-demo'),
    ],
  ],
]);

/** Mostly one process at a time each: on two cores they run beside each other. */
const CLIENTS = [
  make('C client tests', 'dpi', ['-j2', '-O', 'test']),
  make('inner loops of the writer (ASan, UBSan)', 'sdk/kernel', ['test']),
  make('what the native kernel adds (ASan, UBSan)', 'sdk/kernel/native', ['test']),
  make('inner loops of the reader (ASan, UBSan)', 'sdk/kernel/reader', ['test']),
];

await runScript(async () => {
  const started = performance.now();
  await setUpPackages('test');

  /** @type {Counts[]} */
  const counts = [];
  for (const [headline, steps] of SECTIONS) {
    console.log(`\n${headline}`);
    for (const step of steps) counts.push(countsFromOutput(await runStep(step)));
  }
  console.log('\nC and Python');
  counts.push(...(await Promise.all([inTurn(CLIENTS), cocotbTests()])));
  console.log('\nTests');
  counts.push(await vitest(process.argv.slice(2)));

  const { passed, failed, skipped } = total(counts);
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(
    `\n${minutes} minutes${skipped ? `; ${skipped} tests skipped (what they need is not on this machine)` : ''}`,
  );
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

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

/**
 * @param {string[]} args filters and options for vitest
 * @returns {Promise<Counts>}
 */
async function vitest(args) {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-test-'));
  const report = join(directory, 'vitest.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const step = nodeTool('unit, system and end-to-end tests (vitest)', 'vitest/vitest.mjs', [
      'run',
      ...reporters,
      ...args,
    ]);
    const outcome = await run({ ...step, timeoutMs: VITEST_TIMEOUT_MS, env: { NO_COLOR: '1' } });
    printResult(step.title, outcome);
    return countsFromVitest(outcome.ok, readOrNull(report));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {string} file */
function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
