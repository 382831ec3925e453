// @ts-check
/** What the client costs the simulator's thread: per item over many cycles, and for single cycles. */
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { median, repeat, spread } from './statistics.mjs';
import { duration } from './table.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** The records of one run fit into half of the default credit (32 MiB), so the thread never waits. */
const CYCLES_WITHIN_CREDIT = { std: 100_000, ooo: 40_000 };
const LATENCY_CYCLES = { std: 1_000_000, ooo: 400_000 };
/** What models of different size need for a cycle. */
export const MODELS_NS = /** @type {const} */ ([500, 1000, 2000, 5000]);
/** The kernel interrupts a thread of real-time priority after a second. */
const MODEL_SPAN_NS = 1e9;
/** Enough for the slowest cycle of 10,000 to be found 40 times. */
const MODEL_CYCLES = 400_000;
const NS_PER_ITEM = 4;
const P9999_NS = 2000;
/** Of neighbouring runs, whose median varies by some percent. */
const CPP_RATIO = 1.05;
const MAX_NS_ABOVE_LOOP = 200_000;
const LONGEST = 'longest';

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchClient({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES_WITHIN_CREDIT[workload]);
  // A run takes milliseconds. Many of them show more than one moment of a shared machine.
  const repeats = runs * 12 + 1;
  const times = String(repeats);
  const floor = await native(['floor', workload, size, times]);
  const client = await withDaemon(directory, compression, (env) =>
    native(['client', workload, size, times], env),
  );
  return clientRows(floor, client, repeats);
}

/**
 * @param {Record<string, number>} floor
 * @param {Record<string, number>} client
 * @param {number} runs
 * @returns {Row[]}
 */
function clientRows(floor, client, runs) {
  /** The time of a loop above that of the empty loop in the same process. @param {Record<string, number>} from @param {string} key @param {string} empty */
  const above = (from, key, empty) => ({
    value: from[`${key}_median`] - from[`${empty}_median`],
    min: from[`${key}_min`] - from[`${empty}_median`],
    max: from[`${key}_max`] - from[`${empty}_median`],
    runs,
    unit: 'ns',
  });
  const call = above(floor, 'call_ns_per_item', 'empty_ns_per_item');
  const copy = floor.record_bytes_per_item / floor.copy_gb_per_s_median;
  const limit = `${call.value.toFixed(2)} ns: an empty call and a store of 16 bytes`;
  const bound = call.value;
  return [
    {
      name: 'simulator thread, elapsed time per item',
      ...above(client, 'wall_ns_per_item', 'empty_ns_per_item'),
      target: { atMost: NS_PER_ITEM },
      limit,
      bound,
    },
    {
      name: 'the same, best run',
      value: client.wall_ns_per_item_min - client.empty_ns_per_item_min,
      unit: 'ns',
      limit: `${(floor.call_ns_per_item_min - floor.empty_ns_per_item_min).toFixed(2)} ns: its best run`,
    },
    {
      name: 'the same, processor time of the thread',
      ...above(client, 'cpu_ns_per_item', 'empty_cpu_ns_per_item'),
      limit,
      bound,
    },
    {
      name: 'the same calls through uscope.hpp, elapsed time',
      ...above(client, 'cpp_wall_ns_per_item', 'empty_ns_per_item'),
      limit,
      bound,
    },
    {
      name: 'uscope.hpp beside uscope.h, the loop included, processor time',
      value: client.cpp_ratio_median,
      min: client.cpp_ratio_min,
      max: client.cpp_ratio_max,
      runs,
      unit: 'times',
      target: { atMost: CPP_RATIO },
    },
    { name: 'the loop alone (subtracted above)', value: client.empty_ns_per_item_median, unit: 'ns' },
    {
      name: 'the loop with plain stores of the records',
      value: floor.store_ns_per_item_median,
      unit: 'ns',
      limit: `${copy.toFixed(1)} ns: memcpy of the records`,
    },
  ];
}

/**
 * The time of single cycles, in three situations:
 * - at full speed, no longer than the client's credit lasts;
 * - in models that need 0.5 to 5 µs for a cycle, for as long as you like;
 * - at full speed for longer than the credit lasts. Such a model makes data faster than the daemon compresses it, so it has to wait. This
 *   back-pressure is intended, and no target applies to it.
 * The same process also times the loop without tracing.
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchLatency({ workload, cycles, compression, runs }, directory) {
  const long = cycles ?? LATENCY_CYCLES[workload];
  /** @param {number} size in cycles @param {number} modelNs */
  const measure = (size, modelNs) =>
    withDaemon(directory, compression, (env) =>
      repeat(runs, () => native(['latency', workload, String(size), String(modelNs)], env)),
    );
  const rows = latencyRows('cycle', await measure(Math.min(long, CYCLES_WITHIN_CREDIT[workload]), 0));
  for (const modelNs of MODELS_NS) {
    const size = Math.min(long, MODEL_CYCLES, MODEL_SPAN_NS / modelNs);
    rows.push(...modelRows(modelNs, await measure(size, modelNs)));
  }
  return [...rows, ...backPressureRows(await measure(long, 0))];
}

/**
 * What a model sees that needs `modelNs` for a cycle. Its rows are plotted.
 * @param {number} modelNs
 * @param {readonly Record<string, number>[]} results
 * @returns {Row[]}
 */
export function modelRows(modelNs, results) {
  const label = `cycle of a model of ${modelNs / 1000} µs, long run`;
  return latencyRows(label, results).map((row) => {
    const line = row.name.slice(label.length + 2);
    return line === LONGEST ? row : { ...row, series: 'latency', line, x: modelNs };
  });
}

/**
 * @param {readonly Record<string, number>[]} results
 * @returns {Row[]}
 */
export function backPressureRows(results) {
  return latencyRows('back-pressure, a model that only traces', results).map(
    ({ target: _none, ...row }) => row,
  );
}

/**
 * @param {string} label
 * @param {readonly Record<string, number>[]} results
 * @returns {Row[]}
 */
export function latencyRows(label, results) {
  const points = /** @type {const} */ ([
    ['p50', '50 % of them below'],
    ['p99', '99 % of them below'],
    ['p9999', '99.99 % of them below'],
    ['max', LONGEST],
  ]);
  return points.map(([key, share]) => {
    const empty = median(results.map((result) => result[`empty_ns_${key}`]));
    const held = median(results.map((result) => result[`held_ns_${key}`]));
    const targets = { p9999: P9999_NS, max: empty + MAX_NS_ABOVE_LOOP };
    return {
      name: `${label}: ${share}`,
      ...spread(results.map((result) => result[`client_ns_${key}`])),
      unit: 'ns',
      ...(key in targets ? { target: { atMost: targets[/** @type {'max'} */ (key)] } } : {}),
      limit: `${duration(empty)}: the same loop without tracing; ${duration(held)}: a cycle that only waits, for the median`,
      bound: empty,
    };
  });
}
