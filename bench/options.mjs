// @ts-check
/** What `npm run bench` is told. */
import { parseArgs } from 'node:util';

export const BENCHMARKS = /** @type {const} */ ([
  'client',
  'latency',
  'path',
  'cores',
  'writer',
  'reader',
  'demo',
  'cocotb',
  'stf',
]);

/** @typedef {(typeof BENCHMARKS)[number]} BenchmarkName */
/** @typedef {'lz4' | 'zstd' | 'none'} Compression */

/**
 * @typedef {object} Options
 * @property {BenchmarkName[]} names
 * @property {'std' | 'ooo'} workload
 * @property {number | null} cycles null: each benchmark's own
 * @property {number} runs
 * @property {Compression} compression
 * @property {string | null} out Where traces are written; null: a temporary directory.
 * @property {boolean} json
 */

export const USAGE = `npm run bench -- [NAME...] [options]

  NAME           ${BENCHMARKS.join(', ')}; default: all
  --workload W   std (7 items per cycle, default) or ooo (about 18); demo has its own
  --cycles N     cycles per run; demo runs its program to the end
  --runs N       runs of each measurement (default 5); the median is reported
  --compression  lz4 (default), zstd or none
  --out DIR      where traces are written (default: a temporary directory)
  --json         results as JSON on stdout
`;

/**
 * @param {string[]} argv
 * @returns {Options | null} null: usage was asked for
 * @throws {Error} what is wrong with the arguments
 */
export function parseOptions(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      workload: { type: 'string', default: 'std' },
      cycles: { type: 'string' },
      runs: { type: 'string', default: '5' },
      compression: { type: 'string', default: 'lz4' },
      out: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  return {
    names: positionals.length
      ? positionals.map((name) => oneOf('benchmark', name, BENCHMARKS))
      : [...BENCHMARKS],
    workload: oneOf('--workload', values.workload, /** @type {const} */ (['std', 'ooo'])),
    cycles: values.cycles === undefined ? null : count('--cycles', values.cycles),
    runs: count('--runs', values.runs),
    compression: oneOf('--compression', values.compression, /** @type {const} */ (['lz4', 'zstd', 'none'])),
    out: values.out ?? null,
    json: values.json,
  };
}

/**
 * @template {string} T
 * @param {string} what
 * @param {string} value
 * @param {readonly T[]} allowed
 * @returns {T}
 */
function oneOf(what, value, allowed) {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw new Error(`${what}: "${value}" is none of ${allowed.join(', ')}`);
  return found;
}

/**
 * @param {string} what
 * @param {string} value
 */
function count(what, value) {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new Error(`${what}: "${value}" is not a positive whole number`);
  }
  return number;
}
