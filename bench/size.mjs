// @ts-check
/** How small files are and what that costs: the default compared with `--small`. */
import { requireSmall } from 'uscope/writer';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 1_000_000, ooo: 400_000 };
/** What the random numbers and stalls of `std` hold, in bytes per item: no lossless file is smaller. */
const INFORMATION = 0.22;
const TARGETS = { lz4: 4.97, small: 1.35 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchSize({ workload, cycles, runs }, directory) {
  const size = String(cycles ?? CYCLES[workload]);
  const isStd = workload === 'std';
  /** @type {Row[]} */
  const rows = [];
  for (const method of methods()) {
    const results = await withDaemon(directory, method, (env) =>
      repeat(runs, () => native(['path', workload, size], env)),
    );
    const { items } = results[0];
    const label = method === 'lz4' ? 'default, LZ4' : '--small, ZSTD';
    rows.push(
      {
        name: `size of the file, ${label}`,
        ...spread(results.map((run) => run.file_bytes / items)),
        unit: 'B/item',
        ...(isStd ? { target: { atMost: TARGETS[method] } } : {}),
        ...(isStd ? { limit: `${INFORMATION} B: the information in it`, bound: INFORMATION } : {}),
      },
      {
        name: `whole path, ${label}`,
        ...spread(results.map((run) => items / 1e6 / run.seconds)),
        unit: 'M items/s',
      },
    );
  }
  const [, lz4, , small] = rows;
  if (small === undefined) return rows;
  small.limit = `${lz4.value.toFixed(1)} M items/s with LZ4`;
  small.bound = lz4.value;
  return rows;
}

/** @returns {('lz4' | 'small')[]} */
function methods() {
  try {
    requireSmall();
    return ['lz4', 'small'];
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return ['lz4'];
  }
}
