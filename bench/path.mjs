// @ts-check
/** The whole path: a C model at full speed, client, daemon, file complete and durable. */
import { join } from 'node:path';
import { withDaemon } from './daemon.mjs';
import { measureLz4 } from './lz4.mjs';
import { native } from './native.mjs';
import { median, repeat } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 2_000_000, ooo: 800_000 };

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
  const { items, file_bytes: bytes } = results[0];
  const lz4 = await measureLz4(join(directory, 'path.uscope'));
  const floor = await native(['floor', workload, '100000', '21']);
  const rate = items / 1e6 / median(results.map((run) => run.seconds));
  const copyRate = (floor.copy_gb_per_s_median * 1e3) / floor.record_bytes_per_item;
  const lz4Rate = items / 1e6 / lz4.seconds;
  return [
    {
      name: 'whole path, first cycle to complete file',
      value: rate,
      unit: 'M items/s',
      target: { atLeast: 20 },
      limit: `${lz4Rate.toFixed(0)} M items/s: LZ4 of the same bytes alone, one thread; ${copyRate.toFixed(0)}: memcpy of the records`,
    },
    {
      name: 'of that, until the model was done',
      value: items / 1e6 / median(results.map((run) => run.model_seconds)),
      unit: 'M items/s',
    },
    {
      name: 'size of the file',
      value: bytes / items,
      unit: 'B/item',
      limit: `${(lz4.rawBytes / items).toFixed(2)} B before compression`,
    },
    { name: 'items in the file', value: items, unit: '' },
  ];
}
