// @ts-check
/** Reports of a whole trace by the command line: from its index, and with `--exact` from all of it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const execute = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
const WORKLOAD = 'ooo';
const CYCLES = 20e6;
const TARGET = { atMost: 1e9 };
const MAX_OUTPUT = 64 * 1024 * 1024;
const REPORTS = {
  stats: ['stats', '--json'],
  'stats as a page': ['stats', '--html', '-'],
  buffers: ['buffers', '--json', '--series', '60'],
  counters: ['counters', '--json', '--series', '60'],
};

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchReports({ compression, cycles, runs }, directory) {
  const length = cycles ?? CYCLES;
  await withDaemon(directory, compression, (env) => native(['path', WORKLOAD, String(length)], env));
  const path = join(directory, 'path.uscope');
  /** @type {Row[]} */
  const rows = [];
  for (const [name, [verb, ...more]] of Object.entries(REPORTS)) {
    const answers = await repeat(runs, () => timed([verb, path, ...more]));
    const scan = await timed([verb, path, ...more, '--exact']);
    if (plain(scan.out) !== plain(answers[0].out)) throw new Error(`${name}: the index says something else`);
    rows.push({
      name: `uscope ${name}, ${(length / 1e6).toLocaleString('en-US')} M cycles of ${WORKLOAD}, process included`,
      ...spread(answers.map(({ ns }) => ns)),
      unit: 'ns',
      target: TARGET,
      limit: `${(scan.ns / 1e6).toFixed(0)} ms: the same with --exact, on all cores`,
      bound: scan.ns,
    });
  }
  return rows;
}

/** @param {string[]} args */
async function timed(args) {
  const start = performance.now();
  const { stdout } = await execute(process.execPath, [COMMAND, ...args], { maxBuffer: MAX_OUTPUT });
  return { ns: (performance.now() - start) * 1e6, out: stdout };
}

/** Where the numbers come from differs. @param {string} out */
function plain(out) {
  return out.replaceAll(/"source": "\w+"/g, '');
}
