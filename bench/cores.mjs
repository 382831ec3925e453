// @ts-check
/** Several traces at once through one daemon: what they reach together, against one trace with as many cycles as all of them. */
import { withDaemon } from './daemon.mjs';
import { statusBytes } from './memory.mjs';
import { native } from './native.mjs';
import { median } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {{rate: number, spread: number, residentBytes: number}} Run */

const CORES = 4;
/** Of all traces together. */
const CYCLES = { std: 2_000_000, ooo: 800_000 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchCores({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES[workload]);
  const { alone, together } = await withDaemon(directory, compression, async (env, pid) => {
    /** @param {number} cores @returns {Promise<Run>} */
    const measure = async (cores) => {
      const run = await native(['cores', workload, size, String(cores)], env);
      return {
        rate: run.items / 1e6 / run.seconds,
        spread: run.most_seconds / run.least_seconds,
        residentBytes: statusBytes(pid, 'VmRSS'),
      };
    };
    // The first run of a daemon compiles, starts threads and touches memory: it is not counted.
    await measure(CORES);
    /** @type {Run[]} */
    const alone = [];
    /** @type {Run[]} */
    const together = [];
    // In turns: what the machine does besides hits both.
    for (let run = 0; run < runs; run++) {
      alone.push(await measure(1));
      together.push(await measure(CORES));
    }
    return { alone, together };
  });
  return rows(alone, together);
}

/**
 * @param {readonly Run[]} alone
 * @param {readonly Run[]} together
 * @returns {Row[]}
 */
export function rows(alone, together) {
  const one = median(alone.map(({ rate }) => rate));
  const all = median(together.map(({ rate }) => rate));
  const first = together[0].residentBytes / 1e6;
  const last = together[together.length - 1].residentBytes / 1e6;
  const traces = together.length * (CORES + 1) + CORES;
  return [
    { name: 'one trace', value: one, unit: 'M items/s' },
    { name: `${CORES} traces at once, together`, value: all, unit: 'M items/s' },
    { name: 'the second / the first', value: all / one, unit: '', target: { atLeast: 0.9 } },
    {
      name: 'slowest of them / fastest',
      value: median(together.map(({ spread }) => spread)),
      unit: '',
      limit: '1: all get the same share',
    },
    {
      name: `memory of the daemon after ${traces} traces`,
      value: last,
      unit: 'MB',
      limit: `${first.toFixed(0)} MB after ${2 * CORES + 1}`,
    },
  ];
}
