// @ts-check
/** What the client costs the simulator's thread: per item over many cycles, and cycle by cycle. */
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { duration } from './table.mjs';

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
  const copy = floor.record_bytes_per_item / floor.copy_gb_per_s_median;
  const limit = `${copy.toFixed(1)} ns: memcpy of the records`;
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
      value: client.cpu_ns_per_item_median - client.empty_cpu_ns_per_item_median,
      unit: 'ns',
    },
    { name: 'the loop alone (subtracted above)', value: client.empty_ns_per_item_median, unit: 'ns' },
    {
      name: 'the loop with plain stores of the records',
      value: floor.store_ns_per_item_median,
      unit: 'ns',
    },
  ];
}

/**
 * Twice: as long as the client's buffers last, and far beyond, where a model that makes data faster than the daemon
 * compresses it is held up by credit.
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchLatency({ workload, cycles, compression }, directory) {
  const lengths = /** @type {const} */ ([
    ['cycle', CYCLES_WITHIN_CREDIT[workload]],
    ['cycle, long run', cycles ?? LATENCY_CYCLES[workload]],
  ]);
  /** @type {Row[]} */
  const rows = [];
  for (const [label, size] of lengths) {
    const result = await withDaemon(directory, compression, (env) =>
      native(['latency', workload, String(size)], env),
    );
    rows.push(...latencyRows(label, result));
  }
  return rows;
}

/**
 * @param {string} label
 * @param {Record<string, number>} result
 * @returns {Row[]}
 */
function latencyRows(label, result) {
  const points = /** @type {const} */ ([
    ['p50', '50 % of them below'],
    ['p99', '99 % of them below'],
    ['p9999', '99.99 % of them below'],
    ['max', 'longest'],
  ]);
  return points.map(([key, share]) => ({
    name: `${label}: ${share}`,
    value: result[`client_ns_${key}`],
    unit: 'ns',
    limit: `${duration(result[`empty_ns_${key}`])} without tracing`,
  }));
}
