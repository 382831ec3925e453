// @ts-check
/** What an index takes: bytes, time while recording, time to make it afterwards. The same trace is recorded with and without it, in turn. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { costOfPass } from './index-pass.mjs';
import { native } from './native.mjs';
import { median, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const execute = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
/** Cycles by workload: `std` is that of `npm run bench -- path`. */
const CYCLES = { std: 5e6, ooo: 1e6 };
/** % of the file; % of the time, in all, of what happens by time, and of rows and texts in addition */
const TARGETS = { size: 3, cost: 20, time: 5, rows: 15 };
/** Of a model that works in each cycle: ns, cycles, and % of the time, which is noise. */
const MODEL_NS = 500;
const MODEL_CYCLES = 2e6;
const NOISE = 3;

/**
 * @param {Options} options
 * @param {string} directory
 * @param {number | null} cycles
 * @returns {Promise<Row[]>}
 */
export async function benchIndexCost({ compression, runs }, directory, cycles) {
  /** @type {Row[]} */
  const rows = [];
  for (const [workload, usual] of Object.entries(CYCLES)) {
    rows.push(...(await saturated(workload, directory, compression, cycles ?? usual, runs)));
  }
  rows.push(...(await pacedRows(directory, compression, runs)));
  return rows;
}

/**
 * @param {string} workload
 * @param {string} directory
 * @param {string} compression
 * @param {number} cycles
 * @param {number} runs
 * @returns {Promise<Row[]>}
 */
async function saturated(workload, directory, compression, cycles, runs) {
  const path = join(directory, 'path.uscope');
  const { rows, plain, indexed } = await indexedPath(workload, directory, compression, cycles, runs);
  const sidecars = [];
  for (let n = 0; n < runs; n++) {
    const start = performance.now();
    await execute(process.execPath, [COMMAND, 'index', '--force', path]);
    sidecars.push((performance.now() - start) * 1e6);
  }
  const sidecarBytes = statSync(`${path}.idx`).size;
  for (const file of [path, `${path}.idx`]) rmSync(file);
  const length = lengthOf(cycles, workload);
  return [
    {
      name: `bytes of the index, ${length}, of those of the trace without it`,
      value: (indexed / plain - 1) * 100,
      unit: '%',
      target: { atMost: TARGETS.size },
      limit: `${((sidecarBytes / plain) * 100).toFixed(2)} %: the index beside the trace`,
    },
    ...rows,
    { name: `uscope index of ${length}, process included`, ...spread(sidecars), unit: 'ns' },
  ];
}

/** @param {number} cycles @param {string} workload */
const lengthOf = (cycles, workload) => `${(cycles / 1e6).toLocaleString('en-US')} M cycles of ${workload}`;

/**
 * A model that does nothing but trace, with an index and without, in turn; what its parts cost. Leaves a trace without index, `path.uscope`.
 * @param {string} workload
 * @param {string} directory
 * @param {string} compression
 * @param {number} cycles
 * @param {number} runs
 * @returns {Promise<{rows: Row[], plain: number, indexed: number}>} plain, indexed: bytes of the trace
 */
export async function indexedPath(workload, directory, compression, cycles, runs) {
  const path = join(directory, 'path.uscope');
  const run = (/** @type {string[]} */ more) => record(directory, compression, workload, cycles, more);
  /** @type {number[][]} */
  const [ratios, processor, daemons, without] = [[], [], [], []];
  let [plain, indexed] = [0, 0];
  for (let n = 0; n < runs; n++) {
    const on = await run([]);
    indexed = statSync(path).size;
    const off = await run(['--no-index']);
    plain = statSync(path).size;
    ratios.push((on.seconds / off.seconds - 1) * 100);
    processor.push(on.daemonNs - off.daemonNs);
    daemons.push(off.daemonNs);
    without.push(off.daemonNs + off.clientNs);
  }
  const length = lengthOf(cycles, workload);
  const more = `with an index, more time: ${length}, first cycle to complete file`;
  const rows = [
    { name: more, ...spread(ratios), unit: '%', target: { atMost: TARGETS.cost } },
    {
      name: `the same: more processor time of the daemon per item`,
      ...spread(processor),
      unit: 'ns',
      limit: `${median(daemons).toFixed(1)} ns: its processor time without an index`,
    },
    ...(await partRows(path, directory, workload, runs, median(without))),
  ];
  return { rows, plain, indexed };
}

