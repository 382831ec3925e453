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
import { mainThreadSeconds, median, percentile, repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 10_000_000, ooo: 4_000_000 };
const LONG_CYCLES = 100_000_000;
const STATE_QUESTIONS = 500;
const SEGMENTS_LOADED = 200;
/** M items/s, ms, MiB */
const TARGETS = { scan: 40, state: 10, memory: 250 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchReader({ workload, cycles, compression, runs, long }, directory) {
  const size = cycles ?? CYCLES[workload];
  const write = (/** @type {number} */ length) =>
    withDaemon(directory, compression, (env) => native(['path', workload, String(length)], env));
  await write(size);
  const path = join(directory, 'path.uscope');
  const openings = await measureOpening(directory, runs * 10);
  const scans = (await repeat(runs + 1, () => scanOnce(path))).slice(1); // the first one compiles
  const loads = await repeat(runs, () => loadOnce(path));
  const memory = await peakMemory(path);
  const rows = [
    ...openings,
    ...scanRows(scans, loads),
    {
      name: 'memory of a process that scans and asks for states, at most',
      value: memory / 1024 ** 2,
      unit: 'MiB',
      target: { atMost: TARGETS.memory },
    },
    ...(await stateRows(path, size)),
  ];
  if (!long || cycles !== null) return rows;
  await write(LONG_CYCLES);
  return [...rows, ...(await stateRows(path, LONG_CYCLES))];
}

/**
 * @param {readonly {items: number, elapsed: number, processor: number}[]} scans
 * @param {readonly {processor: number}[]} loads
 * @returns {Row[]}
 */
function scanRows(scans, loads) {
  const rate = (/** @type {number} */ seconds) => scans[0].items / 1e6 / seconds;
  const bound = rate(median(loads.map(({ processor }) => processor)));
  const limit = `${bound.toFixed(0)} M items/s: reading, checksums and decompression alone`;
  return [
    {
      name: 'scan, checksums and decompression included, per processor time of one core',
      ...spread(scans.map(({ processor }) => rate(processor))),
      unit: 'M items/s',
      target: { atLeast: TARGETS.scan },
      limit,
      bound,
    },
    {
      name: 'the same, elapsed',
      ...spread(scans.map(({ elapsed }) => rate(elapsed))),
      unit: 'M items/s',
      limit,
      bound,
    },
  ];
}

/**
 * @param {string} path
 * @param {number} cycles
 * @returns {Promise<Row[]>}
 */
async function stateRows(path, cycles) {
  const states = await stateTimes(path);
  const { processor, segments } = await loadOnce(path, SEGMENTS_LOADED);
  const elapsed = states.map((state) => state.elapsed);
  const bound = (processor * 1000) / segments;
  const limit = `${bound.toFixed(2)} ms: one segment's reading and decompression`;
  const of = `a trace of ${(cycles / 1e6).toLocaleString('en-US')} M cycles`;
  return [
    {
      name: `state at a random time, ${of}, half of them below`,
      value: median(elapsed),
      unit: 'ms',
      limit,
      bound,
    },
    {
      name: `state at a random time, ${of}, 99 % of them below`,
      value: percentile(elapsed, 0.99),
      unit: 'ms',
      target: { atMost: TARGETS.state },
      limit: `${limit}; ${percentile(
        states.map((state) => state.processor),
        0.99,
      ).toFixed(2)} ms of processor time`,
      bound,
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
 * Seconds of the main thread for bringing segments into memory, without looking at their items.
 * @param {string} path
 * @param {number} [atMost] segments
 */
async function loadOnce(path, atMost = Number.POSITIVE_INFINITY) {
  const trace = await openTraceFile(path);
  const stop = startClocks();
  let bytes = 0;
  let segments = 0;
  for await (const { deltas } of trace.loadedSegments()) {
    bytes += deltas.length;
    if (++segments >= atMost) break;
  }
  if (bytes === 0) throw new Error(`${path} has no deltas`);
  const { processor } = stop();
  await trace.close();
  return { processor, segments };
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
 * Peak resident bytes of a separate process that only reads.
 * @param {string} path
 * @returns {Promise<number>}
 */
async function peakMemory(path) {
  const child = fork(fileURLToPath(new URL('reader-memory.mjs', import.meta.url)), [path]);
  const [[answer]] = await Promise.all([once(child, 'message'), once(child, 'close')]);
  return answer.bytes;
}
