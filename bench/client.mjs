// @ts-check
/** What the client costs the simulator's thread: per item over many cycles, and cycle by cycle. */
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { median, spread } from './statistics.mjs';
import { duration } from './table.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** Few enough for the records of one run to fit into half of the default credit (32 MiB): the thread never waits. */
const CYCLES_WITHIN_CREDIT = { std: 100_000, ooo: 40_000 };
const LATENCY_CYCLES = { std: 1_000_000, ooo: 400_000 };
/** Of a model that simulates something: a fast one, 7 M items in a second. */
const MODEL_NS = 1000;
/** Within the second after which the kernel lets others run before a thread of real-time priority. */
const MODEL_CYCLES = 400_000;
const NS_PER_ITEM = 4;
const P9999_NS = 2000;
const MAX_NS_ABOVE_LOOP = 200_000;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchClient({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES_WITHIN_CREDIT[workload]);
  // Of milliseconds each: many of them, so that more is seen than a moment of a shared machine.
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
  /** Of a loop, above the loop alone in the same process. @param {Record<string, number>} from @param {string} key @param {string} empty */
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
 * As long as the client's buffers last, and far beyond: with a model that takes its time, and with one that makes data
 * faster than the daemon compresses it, and is held up by credit. Each time with the loop that does not trace, in the same process.
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchLatency({ workload, cycles, compression, runs }, directory) {
  const long = cycles ?? LATENCY_CYCLES[workload];
  const lengths = /** @type {const} */ ([
    ['cycle', Math.min(long, CYCLES_WITHIN_CREDIT[workload]), 0],
    ['cycle of a model of 1 µs, long run', Math.min(long, MODEL_CYCLES), MODEL_NS],
    ['cycle at full speed, long run', long, 0],
  ]);
  /** @type {Row[]} */
  const rows = [];
  for (const [label, size, pace] of lengths) {
    /** @type {Record<string, number>[]} */
    const results = [];
    await withDaemon(directory, compression, async (env) => {
      for (let run = 0; run < runs; run++)
        results.push(await native(['latency', workload, String(size), String(pace)], env));
    });
    rows.push(...latencyRows(label, results));
  }
  return rows;
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
    ['max', 'longest'],
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
