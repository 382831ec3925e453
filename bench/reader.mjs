// @ts-check
/** Reading: opening, every item once, the state at random times, and the memory that takes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTraceFile } from 'uscope/reader/node';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { measureOpening } from './reader-open.mjs';
import { mainThreadSeconds, median, percentile, repeat } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 10_000_000, ooo: 4_000_000 };
const STATE_QUESTIONS = 500;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchReader({ workload, cycles, compression, runs }, directory) {
  const size = String(cycles ?? CYCLES[workload]);
  await withDaemon(directory, compression, (env) => native(['path', workload, size], env));
  const path = join(directory, 'path.uscope');
  const openings = await measureOpening(directory, runs * 10);
  const scans = await repeat(runs + 1, () => scanOnce(path));
  const loads = await repeat(runs, () => loadOnce(path));
  const states = await stateTimes(path);
  const memory = await peakMemory(path);
  const { items } = scans[0];
  const warm = scans.slice(1); // the first one compiles
  const rate = (/** @type {number} */ seconds) => items / 1e6 / seconds;
  const elapsed = states.map((state) => state.elapsed);
  const processor = states.map((state) => state.processor);
  return [
    ...openings,
    {
      name: 'scan, checksums and decompression included, per processor time of one core',
      value: rate(median(warm.map((scan) => scan.processor))),
      unit: 'M items/s',
      target: { atLeast: 20 },
      limit: `${rate(median(loads)).toFixed(0)} M items/s: reading, checksums and decompression alone`,
    },
    { name: 'the same, elapsed', value: rate(median(warm.map((scan) => scan.elapsed))), unit: 'M items/s' },
    { name: 'state at a random time, half of them below', value: median(elapsed), unit: 'ms' },
    {
      name: 'state at a random time, 99 % of them below',
      value: percentile(elapsed, 0.99),
      unit: 'ms',
      target: { atMost: 20 },
      limit: `processor time: ${percentile(processor, 0.99).toFixed(2)} ms`,
    },
    {
      name: 'cycles of that trace',
      value: Number(size),
      unit: '',
      limit: `${items.toLocaleString('en-US')} items`,
    },
    {
      name: 'memory of a process that scans and asks for states, at most',
      value: memory / 1024 ** 2,
      unit: 'MiB',
      target: { atMost: 250 },
    },
  ];
}

/** @param {string} path */
async function scanOnce(path) {
  const trace = await openTraceFile(path);
  const stop = startClocks();
  let items = 0;
  await trace.scan({}, { op: () => void items++, event: () => void items++ });
  const times = stop();
  await trace.close();
  return { ...times, items };
}

/**
 * Seconds of the main thread for bringing every segment into memory, without looking at its items.
 * @param {string} path
 */
async function loadOnce(path) {
  const trace = await openTraceFile(path);
  const stop = startClocks();
  let bytes = 0;
  for await (const { deltas } of trace.loadedSegments()) bytes += deltas.length;
  if (bytes === 0) throw new Error(`${path} has no deltas`);
  const { processor } = stop();
  await trace.close();
  return processor;
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
    const stop = startClocks();
    await trace.stateAt(time);
    const { elapsed, processor } = stop();
    await trace.close();
    return { elapsed: elapsed * 1000, processor: processor * 1000 };
  });
}

/** Seconds since now, and those of them in which the main thread ran. */
function startClocks() {
  const start = performance.now();
  const threadStart = mainThreadSeconds();
  return () => ({
    elapsed: (performance.now() - start) / 1000,
    processor: mainThreadSeconds() - threadStart,
  });
}

/**
 * Bytes at most resident in a process of its own that does nothing else.
 * @param {string} path
 * @returns {Promise<number>}
 */
async function peakMemory(path) {
  const child = fork(fileURLToPath(new URL('reader-memory.mjs', import.meta.url)), [path]);
  const [[answer]] = await Promise.all([once(child, 'message'), once(child, 'close')]);
  return answer.bytes;
}
