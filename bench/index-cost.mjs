// @ts-check
/** What an index takes: bytes, time while recording, time to make it afterwards. The same trace is recorded with and without it, in turn. */
import { execFile } from 'node:child_process';
import { renameSync, rmSync, statSync } from 'node:fs';
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
const WORKLOAD = 'ooo';
/** % of the file, % of the time */
const TARGETS = { size: 3, cost: 20 };
/** Of a model that works in each cycle: ns, cycles, and % of the time, which is noise. */
const MODEL_NS = 500;
const MODEL_CYCLES = 2e6;
const NOISE = 3;

/**
 * @param {Options} options
 * @param {string} directory
 * @param {number} cycles
 * @returns {Promise<Row[]>}
 */
export async function benchIndexCost({ compression, runs }, directory, cycles) {
  const path = join(directory, 'path.uscope');
  const without = join(directory, 'without.uscope');
  /** @type {number[]} */
  const ratios = [];
  let [plain, indexed] = [0, 0];
  for (let run = 0; run < runs; run++) {
    const off = await record(directory, compression, cycles, ['--no-index']);
    plain = statSync(path).size;
    renameSync(path, without);
    const on = await record(directory, compression, cycles, []);
    indexed = statSync(path).size;
    ratios.push((on / off - 1) * 100);
  }
  const models = await pacedRows(directory, compression, runs);
  const sidecars = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await execute(process.execPath, [COMMAND, 'index', '--force', without]);
    sidecars.push((performance.now() - start) * 1e6);
  }
  const sidecar = `${without}.idx`;
  const sidecarBytes = statSync(sidecar).size;
  rmSync(without);
  rmSync(sidecar);
  return [
    {
      name: `bytes of the index, ${WORKLOAD}, of those of the trace without it`,
      value: (indexed / plain - 1) * 100,
      unit: '%',
      target: { atMost: TARGETS.size },
      limit: `${((sidecarBytes / plain) * 100).toFixed(2)} %: the index beside the trace`,
    },
    {
      name: 'whole path, first cycle to complete file: more time with an index',
      ...spread(ratios),
      unit: '%',
      target: { atMost: TARGETS.cost },
    },
    ...models,
    {
      name: `uscope index of ${(cycles / 1e6).toLocaleString('en-US')} M cycles, process included`,
      ...spread(sidecars),
      unit: 'ns',
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
 * Seconds.
 * @param {string} directory
 * @param {string} compression
 * @param {number} cycles
 * @param {string[]} more
 * @returns {Promise<number>}
 */
async function record(directory, compression, cycles, more) {
  const { seconds } = await withDaemon(
    directory,
    compression,
    (env) => native(['path', WORKLOAD, String(cycles)], env),
    [],
    more,
  );
  return seconds;
}
