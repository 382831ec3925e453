// @ts-check
/** What the client costs the simulator's thread: per item over many cycles, and cycle by cycle. */
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** Few enough for the records of one run to fit into half of the default credit (32 MiB): the thread never waits. */
const CYCLES_WITHIN_CREDIT = { std: 100_000, ooo: 40_000 };
const LATENCY_CYCLES = { std: 1_000_000, ooo: 400_000 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchClient({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES_WITHIN_CREDIT[workload]);
  const times = String(runs * 4 + 1);
  const floor = await native(['floor', workload, size, times]);
  const client = await withDaemon(directory, compression, (env) =>
    native(['client', workload, size, times], env),
  );
  const stores = floor.store_ns_per_item_median - floor.empty_ns_per_item_median;
  const copy = floor.record_bytes_per_item / floor.copy_gb_per_s_median;
  const limit = `${stores.toFixed(1)} ns: the same records stored without a check; ${copy.toFixed(1)} ns: memcpy of them`;
  return [
    {
      name: 'simulator thread, elapsed time per item',
      value: client.wall_ns_per_item_median - client.empty_ns_per_item_median,
      unit: 'ns',
      target: { atMost: 8 },
      limit,
    },
    {
      name: 'the same, best run',
      value: client.wall_ns_per_item_min - client.empty_ns_per_item_min,
      unit: 'ns',
    },
    {
      name: 'the same, processor time of the thread',
      value: client.cpu_ns_per_item_median - client.empty_ns_per_item_median,
      unit: 'ns',
    },
    { name: 'the loop alone (subtracted above)', value: client.empty_ns_per_item_median, unit: 'ns' },
  ];
}

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchLatency({ workload, cycles, compression }, directory) {
  const size = String(cycles ?? LATENCY_CYCLES[workload]);
  const result = await withDaemon(directory, compression, (env) => native(['latency', workload, size], env));
  const points = /** @type {const} */ ([
    ['p50', '50 %'],
    ['p99', '99 %'],
    ['p9999', '99.99 %'],
    ['max', 'longest'],
  ]);
  return points.map(([key, label]) => ({
    name: `cycle, begin to end, ${label}`,
    value: result[`client_ns_${key}`],
    unit: 'ns',
    limit: `${result[`empty_ns_${key}`]} ns without tracing`,
  }));
}
