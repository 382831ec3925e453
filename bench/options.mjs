// @ts-check
/** Arguments of `npm run bench`. */
import { parseArgs } from 'node:util';

export const BENCHMARKS = /** @type {const} */ ([
  'client',
  'latency',
  'path',
  'size',
  'memory',
  'growth',
  'cores',
  'writer',
  'library',
  'reader',
  'answers',
  'index',
  'dataset',
  'demo',
  'cocotb',
  'stf',
  'waves',
  'flux',
  'ftr',
  'ctrace',
  'formats',
  'systemc',
]);

/** @typedef {(typeof BENCHMARKS)[number]} BenchmarkName */
export const INDEX_PARTS = /** @type {const} */ (['cost', 'questions', 'long', 'blocks', 'reports']);
/** @typedef {(typeof INDEX_PARTS)[number]} IndexPart */
/** @typedef {'lz4' | 'zstd' | 'none' | 'small'} Compression */

/**
 * @typedef {object} Options
 * @property {BenchmarkName[]} names
 * @property {'std' | 'ooo'} workload
 * @property {number | null} cycles null: each benchmark's own
 * @property {number} runs
 * @property {Compression} compression
 * @property {string | null} out Where traces are written; null: a temporary directory.
 * @property {boolean} build Bring packages, the SDK and the C half up to date first.
 * @property {boolean} long The lengths that the targets name: 100 M cycles, a trace of 1 GB.
 * @property {IndexPart | null} part Of `index`; null: all.
 * @property {string | null} json A file for the results, `-` for stdout instead of tables; null: none.
 */

/**
 * @typedef {{verb: 'measure', options: Options}
 *   | {verb: 'compare', old: string, new: string | null}
 *   | {verb: 'report', files: string[]}
 *   | {verb: 'profile'}} Request
 */

export const USAGE = `npm run bench -- [NAME...] [options]         measure
npm run bench -- compare OLD.json [NEW.json]  compares ratios to the limits; exit status 1 when one is worse
npm run bench -- report FILE.json...          writes docs/explanation/performance.md (ratios of the first)
npm run bench -- profile                      where the time goes: client, daemon, reader

  NAME           ${BENCHMARKS.join(', ')}; default: all
  --workload W   std (7 items per cycle, default) or ooo (about 18); of demo: the in-order or the out-of-order core
  --cycles N     cycles per run; demo runs its program to the end
  --runs N       runs of each measurement (default 5); the median is reported
  --compression  lz4 (default), zstd, none or small
  --long         memory, reader and answers as long as their targets say: 100 M cycles, 1 GB; needs 6 GB of disk
  --part P       of index: ${INDEX_PARTS.join(', ')}; default: all, long only with --long
  --out DIR      where traces are written (default: a temporary directory)
  --no-build     measure what is built already
  --json FILE    also writes the results as JSON; - means stdout, without tables
`;

/**
 * @param {readonly string[]} argv
 * @returns {Request | null} null: usage was asked for
 * @throws {Error} what is wrong with the arguments
 */
export function parseRequest(argv) {
  const [verb, ...files] = argv;
  if (verb === 'compare') {
    if (files.length < 1 || files.length > 2)
      throw new Error('compare takes OLD.json and, if you like, NEW.json');
    return { verb, old: files[0], new: files[1] ?? null };
  }
  if (verb === 'report') {
    if (files.length < 1) throw new Error('report takes the JSON files of one run or several');
    return { verb, files };
  }
  if (verb === 'profile') {
    if (files.length > 0) throw new Error('profile takes nothing');
    return { verb };
  }
  const options = parseOptions(argv);
  return options && { verb: 'measure', options };
}

/**
 * @param {readonly string[]} argv
 * @returns {Options | null} null: usage was asked for
 * @throws {Error} what is wrong with the arguments
 */
export function parseOptions(argv) {
  const { values, positionals } = parseArgs({
    // a bare --json means stdout
    args: argv.map((arg, i) =>
      arg === '--json' && (argv[i + 1] ?? '--').startsWith('--') ? '--json=-' : arg,
    ),
    allowPositionals: true,
    options: {
      workload: { type: 'string', default: 'std' },
      cycles: { type: 'string' },
      runs: { type: 'string', default: '5' },
      compression: { type: 'string', default: 'lz4' },
      out: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      part: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const methods = /** @type {const} */ (['lz4', 'zstd', 'none', 'small']);
  return {
    names: positionals.length
      ? positionals.map((name) => oneOf('benchmark', name, BENCHMARKS))
      : [...BENCHMARKS],
    workload: oneOf('--workload', values.workload, /** @type {const} */ (['std', 'ooo'])),
    cycles: values.cycles === undefined ? null : count('--cycles', values.cycles),
    runs: count('--runs', values.runs),
    compression: oneOf('--compression', values.compression, methods),
    out: values.out ?? null,
    build: !values['no-build'],
    long: values.long,
    part: values.part === undefined ? null : oneOf('--part', values.part, INDEX_PARTS),
    json: values.json ?? null,
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
