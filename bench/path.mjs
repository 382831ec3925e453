// @ts-check
/** The whole path: a C model at full speed, client, daemon, file complete and durable. */
import { join } from 'node:path';
import { withDaemon } from './daemon.mjs';
import { indexedPath } from './index-cost.mjs';
import { measureLz4 } from './lz4.mjs';
import { native } from './native.mjs';
import { repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 2_000_000, ooo: 800_000 };
/** M items/s */
const TARGETS = { std: 40, ooo: 28 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchPath({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES[workload]);
  const results = await withDaemon(directory, compression, (env) =>
    repeat(runs, () => native(['path', workload, size], env)),
  );
  const { items } = results[0];
  const lz4 = await measureLz4(join(directory, 'path.uscope'));
  const floor = await native(['floor', workload, '100000', '21']);
  const copyRate = (floor.copy_gb_per_s_median * 1e3) / floor.record_bytes_per_item;
  const bound = items / 1e6 / lz4.seconds;
  const limit = `${bound.toFixed(0)} M items/s: LZ4 of the same bytes alone, one thread; ${copyRate.toFixed(0)}: memcpy of the records`;
  return [
    {
      name: 'whole path, first cycle to complete file',
      ...spread(results.map((run) => items / 1e6 / run.seconds)),
      unit: 'M items/s',
      target: { atLeast: TARGETS[workload] },
      limit,
      bound,
    },
    {
      name: 'of that, until the model was done',
      ...spread(results.map((run) => items / 1e6 / run.model_seconds)),
      unit: 'M items/s',
      limit,
      bound,
    },
    {
      name: 'size before compression',
      value: lz4.rawBytes / items,
      unit: 'B/item',
    },
    { name: 'items in the file', value: items, unit: '' },
    ...(await indexedPath(workload, directory, compression, Number(size), runs)).rows,
  ];
}
