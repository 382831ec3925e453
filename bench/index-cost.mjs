// @ts-check
/** What an index takes: bytes, time while recording, time to make it afterwards. The same trace is recorded with and without it, in turn. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { median, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const execute = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
/** Cycles by workload: `std` is that of `npm run bench -- path`. */
const CYCLES = { std: 5e6, ooo: 1e6 };
/** % of the file, % of the time */
const TARGETS = { size: 3, cost: 20 };
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
 * A model that does nothing but trace.
 * @param {string} workload
 * @param {string} directory
 * @param {string} compression
 * @param {number} cycles
 * @param {number} runs
 * @returns {Promise<Row[]>}
 */
async function saturated(workload, directory, compression, cycles, runs) {
  const path = join(directory, 'path.uscope');
  const without = join(directory, 'without.uscope');
  const run = (/** @type {string[]} */ more) => record(directory, compression, workload, cycles, more);
  /** @type {number[][]} */
  const [ratios, processor, processorWithout] = [[], [], []];
  let [plain, indexed] = [0, 0];
  for (let n = 0; n < runs; n++) {
    const off = await run(['--no-index']);
    plain = statSync(path).size;
    renameSync(path, without);
    const on = await run([]);
    indexed = statSync(path).size;
    ratios.push((on.seconds / off.seconds - 1) * 100);
    processor.push(on.processorNs - off.processorNs);
    processorWithout.push(off.processorNs);
  }
  rmSync(path);
  const sidecars = [];
  for (let n = 0; n < runs; n++) {
    const start = performance.now();
    await execute(process.execPath, [COMMAND, 'index', '--force', without]);
    sidecars.push((performance.now() - start) * 1e6);
  }
  const sidecar = `${without}.idx`;
  const sidecarBytes = statSync(sidecar).size;
  rmSync(without);
  rmSync(sidecar);
  const length = `${(cycles / 1e6).toLocaleString('en-US')} M cycles of ${workload}`;
  return [
    {
      name: `bytes of the index, ${length}, of those of the trace without it`,
      value: (indexed / plain - 1) * 100,
      unit: '%',
      target: { atMost: TARGETS.size },
      limit: `${((sidecarBytes / plain) * 100).toFixed(2)} %: the index beside the trace`,
    },
    {
      name: `whole path, ${length}, first cycle to complete file: more time with an index`,
      ...spread(ratios),
      unit: '%',
      target: { atMost: TARGETS.cost },
    },
    {
      name: `the same: more processor time of the daemon per item`,
      ...spread(processor),
      unit: 'ns',
      limit: `${median(processorWithout).toFixed(1)} ns: its processor time without an index`,
    },
    { name: `uscope index of ${length}, process included`, ...spread(sidecars), unit: 'ns' },
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
 * Seconds, and the daemon's processor time per item in ns.
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
      const { seconds, items } = await native(['path', workload, String(cycles)], env);
      return { seconds, processorNs: (processorNs(daemon) - before) / items };
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
