// @ts-check
/** Reading: every item of a trace once, and the state at random times. Uses the file the writer's benchmark leaves. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openTraceFile } from 'uscope/reader/node';
import { median, percentile, repeat } from './statistics.mjs';
import { benchWriter } from './writer.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const STATE_QUESTIONS = 200;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchReader(options, directory) {
  const path = join(directory, 'writer.uscope');
  if (!existsSync(path)) await benchWriter({ ...options, runs: 1 }, directory);
  const opens = await repeat(options.runs * 4, () => openOnce(path));
  const scans = await repeat(options.runs + 1, () => scanOnce(path));
  const states = await stateTimes(path);
  const { items } = scans[0];
  return [
    { name: 'open a finished file', value: median(opens), unit: 'ms' },
    {
      name: 'scan, checksums and decompression included',
      value: items / 1e6 / median(scans.slice(1).map((scan) => scan.seconds)),
      unit: 'M items/s',
    },
    { name: 'state at a random time, half of them below', value: median(states), unit: 'ms' },
    { name: 'state at a random time, 99 % of them below', value: percentile(states, 0.99), unit: 'ms' },
  ];
}

/** @param {string} path */
async function openOnce(path) {
  const start = performance.now();
  const trace = await openTraceFile(path);
  const elapsed = performance.now() - start;
  await trace.close();
  return elapsed;
}

/** @param {string} path */
async function scanOnce(path) {
  const trace = await openTraceFile(path);
  const start = performance.now();
  let items = 0;
  await trace.scan({}, { op: () => void items++, event: () => void items++ });
  const seconds = (performance.now() - start) / 1000;
  await trace.close();
  return { seconds, items };
}

/**
 * Milliseconds of each question, on a trace just opened for it: nothing is remembered from the one before.
 * @param {string} path
 */
async function stateTimes(path) {
  return repeat(STATE_QUESTIONS, async (question) => {
    const trace = await openTraceFile(path, { cacheBytes: 0 });
    // A fixed sequence without a pattern: the golden ratio's multiples.
    const share = (question * 0.6180339887498949) % 1;
    const time = BigInt(Math.floor(Number(trace.totalTimePs) * share));
    const start = performance.now();
    await trace.stateAt(time);
    const elapsed = performance.now() - start;
    await trace.close();
    return elapsed;
  });
}