/**
 * The parts of the index, of the processor time of simulator and daemon without one.
 * @param {string} path
 * @param {string} directory
 * @param {string} workload
 * @param {number} runs
 * @param {number} withoutNs
 * @returns {Promise<Row[]>}
 */
async function partRows(path, directory, workload, runs, withoutNs) {
  const { time, whole } = await costOfPass(path, directory, runs);
  const limit = `${withoutNs.toFixed(1)} ns per item: simulator and daemon without an index`;
  const share = (/** @type {number} */ ns) => (ns / withoutNs) * 100;
  /** @type {Row[]} */
  const rows = [
    {
      name: `index of ${workload} by time, its compiled pass alone: more processor time`,
      value: share(time.ns),
      unit: '%',
      target: { atMost: TARGETS.time },
      limit,
    },
    {
      name: `rows and texts of ${workload} in addition`,
      value: share(whole.ns - time.ns),
      unit: '%',
      target: { atMost: TARGETS.rows },
      limit,
    },
  ];
  if (time.instructions === null || whole.instructions === null) return rows;
  return [
    ...rows,
    {
      name: `index of ${workload} by time: instructions per item`,
      value: time.instructions,
      unit: '',
    },
    {
      name: `rows and texts of ${workload} in addition: instructions per item`,
      value: whole.instructions - time.instructions,
      unit: '',
    },
  ];
}

/**
 * A model of 500 ns per cycle, with an index and without, in turn.
 * @param {string} directory
 * @param {string} compression
 * @param {number} runs
 * @returns {Promise<Row[]>}
 */
async function pacedRows(directory, compression, runs) {
  /** @type {number[][]} */
  const [all, model, cycle] = [[], [], []];
  for (let run = 0; run < runs; run++) {
    const [off, on] = [
      await paced(directory, compression, ['--no-index']),
      await paced(directory, compression, []),
    ];
    all.push((on.seconds / off.seconds - 1) * 100);
    model.push((on.model_seconds / off.model_seconds - 1) * 100);
    cycle.push(on.client_ns_p50 - off.client_ns_p50);
  }
  const of = `a model of ${MODEL_NS} ns per cycle`;
  const target = { atMost: NOISE };
  return [
    { name: `${of}: more time until the file is complete`, ...spread(all), unit: '%', target },
    { name: `${of}: more time until its last cycle`, ...spread(model), unit: '%', target },
    { name: `${of}: more time for the calls of half of its cycles`, ...spread(cycle), unit: 'ns' },
  ];
}

/**
 * @param {string} directory
 * @param {string} compression
 * @param {string[]} more
 */
async function paced(directory, compression, more) {
  const args = ['paced', 'std', String(MODEL_CYCLES), String(MODEL_NS)];
  const found = await withDaemon(directory, compression, (env) => native(args, env), [], more);
  rmSync(join(directory, 'path.uscope'));
  return found;
}

/**
 * Seconds, and the processor time of daemon and simulator per item in ns.
 * @param {string} directory
 * @param {string} compression
 * @param {string} workload
 * @param {number} cycles
 * @param {string[]} more
 */
async function record(directory, compression, workload, cycles, more) {
  return withDaemon(
    directory,
    compression,
    async (env, daemon) => {
      const before = processorNs(daemon);
      const run = await native(['path', workload, String(cycles)], env);
      const { seconds, items } = run;
      return {
        seconds,
        daemonNs: (processorNs(daemon) - before) / items,
        clientNs: run.processor_ns / items,
      };
    },
    [],
    more,
  );
}

/** Of all threads of a process. @param {number} process */
function processorNs(process) {
  const tasks = `/proc/${process}/task`;
  return readdirSync(tasks).reduce((sum, thread) => {
    const [running] = readFileSync(join(tasks, thread, 'schedstat'), 'utf8').split(' ');
    return sum + Number(running);
  }, 0);
}
