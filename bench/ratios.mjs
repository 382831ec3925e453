// @ts-check
/** The ten ratios that docs/explanation/performance.md begins with, from the rows of one run. */
import { format, shownValue, targetText } from './table.mjs';

/** @typedef {import('./results.mjs').Results} Results */
/** @typedef {import('./table.mjs').Row} Row */

/**
 * The row `of` of a benchmark divided by `by`: another row of it, a number in the unit of `of`, or the limit that was measured with it.
 * Without `by` the row is a ratio already.
 * @typedef {{what: string, benchmark: string, of: RegExp, by?: RegExp | number | 'limit', than?: string}} Definition
 */
/** @typedef {{what: string, benchmark: string, value: number, from: string, target: string}} Ratio */

/** @type {readonly Definition[]} */
export const RATIOS = [
  {
    what: 'one item in the simulator’s thread / an empty call that stores 16 bytes',
    ...{ benchmark: 'client', of: /^simulator thread, elapsed/, by: 'limit' },
  },
  {
    what: 'cycle of the demo core, traced / untraced',
    ...{ benchmark: 'demo', of: /^traced cycle \/ untraced cycle/ },
  },
  {
    what: 'run of the demo core, traced / with Verilator’s FST dump',
    ...{ benchmark: 'demo', of: /^traced run \/ FST run/ },
  },
  {
    what: 'calls of a cycle, 99.99 % of them below / cycle of a model of 1 µs',
    ...{ benchmark: 'latency', of: /model of 1 µs.*: 99\.99 %/, by: 1000, than: '1 µs' },
  },
  {
    what: 'throughput from the model to the finished file / LZ4 of the same bytes on one thread',
    ...{ benchmark: 'path', of: /^whole path/, by: 'limit' },
  },
  {
    what: 'size of the file, `--small` / default',
    ...{ benchmark: 'size', of: /^size of the file, --small/, by: /^size of the file, default/ },
  },
  {
    what: 'peak memory of the daemon, longest / shortest trace',
    ...{ benchmark: 'memory', of: / times the cycles / },
  },
  {
    what: 'throughput of four traces together / one trace',
    ...{ benchmark: 'cores', of: /^the second \/ the first/ },
  },
  {
    what: 'throughput of a scan over all items / reading and decompression alone',
    ...{ benchmark: 'reader', of: /^scan, .*per processor time/, by: 'limit' },
  },
  {
    what: 'state at a random time / reading and decompression of one segment',
    ...{ benchmark: 'reader', of: /^state at a random time.*half of them/, by: 'limit' },
  },
];

/**
 * Those of the ratios whose rows the run has.
 * @param {Results} results
 * @returns {Ratio[]}
 */
export function ratiosOf({ results }) {
  return RATIOS.flatMap(({ what, benchmark, of, by, than }) => {
    const rows = results[benchmark] ?? [];
    const row = rows.find(({ name }) => of.test(name));
    if (!row) return [];
    const target = targetText(row);
    if (by === undefined) return [{ what, benchmark, value: row.value, from: '', target }];
    const divisor = divisorOf(row, by, rows);
    if (divisor === undefined) return [];
    const from = `${shownValue(row)} / ${than ?? shownValue({ ...row, value: divisor })}`;
    return [{ what, benchmark, value: row.value / divisor, from, target }];
  });
}

/** @param {Row} row @param {RegExp | number | 'limit'} by @param {readonly Row[]} rows @returns {number | undefined} */
function divisorOf(row, by, rows) {
  if (by === 'limit') return row.bound;
  return typeof by === 'number' ? by : rows.find(({ name }) => by.test(name))?.value;
}

/** @param {readonly Ratio[]} ratios @returns {string[]} lines of Markdown */
export function ratioTable(ratios) {
  return [
    '| ratio | value | from | target of the first | table |',
    '|---|---|---|---|---|',
    ...ratios.map(
      ({ what, benchmark, value, from, target }) =>
        `| ${what} | **${format(value)}** | ${from} | ${target} | [${benchmark}](#${benchmark}) |`,
    ),
  ];
}
