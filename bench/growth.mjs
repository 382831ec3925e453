// @ts-check
/** How cost grows with the length of a trace, its width, its storages, and the traces written at once. Rows with `series` and `x` are plotted. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {{x: number, cycles: number, items: number, storages: number}} Point */

/** Items of each point, but where the length itself is what grows. */
const ITEMS = 4_000_000;
const WIDTH = 8;
const STORAGES = 4;
const LENGTHS = [10_000, 100_000, 1_000_000, 5_000_000];
const WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128];
const STORAGE_COUNTS = [1, 4, 16, 64, 256];
const CORES = [1, 2, 4, 8];

/**
 * @param {Options} options `cycles`: about this number, of eight items, at each point, and only the ends of each series
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchGrowth({ cycles, runs, compression, workload }, directory) {
  const items = cycles === null ? ITEMS : cycles * WIDTH;
  const schema = (/** @type {number} */ storages) => writeSchema(directory, storages);
  return withDaemon(directory, compression, async (env) => {
    /** @param {Point} point */
    const run = ({ cycles, items, storages }) =>
      native(['grow', String(storages), String(cycles), String(items)], {
        ...env,
        USCOPE_SCHEMA: schema(storages),
      });
    await run({ x: 0, cycles: 10_000, items: WIDTH, storages: STORAGES }); // the daemon compiles its loops
    /** @type {Row[]} */
    const rows = [];
    for (const [series, unit, points] of pointsOf(items, cycles)) {
      for (const point of cycles === null ? points : ends(points)) {
        rows.push(...pointRows(series, unit, point.x, await repeat(runs, () => run(point))));
      }
    }
    for (const cores of cycles === null ? CORES : ends(CORES)) {
      const size = String(Math.ceil(items / 7 / cores) * cores);
      const results = await repeat(runs, () => native(['cores', workload, size, String(cores)], env));
      rows.push(row('cores', `${cores} traces at once`, 'whole path', cores, results.map(wholePath)));
    }
    return rows;
  });
}

/**
 * @param {number} items
 * @param {number | null} cycles the longest trace
 * @returns {[series: string, unit: string, points: Point[]][]}
 */
function pointsOf(items, cycles) {
  const lengths = cycles === null ? LENGTHS : [Math.ceil(cycles / 10), cycles];
  return [
    ['length', 'cycles', lengths.map((x) => ({ x, cycles: x, items: WIDTH, storages: STORAGES }))],
    [
      'width',
      'items per cycle',
      WIDTHS.map((x) => ({ x, cycles: Math.ceil(items / x), items: x, storages: STORAGES })),
    ],
    [
      'storages',
      'storages',
      STORAGE_COUNTS.map((x) => ({ x, cycles: Math.ceil(items / WIDTH), items: WIDTH, storages: x })),
    ],
  ];
}

/** Enough for a quick look. @template T @param {readonly T[]} all @returns {T[]} */
const ends = (all) => [all[0], all[all.length - 1]];

/** @param {Record<string, number>} result */
const wholePath = ({ seconds, items }) => (seconds * 1e9) / items;

/**
 * @param {string} series
 * @param {string} unit of x
 * @param {number} x
 * @param {readonly Record<string, number>[]} results
 * @returns {Row[]}
 */
function pointRows(series, unit, x, results) {
  const label = `${x.toLocaleString('en-US')} ${unit}`;
  return [
    row(series, label, 'whole path', x, results.map(wholePath)),
    row(
      series,
      label,
      'simulator thread',
      x,
      results.map((result) => result.thread_ns_per_item),
    ),
  ];
}

/**
 * @param {string} series
 * @param {string} label
 * @param {string} line
 * @param {number} x
 * @param {readonly number[]} values ns per item
 * @returns {Row}
 */
function row(series, label, line, x, values) {
  return { name: `${label}: ${line}, per item`, ...spread(values), unit: 'ns', series, line, x };
}

/**
 * Storages of 64 slots with one field.
 * @param {string} directory
 * @param {number} storages
 */
function writeSchema(directory, storages) {
  const path = join(directory, `grow${storages}.json`);
  const storage = { slots: 64, kind: 'dense', fields: { value: 'u32' } };
  const all = Object.fromEntries(Array.from({ length: storages }, (_, i) => [`s${i}`, storage]));
  const schema = {
    uscope: 1,
    dut: { dut_name: 'grow' },
    clocks: { clk: 1000 },
    scopes: { top: { clock: 'clk', storages: all } },
  };
  writeFileSync(path, JSON.stringify(schema));
  return path;
}
