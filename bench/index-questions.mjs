// @ts-check
/** How long questions to the index take, on traces of several lengths: asked one after the other, and each in a separate process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { occupancy } from 'uscope/cpu';
import { openTraceFile } from 'uscope/reader/node';
import { occupancyFromIndex, openIndex } from 'uscope/trace-index';
import { longTrace } from '../viewer/bench/long-trace.mjs';
import { withDaemon } from './daemon.mjs';
import { QUESTIONS } from './index-question-list.mjs';
import { native } from './native.mjs';
import { mainThreadSeconds, median, percentile } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const WORKLOAD = 'ooo';
const WARM = 300;
/** Before them, not measured: they compile. */
const FIRST = 30;
/** Processes that are asked once, unless there are few runs: two for each then. */
const COLD = 8;
const TARGETS = { warm: 5e6, cold: 30e6 };

/**
 * @param {Options} options
 * @param {string} directory
 * @param {number} cycles
 * @returns {Promise<Row[]>}
 */
export async function benchQuestions({ compression, runs }, directory, cycles) {
  await withDaemon(directory, compression, (env) => native(['path', WORKLOAD, String(cycles)], env));
  const path = join(directory, 'path.uscope');
  return measured(path, `${millions(cycles)} M cycles`, runs);
}

/**
 * The same of the viewer's long trace, which is made once and kept.
 * @param {Options} options
 * @param {number} cycles
 * @returns {Promise<Row[]>}
 */
export async function benchLongQuestions({ runs }, cycles) {
  const { path } = await longTrace(cycles);
  return measured(path, `${millions(cycles)} M cycles of the long trace`, runs);
}

/** @param {number} cycles */
const millions = (cycles) => (cycles / 1e6).toLocaleString('en-US');

/**
 * @param {string} path
 * @param {string} of
 * @param {number} runs
 * @returns {Promise<Row[]>}
 */
async function measured(path, of, runs) {
  const processes = Math.min(COLD, 2 * runs);
  const scan = await scanSeconds(path);
  const limit = `${(scan * 1000).toFixed(0)} ms: a scan of the whole trace`;
  /** @type {Row[]} */
  const rows = [];
  for (const name of Object.keys(QUESTIONS)) {
    const warm = await warmTimes(path, name);
    if (!warm) continue;
    if (!warm.isAnswered) {
      console.error(`"${name}, ${of}": the index does not know, all answers are null`);
      continue;
    }
    const cold = [];
    for (let n = 0; n < processes; n++) cold.push(await coldTime(path, name, (n + 0.5) / processes));
    rows.push(
      {
        name: `${name}, ${of}, 95 % of them below`,
        value: percentile(warm.elapsed, 0.95),
        unit: 'ns',
        target: { atMost: TARGETS.warm },
        limit: `half of them below ${(median(warm.elapsed) / 1e6).toFixed(2)} ms; of processor time 95 % below ${(percentile(warm.processor, 0.95) / 1e6).toFixed(2)} ms; ${limit}`,
        bound: scan * 1e9,
      },
      {
        name: `${name}, ${of}, in a new process: opening, index and answer`,
        value: percentile(cold, 0.95),
        unit: 'ns',
        target: { atMost: TARGETS.cold },
        limit: `half of them below ${(median(cold) / 1e6).toFixed(1)} ms`,
        bound: scan * 1e9,
      },
    );
  }
  const buffers = await buffersRow(path, of);
  if (buffers) rows.push(buffers);
  return rows;
}

/** @param {string} path */
async function scanSeconds(path) {
  const trace = await openTraceFile(path);
  const start = performance.now();
  let items = 0;
  await trace.scan({}, { op: () => void items++, event: () => void items++ });
  await trace.close();
  if (items === 0) throw new Error(`${path} has no items`);
  return (performance.now() - start) / 1000;
}

/**
 * ns of each question, elapsed and of the main thread's processor time, at places without a pattern: the golden ratio's multiples.
 * null: the trace has no such thing.
 * @param {string} path
 * @param {string} name
 */
async function warmTimes(path, name) {
  const trace = await openTraceFile(path);
  const index = await indexOf(trace);
  const ask = await QUESTIONS[name](index);
  if (!ask) {
    await trace.close();
    return null;
  }
  let isAnswered = false;
  const [elapsed, processor] = [[], []].map(() => /** @type {number[]} */ ([]));
  for (let question = 0; question < FIRST + WARM; question++) {
    const share = (question * 0.6180339887498949) % 1;
    const processorStart = mainThreadSeconds();
    const start = performance.now();
    if ((await ask(share)) !== null) isAnswered = true;
    if (question < FIRST) continue;
    elapsed.push((performance.now() - start) * 1e6);
    processor.push((mainThreadSeconds() - processorStart) * 1e9);
  }
  await trace.close();
  return { elapsed, processor, isAnswered };
}

/**
 * @param {string} path
 * @param {string} name
 * @param {number} share
 */
async function coldTime(path, name, share) {
  const child = fork(fileURLToPath(new URL('index-question.mjs', import.meta.url)), [
    path,
    name,
    String(share),
  ]);
  const [[answer]] = await Promise.all([once(child, 'message'), once(child, 'close')]);
  return answer.ns;
}

/**
 * How full the buffers were over the whole trace. Null: it is so short that its index left that out.
 * @param {string} path
 * @param {string} of
 * @returns {Promise<Row | null>}
 */
async function buffersRow(path, of) {
  const trace = await openTraceFile(path);
  const start = performance.now();
  const found = await occupancyFromIndex(await indexOf(trace), { points: 60 });
  const elapsed = performance.now() - start;
  if (!found) {
    await trace.close();
    return null;
  }
  const scanStart = performance.now();
  await occupancy(trace, { points: 60 });
  const scan = performance.now() - scanStart;
  await trace.close();
  return {
    name: `how full buffers were, ${of}, all of the trace`,
    value: elapsed * 1e6,
    unit: 'ns',
    limit: `${scan.toFixed(0)} ms: the same by a scan`,
    bound: scan * 1e6,
  };
}

/** @param {import('uscope/reader').Trace} trace */
export async function indexOf(trace) {
  const index = await openIndex(trace);
  if (!index) throw new Error('the trace has no index');
  return index;
}
