// @ts-check
/** The results of a run as one document: which machine, which versions, which command, and every row. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { BENCHMARKS } from './options.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/**
 * @typedef {object} Machine
 * @property {string} cpu
 * @property {number} cores
 * @property {number} memoryGiB
 * @property {string} system
 * @property {[number, number]} load Processes that wanted to run, in the minute before the start and before the end.
 */

/**
 * @typedef {object} Results
 * @property {1} version of this form
 * @property {string} date ISO 8601
 * @property {string} command
 * @property {Machine} machine
 * @property {Record<string, string>} versions
 * @property {Pick<Options, 'workload' | 'compression' | 'runs' | 'cycles' | 'long'> & {part?: Options['part']}} options `part` is not in files of earlier releases.
 * @property {Record<string, Row[]>} results by benchmark
 */

/** @returns {Machine} */
export function describeMachine() {
  const load = Math.round(loadavg()[0] * 100) / 100;
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    system: `Linux ${release()}`,
    load: [load, load],
  };
}

export function describeVersions() {
  const { version } = JSON.parse(readFileSync(new URL('../sdk/package.json', import.meta.url), 'utf8'));
  return {
    uscope: version,
    node: process.versions.node,
    cc: firstLine('cc'),
    verilator: firstLine('verilator'),
  };
}

/** @param {string} command */
function firstLine(command) {
  try {
    return execFileSync(command, ['--version'], { encoding: 'utf8' }).split('\n')[0].trim();
  } catch {
    return 'not installed';
  }
}

/** As it is to be given again: without the places of one machine. @param {readonly string[]} argv */
export function commandOf(argv) {
  const isPlace = (/** @type {string | undefined} */ arg) => arg === '--json' || arg === '--out';
  const kept = argv.filter((arg, i) => !/^--(json|out|no-build)(=|$)/.test(arg) && !isPlace(argv[i - 1]));
  return ['npm run bench', ...(kept.length ? ['--', ...kept] : [])].join(' ');
}

/**
 * @param {Options} options
 * @param {readonly string[]} argv
 * @param {Machine} machine as it was at the start
 * @param {Record<string, Row[]>} results
 * @returns {Results}
 */
export function describeResults(options, argv, machine, results) {
  const { workload, compression, runs, cycles, long, part } = options;
  return {
    version: 1,
    date: new Date().toISOString(),
    command: commandOf(argv),
    machine: { ...machine, load: [machine.load[0], describeMachine().load[0]] },
    versions: describeVersions(),
    options: { workload, compression, runs, cycles, long, part },
    results,
  };
}

/**
 * @param {string} file
 * @returns {Results}
 * @throws {Error} when it is not the results of a run
 */
export function readResults(file) {
  /** @type {Results} */
  let document;
  try {
    document = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`);
  }
  const isOurs = document?.version === 1 && typeof document.results === 'object' && document.results !== null;
  if (!isOurs) throw new Error(`${file}: this is not what \`npm run bench -- --json FILE\` writes`);
  const rows = Object.values(document.results).flat();
  const wrong = rows.find((row) => typeof row?.name !== 'string' || !Number.isFinite(row.value));
  if (wrong) throw new Error(`${file}: a row without a name or a value: ${JSON.stringify(wrong)}`);
  return document;
}

/** The run of a document, to be measured again. @param {Results} document @returns {Options} */
export function optionsOf({ options, results }) {
  const names = BENCHMARKS.filter((name) => name in results);
  return { ...options, names, part: options.part ?? null, out: null, json: null, build: true };
}
