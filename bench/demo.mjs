// @ts-check
/**
 * What tracing costs the demo's cores: the same simulator untraced, traced, and dumping waveforms. All are built by the demo's
 * Makefile with the same flags and the same probe (demo/bench_probe.sv), which is bound into the design. The workload `std` is the
 * in-order core, `ooo` the out-of-order one; both run the same program.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStep } from '../scripts/step.mjs';
import { withDaemon } from './daemon.mjs';
import { median, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {'untraced' | 'traced' | 'fst' | 'vcd'} VariantName */

/**
 * One process, from its start to its end. Times per cycle are between the probe's first and last sample and leave out start,
 * opening and closing.
 * @typedef {object} Measurement
 * @property {number} wallNs
 * @property {number} cycles
 * @property {number} elapsedNs
 * @property {number} cpuNs of the simulator's thread
 */
/** Runs one right after the other. @typedef {{untraced: Measurement, traced: Measurement}} Pair */

const DEMO = fileURLToPath(new URL('../verilator-demo/', import.meta.url));
const PROBE = ['bench_probe.sv', 'bench_probe.cpp'].map((file) =>
  fileURLToPath(new URL(`demo/${file}`, import.meta.url)),
);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));

/** @typedef {Options['workload']} Workload */

/**
 * `folder` is the Makefile's variable for it. A target for the time that tracing adds holds where the number of items per cycle is known.
 * @type {Record<Workload, {target: string, folder: string, top: string, schema: string, suffix: string, added?: number, ratio: number}>}
 */
const CORES = {
  std: { target: 'all', folder: 'OBJ', top: 'top', schema: 'schema.yaml', suffix: '', added: 60, ratio: 1.1 },
  ooo: { target: 'o3', folder: 'O3_OBJ', top: 'o3_top', schema: 'o3.yaml', suffix: 'o3_', ratio: 1.15 },
};

/** @type {Record<VariantName, {trace: 0 | 1, flags: string[], wave?: string}>} */
const VARIANTS = {
  untraced: { trace: 0, flags: [] },
  traced: { trace: 1, flags: [] },
  fst: { trace: 0, flags: ['--trace-fst', '-DBENCH_WAVE'], wave: 'core.fst' },
  vcd: { trace: 0, flags: ['--trace', '-DBENCH_WAVE'], wave: 'core.vcd' },
};
const NAMES = /** @type {VariantName[]} */ (Object.keys(VARIANTS));
/** The short runs more often: their difference is small against what a shared machine adds to each. */
const ROUND = /** @type {VariantName[]} */ ([...Array(9).fill(['untraced', 'traced']).flat(), ...NAMES]);

/** @param {Workload} workload */
export const schemaOf = (workload) => join(DEMO, CORES[workload].schema);

/** @param {Workload} workload @param {VariantName} name */
export const simulatorOf = (workload, name) => join(DEMO, objectFolder(workload, name), 'Vtop');

/** @param {Workload} workload @param {VariantName} name */
const objectFolder = (workload, name) => `obj_dir_bench_${CORES[workload].suffix}${name}`;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchDemo({ compression, runs, workload }, directory) {
  /** @type {Record<VariantName, Measurement[]>} */
  const results = { untraced: [], traced: [], fst: [], vcd: [] };
  /** @type {Pair[]} */
  const pairs = [];
  await withDaemon(directory, compression, async (daemon) => {
    // In turn, so that a change of the machine's speed reaches all of them.
    for (let i = 0; i < runs; i++) {
      /** @type {Partial<Record<VariantName, Measurement>>} */
      let before = {};
      for (const name of ROUND) {
        const now = { [name]: await simulate(workload, name, directory, daemon) };
        results[name].push(now[name]);
        const { untraced, traced } = { ...before, ...now };
        if (untraced && traced) pairs.push({ untraced, traced });
        before = now;
      }
    }
  });
  const trace = join(directory, 'core0.uscope');
  const { frames, items } = await countTrace(trace);
  return rows(workload, results, pairs, {
    itemsPerCycle: items / frames,
    sizes: {
      traced: statSync(trace).size,
      fst: statSync(join(directory, 'core.fst')).size,
      vcd: statSync(join(directory, 'core.vcd')).size,
    },
  });
}

/** The simulators; takes about a minute the first time. @param {Workload} workload */
export async function buildDemo(workload, names = NAMES) {
  const core = CORES[workload];
  for (const name of names) {
    const { trace, flags } = VARIANTS[name];
    removeIfOlderThanProbe(simulatorOf(workload, name));
    const variables = {
      TRACE: trace,
      [core.folder]: objectFolder(workload, name),
      VERILATOR: ['verilator', `-DBENCH_TOP=${core.top}`, ...flags, ...PROBE].join(' '),
    };
    const step = {
      title: `build the demo's ${core.top}, ${name}`,
      command: 'make',
      args: [
        '-C',
        DEMO,
        '--no-print-directory',
        core.target,
        ...Object.entries(variables).map(([key, value]) => `${key}=${value}`),
      ],
    };
    const { ok, why } = await runStep(step);
    if (!ok) throw new Error(`${step.title} failed (${why})`);
  }
}

