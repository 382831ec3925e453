// @ts-check
/** SystemC: what tracing costs the simulation's thread, signals beside SystemC's own VCD, transactions beside an FTR encoder in process. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FtrType, FtrWriter, MemoryOutput } from 'uscope/formats/ftr';
import { withDaemon } from './daemon.mjs';
import { buildSystemC, native } from './native.mjs';
import { mainThreadSeconds, median, repeat, secondsSince, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {Record<'none' | 'vcd' | 'uscope', {ns: number, bytes: number}>} Tracings of the same cycles; ns for one of them */

const SIGNALS = 300;
/** Signals that change in a cycle, in percent, and how much cheaper than a VCD they are to be. */
const SHARES = /** @type {const} */ ([
  [1, 2.5],
  [5, 5],
  [20, 5],
]);
const CYCLES = 20_000;
const TRANSACTIONS = 20_000;
const TRANSACTION_NS = 60;
const BATCHES = 20;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchSystemC({ cycles, compression, runs }, directory) {
  await buildSystemC();
  const own = join(directory, 'systemc');
  mkdirSync(own, { recursive: true });
  return withDaemon(own, compression, async (daemon) => {
    const env = { ...daemon, SYSTEMC_DISABLE_COPYRIGHT_MESSAGE: '1' };
    /** @type {Row[]} */
    const rows = [];
    for (const [share, goal] of SHARES) {
      const all = await repeat(runs, () => tracings(share, cycles ?? CYCLES, own, env));
      rows.push(...signalRows(share, goal, all));
    }
    return [...rows, ...(await transactionRows(cycles ?? TRANSACTIONS, runs, own, env))];
  });
}

/**
 * One run of the model with each kind of trace file, one after the other.
 * @param {number} share
 * @param {number} cycles
 * @param {string} directory
 * @param {Record<string, string>} env
 */
async function tracings(share, cycles, directory, env) {
  const changes = Math.round((SIGNALS * share) / 100) * cycles;
  /** @param {'none' | 'vcd' | 'uscope'} backend */
  const one = async (backend) => {
    const args = ['signals', backend, String(SIGNALS), String(share), String(cycles)];
    const { ns_per_cycle: ns } = await native(args, env, { program: 'systemc', cwd: directory });
    const bytes = backend === 'none' ? 0 : statSync(join(directory, `bench.${backend}`)).size / changes;
    return { ns: (ns * cycles) / changes, bytes };
  };
  return { none: await one('none'), vcd: await one('vcd'), uscope: await one('uscope') };
}

/**
 * @param {number} share
 * @param {number} goal
 * @param {readonly Tracings[]} runs
 * @returns {Row[]}
 */
export function signalRows(share, goal, runs) {
  const label = `${share} % of ${SIGNALS} signals change in a cycle`;
  /** @param {'vcd' | 'uscope'} backend @param {Tracings} of */
  const added = (backend, of) => of[backend].ns - of.none.ns;
  const vcd = median(runs.map((run) => added('vcd', run)));
  return [
    {
      name: `${label}: tracing one change`,
      ...spread(runs.map((run) => added('uscope', run))),
      unit: 'ns',
      limit: `${vcd.toFixed(1)} ns: SystemC's VCD`,
    },
    {
      name: `${label}: a VCD takes`,
      ...spread(runs.map((run) => added('vcd', run) / added('uscope', run))),
      unit: 'times as long',
      target: { atLeast: goal },
    },
    {
      name: `${label}: file`,
      value: median(runs.map((run) => run.uscope.bytes)),
      unit: 'B/change',
      limit: `${median(runs.map((run) => run.vcd.bytes)).toFixed(1)} B/change: SystemC's VCD`,
    },
  ];
}

/**
 * @param {number} count
 * @param {number} runs
 * @param {string} directory
 * @param {Record<string, string>} env
 * @returns {Promise<Row[]>}
 */
async function transactionRows(count, runs, directory, env) {
  /** @param {'uscope' | 'none'} backend */
  const measured = (backend) =>
    repeat(runs, () =>
      native(['transactions', backend, String(count), String(BATCHES)], env, {
        program: 'systemc',
        cwd: directory,
      }),
    );
  const recorded = (await measured('uscope')).map((one) => one.ns_per_transaction);
  const bytes = statSync(join(directory, 'bench_tx.uscope')).size / (count * (BATCHES + 1));
  const off = (await measured('none')).map((one) => one.ns_per_transaction);
  const ftr = (await repeat(runs + 1, () => encodeFtr(count))).slice(1); // the first one compiles
  const encoding = median(ftr.map((one) => one.ns));
  return [
    {
      name: 'transaction with three attributes',
      ...spread(recorded),
      unit: 'ns',
      target: { atMost: TRANSACTION_NS },
      limit: `${encoding.toFixed(0)} ns: an FTR encoder in the process`,
      bound: encoding,
    },
    { name: 'the same without recording (backend none)', ...spread(off), unit: 'ns' },
    {
      name: 'file',
      value: bytes,
      unit: 'B/transaction',
      limit: `${median(ftr.map((one) => one.bytes)).toFixed(1)} B/transaction: FTR, LZ4`,
    },
  ];
}

/**
 * @param {string} name
 * @param {bigint} value
 * @returns {import('uscope/formats/ftr').FtrAttribute}
 */
function unsigned(name, value) {
  return { phase: 0, name, type: FtrType.UNSIGNED, value };
}

/** The same transactions with our FTR encoder, without writing the file. @param {number} count */
async function encodeFtr(count) {
  const output = new MemoryOutput();
  const writer = new FtrWriter(output);
  writer.stream(1n, 'top.bus', 'transactor');
  writer.generator(2n, 'read', 1n);
  const started = mainThreadSeconds();
  for (let i = 0; i < count; i++) {
    const n = BigInt(i);
    writer.transaction({
      id: n + 1n,
      stream: 1n,
      generator: 2n,
      start: 1000n,
      end: 1000n,
      attributes: [
        unsigned('addr', 0x80000000n + 4n * n),
        unsigned('len', 4n),
        unsigned('data', BigInt.asUintN(64, n * 0x9e3779b97f4a7c15n)),
      ],
    });
    if (writer.isFull) await writer.flush();
  }
  await writer.close();
  return { ns: (secondsSince(started) * 1e9) / count, bytes: output.bytes.length / count };
}
