// @ts-check
/** How long `uscope timeline` and `uscope stats` take for a thousand cycles anywhere in a long trace, from the start of the process. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const execute = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
/** About 100 MB of `std`, and 1 GB. */
const CYCLES = 4_000_000;
const LONG_CYCLES = 42_000_000;
const ASKED = 1000;
const AT_MOST_NS = 1e9;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchAnswers({ cycles, compression, long, runs }, directory) {
  const size = cycles ?? (long ? LONG_CYCLES : CYCLES);
  await withDaemon(directory, compression, (env) => native(['path', 'std', String(size)], env));
  const path = join(directory, 'path.uscope');
  /** @type {Record<'info' | 'timeline' | 'stats', number[]>} */
  const times = { info: [], timeline: [], stats: [] };
  const questions = cycles === null ? runs * 3 : runs;
  for (let question = 0; question < questions; question++) {
    const from = Math.floor(Math.max(0, size - ASKED) * (questions > 1 ? question / (questions - 1) : 0));
    const range = ['--cycles', `${from}:${Math.min(size, from + ASKED)}`];
    times.info.push(await timed(['info', path]));
    times.timeline.push(await timed(['timeline', path, ...range]));
    times.stats.push(await timed(['stats', path, ...range]));
  }
  return answerRows(times, statSync(path).size);
}

/**
 * @param {Record<'info' | 'timeline' | 'stats', number[]>} times ns
 * @param {number} bytes
 * @returns {Row[]}
 */
export function answerRows(times, bytes) {
  const bound = spread(times.info).value;
  return [
    .../** @type {const} */ (['timeline', 'stats']).map((verb) => ({
      name: `${verb} of ${ASKED} cycles anywhere, process included`,
      ...spread(times[verb]),
      unit: 'ns',
      target: { atMost: AT_MOST_NS },
      limit: `${(bound / 1e6).toFixed(0)} ms: \`uscope info\` of the same file`,
      bound,
    })),
    { name: 'size of that trace', value: bytes / 1e6, unit: 'MB' },
  ];
}

/** ns @param {readonly string[]} args */
async function timed(args) {
  const start = performance.now();
  const { stdout } = await execute(process.execPath, [COMMAND, ...args], { maxBuffer: 1 << 28 });
  if (stdout.length === 0) throw new Error(`uscope ${args.join(' ')} printed nothing`);
  return (performance.now() - start) * 1e6;
}