/** The demo's Makefile does not know the probe. @param {string} simulator */
function removeIfOlderThanProbe(simulator) {
  const built = statSync(simulator, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (PROBE.some((file) => statSync(file).mtimeMs > built)) rmSync(simulator, { force: true });
}

/**
 * @param {Workload} workload
 * @param {VariantName} name
 * @param {string} directory
 * @param {Record<string, string>} daemon environment for clients of the daemon
 * @returns {Promise<Measurement>}
 */
async function simulate(workload, name, directory, daemon) {
  const report = join(directory, 'probe.json');
  const { wave } = VARIANTS[name];
  const started = process.hrtime.bigint();
  await program(simulatorOf(workload, name), ['+quiet', `+report=${join(directory, 'report.json')}`], {
    ...daemon,
    USCOPE_SCHEMA: schemaOf(workload),
    BENCH_REPORT: report,
    ...(wave ? { BENCH_WAVE: join(directory, wave) } : {}),
  });
  const wallNs = Number(process.hrtime.bigint() - started);
  const { cycles, elapsed_ns: elapsedNs, cpu_ns: cpuNs } = JSON.parse(readFileSync(report, 'utf8'));
  return { wallNs, cycles, elapsedNs, cpuNs };
}

/**
 * @param {string} file
 * @returns {Promise<{frames: number, items: number}>}
 */
async function countTrace(file) {
  const { frames, items } = JSON.parse(
    await program(process.execPath, [COMMAND, 'info', file, '--count', '--json']),
  );
  return { frames: Number(frames), items: Number(items) };
}

/**
 * @param {string} path
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<string>} stdout
 */
function program(path, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${path} ended with ${signal ?? `exit status ${code}`}\n${errors.slice(-4000)}`));
    });
  });
}

/**
 * What tracing adds is looked for between runs that were neighbours: a machine that others use may be twice as fast in one half of a minute
 * as in the other, and the median of all traced runs may then be from one half and that of the untraced ones from the other.
 * @param {Workload} workload
 * @param {Record<VariantName, Measurement[]>} results
 * @param {Pair[]} pairs
 * @param {{itemsPerCycle: number, sizes: Record<'traced' | 'fst' | 'vcd', number>}} trace
 * @returns {Row[]}
 */
export function rows(workload, results, pairs, { itemsPerCycle, sizes }) {
  /** @param {VariantName} name @param {(m: Measurement) => number} value */
  const middle = (name, value) => median(results[name].map(value));
  const wall = (/** @type {VariantName} */ name) => middle(name, (m) => m.wallNs);
  const perCycle = (/** @type {VariantName} */ name) => middle(name, (m) => m.elapsedNs / m.cycles);
  const cpuPerCycle = (/** @type {Measurement} */ m) => m.cpuNs / m.cycles;
  const elapsedPerCycle = (/** @type {Measurement} */ m) => m.elapsedNs / m.cycles;
  const best = (/** @type {VariantName} */ name) => Math.min(...results[name].map(cpuPerCycle));
  /** @param {(m: Measurement) => number} value */
  const differences = (value) => pairs.map(({ untraced, traced }) => value(traced) - value(untraced));
  const goals = CORES[workload];
  const added = spread(differences(cpuPerCycle));
  const ratios = pairs.map(({ untraced, traced }) => cpuPerCycle(traced) / cpuPerCycle(untraced));
  const labels = { untraced: 'untraced', traced: 'traced', fst: 'FST dump', vcd: 'VCD dump' };
  const dumps = /** @type {const} */ (['fst', 'vcd']);
  return [
    ...NAMES.map((name) => ({
      name: `${labels[name]}: simulator process`,
      value: wall(name),
      unit: 'ns',
      limit: `${(wall(name) / wall('untraced')).toFixed(2)} × untraced; ${perCycle(name).toFixed(0)} ns per cycle`,
    })),
    {
      name: 'tracing adds per cycle, processor time of the thread',
      ...added,
      unit: 'ns',
      ...(goals.added && { target: { atMost: goals.added } }),
      limit: `${itemsPerCycle.toFixed(1)} items per cycle: ${(added.value / itemsPerCycle).toFixed(1)} ns per item`,
    },
    {
      name: 'the same, best runs',
      value: best('traced') - best('untraced'),
      unit: 'ns',
      limit: `${best('untraced').toFixed(0)} ns: the untraced cycle, best run`,
    },
    {
      name: 'traced cycle / untraced cycle, processor time of the thread',
      ...spread(ratios),
      unit: '×',
      target: { atMost: goals.ratio },
      limit: dumpRatios(perCycle),
    },
    {
      name: 'the same, elapsed, waiting for the daemon included',
      value: median(differences(elapsedPerCycle)),
      unit: 'ns',
    },
    ...dumps.map((name) => ({
      name: `${labels[name]} adds per cycle, elapsed`,
      value: perCycle(name) - perCycle('untraced'),
      unit: 'ns',
    })),
    { name: 'traced run / FST run', value: wall('traced') / wall('fst'), unit: '×', target: { atMost: 1 } },
    { name: 'items per cycle', value: itemsPerCycle, unit: '' },
    { name: 'cycles', value: middle('traced', (m) => m.cycles), unit: '' },
    { name: 'trace on disk', value: sizes.traced / 1e6, unit: 'MB' },
    ...dumps.map((name) => ({ name: `${labels[name]} on disk`, value: sizes[name] / 1e6, unit: 'MB' })),
  ];
}

/**
 * Verilator's own dumps compared with the untraced cycle, elapsed: they have no other thread to wait for. @param {(name: VariantName) => number}
 * perCycle
 */
function dumpRatios(perCycle) {
  const ratio = (/** @type {VariantName} */ name) => (perCycle(name) / perCycle('untraced')).toFixed(2);
  return `FST ${ratio('fst')} ×, VCD ${ratio('vcd')} ×`;
}
