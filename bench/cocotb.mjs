// @ts-check
/** The cocotb path: items per second from Python, and what tracing costs a simulated cycle on Icarus. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PYTHON, pythonEnvironment } from '../scripts/cocotb.mjs';
import { withDaemon } from './daemon.mjs';
import { median } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const execute = promisify(execFile);
const ITEMS = 280_000;
const CYCLES = 10_000;
const SCHEMA = 'test/vectors/codegen/core.yaml';
const ROOT = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchCocotb({ cycles, compression, runs }, directory) {
  const why = await pythonEnvironment();
  if (why !== null) throw new Error(`the cocotb adapter cannot be measured: ${why}`);
  const size = cycles ?? CYCLES;
  const items = await withDaemon(directory, compression, (env) =>
    python(['items.py', String(ITEMS), String(runs), join(ROOT, SCHEMA)], env),
  );
  const simulated = await withDaemon(directory, compression, (env) =>
    python(['simulate.py', String(size), String(runs), directory], env),
  );
  return [...itemRows(items), ...cycleRows(simulated, size)];
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
async function python([script, ...args], env) {
  const { stdout } = await execute(PYTHON, [join(ROOT, 'bench', 'cocotb', script), ...args], {
    env: {
      ...process.env,
      ...env,
      PYTHONPATH: join(ROOT, 'cocotb-adapter', 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/**
 * @param {{python: string, rates: Record<string, number[]>}} measured
 * @returns {Row[]}
 */
function itemRows({ python, rates }) {
  const limit = `${Math.round(median(rates.stores)).toLocaleString('en-US')}: two stores in a loop, Python ${python}`;
  const names = [
    ['by_name', 'field by field and emit()'],
    ['in_lists', 'set_many with lists of 32'],
    ['in_arrays', 'set_many with numpy arrays of 1024'],
  ];
  return names
    .filter(([key]) => rates[key])
    .map(([key, name]) => ({
      name,
      value: median(rates[key]),
      unit: 'items/s',
      target: { atLeast: 150_000 },
      ...(key === 'by_name' ? { limit } : {}),
    }));
}

/**
 * @param {{cocotb: string, seconds: Record<string, number[]>}} measured
 * @param {number} cycles
 * @returns {Row[]}
 */
function cycleRows({ cocotb, seconds }, cycles) {
  // Python's own pace changes from run to run by more than tracing costs: the best runs are compared
  const perCycle = (/** @type {string} */ mode) => (Math.min(...seconds[mode]) / cycles) * 1e9;
  const base = perCycle('untraced');
  return [
    { name: `cycle on Icarus, untraced, best run, cocotb ${cocotb}`, value: base, unit: 'ns' },
    ...[
      ['emitted', 'about one event per cycle'],
      ['watched', 'the same and 11 signals watched'],
    ].flatMap(([mode, name]) => [
      { name: `what tracing adds: ${name}`, value: perCycle(mode) - base, unit: 'ns' },
      { name: 'the same, times the untraced cycle', value: perCycle(mode) / base, unit: '×' },
    ]),
  ];
}
