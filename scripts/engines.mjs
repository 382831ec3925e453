// @ts-check
/**
 * Other engines over the same dataset: `npm run engines`. The short farm is simulated and exported; Spark in local mode answers scripts/engines/queries,
 * and has to give the rows of `uscope sql`; the examples of docs/how-to/dataset.md run with DuckDB's Python package, pandas and Polars,
 * and have to see the names of runs as they are.
 *
 * `-- --dataset DIRECTORY` takes a dataset of the farm that is there. What is missing it installs from PyPI into scripts/engines/.venv. Exit status: 0 all answers are equal, 1 one is not or a program is missing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './step.mjs';

const HERE = join(ROOT, 'scripts/engines');
const VENV = process.env.USCOPE_ENGINES_VENV ?? join(HERE, '.venv');
const PYTHON = join(VENV, 'bin/python');
const PACKAGES = ['pyspark~=3.5.0', 'duckdb', 'pandas', 'polars', 'pyarrow'];
const QUERIES = join(HERE, 'queries');
const PAGE = join(ROOT, 'docs/how-to/dataset.md');
const COMMAND = join(ROOT, 'sdk/bin/uscope.js');
/** Of floating-point numbers: engines add up in other orders. */
const TOLERANCE = 1e-9;

function install() {
  if (spawnSync(PYTHON, ['-c', 'import pyspark, duckdb, pandas, polars, pyarrow']).status === 0) return;
  execFileSync('python3', ['-m', 'venv', VENV], { stdio: 'inherit' });
  const pip = ['install', '-q', '--disable-pip-version-check', ...PACKAGES];
  execFileSync(join(VENV, 'bin/pip'), pip, { stdio: 'inherit' });
}

/** @param {string} folder */
function makeDataset(folder) {
  const farm = ['--import', './test/support/source-process.mjs', 'verilator-demo/farm/main.ts'];
  execFileSync(process.execPath, [...farm, '--short', '--out', folder], { cwd: ROOT, stdio: 'inherit' });
  return join(folder, 'dataset');
}

/** Rows as arrays. @param {string} dataset @param {string} file @returns {unknown[][]} */
function ours(dataset, file) {
  const args = [COMMAND, 'sql', dataset, '-f', file, '--json', '--no-links'];
  const text = execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return JSON.parse(text).map((/** @type {object} */ row) => Object.values(row));
}

/** @param {unknown} a @param {unknown} b */
function isSame(a, b) {
  if (a === null || b === null || Number.isNaN(Number(a)) || Number.isNaN(Number(b))) return a === b;
  const [left, right] = [Number(a), Number(b)];
  return Math.abs(left - right) <= TOLERANCE * Math.max(1, Math.abs(left), Math.abs(right));
}

/** @param {unknown[][]} mine @param {unknown[][]} theirs @returns {string | null} the first difference */
function difference(mine, theirs) {
  if (mine.length === 0) return 'there are no rows';
  if (mine.length !== theirs.length) return `${mine.length} rows, and ${theirs.length} of Spark`;
  const at = mine.findIndex(
    (row, index) =>
      row.length !== theirs[index].length || row.some((cell, i) => !isSame(cell, theirs[index][i])),
  );
  return at < 0 ? null : `row ${at}: ${JSON.stringify(mine[at])}, and ${JSON.stringify(theirs[at])} of Spark`;
}

/** @param {string} dataset @returns {number} of failures */
function compareSpark(dataset) {
  const files = readdirSync(QUERIES)
    .sort()
    .map((name) => join(QUERIES, name));
  const text = execFileSync(PYTHON, [join(HERE, 'spark.py'), dataset, ...files], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const theirs = JSON.parse(text);
  let failures = 0;
  for (const file of files) {
    const name = file.slice(QUERIES.length + 1);
    const mine = ours(dataset, file);
    const found = difference(mine, theirs[name]);
    process.stdout.write(`spark ${name}: ${found ?? `${mine.length} equal rows`}\n`);
    if (found !== null) failures++;
  }
  return failures;
}

/** The examples of the page, each in a process in the folder of the dataset. @param {string} folder @returns {number} of failures */
function runExamples(folder) {
  const examples = [...readFileSync(PAGE, 'utf8').matchAll(/```python\n(.*?)```/gs)];
  if (examples.length < 3) throw new Error(`${PAGE} has ${examples.length} examples`);
  let failures = 0;
  for (const [, code] of examples) {
    const title = code.split('\n')[0];
    const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', code], { cwd: folder, encoding: 'utf8' });
    const isRight = status === 0 && stdout.trim() !== '';
    process.stdout.write(
      `python "${title}": ${isRight ? `${stdout.trim().split('\n').length} lines` : stderr}\n`,
    );
    if (!isRight) failures++;
  }
  return failures;
}

/** Names that engines like to take for numbers and NULL. */
const NAMES = ['0007', '0042', '7', '2026-01-31', 'null'];
/** The runs of an example's table `traces`. */
const RUNS_OF = {
  DuckDB: "[run for run, in traces.select('run').fetchall()]",
  pandas: 'list(traces.run)',
  Polars: "traces.select('run').collect()['run'].to_list()",
};

/** The same examples see the names of runs as they are, below a directory that is a partition, too. @param {string} folder @param {string} dataset @returns {number} of failures */
function checkNames(folder, dataset) {
  const below = join(folder, 'run=nightly');
  const [[trace]] = JSON.parse(
    execFileSync(process.execPath, [COMMAND, 'sql', dataset, 'select file from traces limit 1', '--json'], {
      encoding: 'utf8',
    }),
  ).map(Object.values);
  for (const run of NAMES)
    execFileSync(process.execPath, [
      COMMAND,
      'export',
      trace,
      '--run',
      run,
      '--tag',
      'commit=1',
      '-o',
      join(below, 'dataset'),
    ]);
  let failures = 0;
  for (const [engine, runs] of Object.entries(RUNS_OF)) {
    const [, code] =
      new RegExp(`## ${engine}\n\n\`\`\`python\n(.*?)\`\`\``, 's').exec(readFileSync(PAGE, 'utf8')) ?? [];
    const script = `${code}\nimport json; print(json.dumps(sorted(${runs})))`;
    const { stdout, stderr } = spawnSync(PYTHON, ['-c', script], { cwd: below, encoding: 'utf8' });
    const isRight = stdout.trim().split('\n').at(-1) === `["${[...NAMES].sort().join('", "')}"]`;
    process.stdout.write(`names in ${engine}: ${isRight ? 'as they are' : `${stdout}${stderr}`}\n`);
    if (!isRight) failures++;
  }
  return failures;
}

const folder = mkdtempSync(join(tmpdir(), 'uscope-engines-'));
try {
  install();
  if (!existsSync(COMMAND)) throw new Error('the SDK is not built: npm run setup');
  const { values } = parseArgs({ options: { dataset: { type: 'string' } } });
  const dataset = values.dataset === undefined ? makeDataset(folder) : resolve(values.dataset);
  const failures = compareSpark(dataset) + runExamples(dirname(dataset)) + checkNames(folder, dataset);
  const total =
    readdirSync(QUERIES).length +
    [...readFileSync(PAGE, 'utf8').matchAll(/```python\n/g)].length +
    Object.keys(RUNS_OF).length;
  process.stdout.write(`${total - failures} passed, ${failures} failed\n`);
  if (failures > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
