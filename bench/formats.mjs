// @ts-check
/** Conversions of other formats from end to end, in the same process several times: their speed, and their memory for a file four times as long. */

import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { convertByCommand, convertRepeatedly, interruptConversions, splitLines } from './conversion.mjs';
import { makeFlux, makeFtr, makeGem5, makeKanata, makeQemu, makeSpike } from './foreign-files.mjs';
import { median, repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const INSTRUCTIONS = 400_000;
const STAGES = 5;
const MEGABYTE = 1e6;
/** A dump of registers is a hundred times as long as the line of its instruction. */
const DUMPS = 8;
const FACTOR = 4;

/**
 * @typedef {object} Conversion
 * @property {string} name
 * @property {string} from a file of the directory
 * @property {string} to
 * @property {'lines' | 'bytes' | 'slices' | 'values' | 'transactions'} measure
 * @property {number} target
 * @property {number} [instructions] part of all instructions that the file has; their number per second is a row too
 */

/** In this order: what one writes the next one reads. @type {readonly Conversion[]} */
const CONVERSIONS = [
  { name: 'Kanata in', from: 'core.kanata', to: 'core.uscope', measure: 'lines', target: 40 },
  {
    ...{ name: 'Spike in', from: 'spike.log', to: 'spike.uscope', measure: 'lines', target: 15 },
    instructions: 1,
  },
  {
    ...{ name: 'QEMU in', from: 'qemu.log', to: 'qemu.uscope', measure: 'lines', target: 7 },
    instructions: 1,
  },
  {
    ...{
      name: 'QEMU with registers in',
      from: 'dumps.log',
      to: 'dumps.uscope',
      measure: 'lines',
      target: 40,
    },
    instructions: 1 / DUMPS,
  },
  { name: 'STF out', from: 'spike.uscope', to: 'spike.stf', measure: 'values', target: 0.5 },
  { name: 'STF in', from: 'spike.stf', to: 'stf.uscope', measure: 'values', target: 0.5 },
  { name: 'ctrace out', from: 'spike.uscope', to: 'spike.ctrace', measure: 'values', target: 0.25 },
  { name: 'ctrace in', from: 'spike.ctrace', to: 'ctrace.uscope', measure: 'values', target: 0.25 },
  { name: 'gem5 in', from: 'core.o3', to: 'gem5.uscope', measure: 'lines', target: 40 },
  { name: 'Kanata out', from: 'core.uscope', to: 'again.kanata', measure: 'bytes', target: 60 },
  { name: 'VCD out', from: 'core.uscope', to: 'core.vcd', measure: 'bytes', target: 60 },
  { name: 'Perfetto out', from: 'core.uscope', to: 'core.pftrace', measure: 'slices', target: 1 },
  { name: 'flux structs in', from: 'core.flux', to: 'flux.uscope', measure: 'values', target: 2 },
  { name: 'FTR in', from: 'bus.ftr', to: 'bus.uscope', measure: 'transactions', target: 1 },
  { name: 'FTR out', from: 'bus.uscope', to: 'again.ftr', measure: 'transactions', target: 1 },
];

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchFormats({ cycles, runs }, directory) {
  const size = cycles ?? INSTRUCTIONS;
  const base = join(directory, 'base');
  const long = join(directory, 'long');
  await makeFiles(base, size);
  // A single run is for the speeds alone.
  const hasMemory = runs > 1;
  if (hasMemory) await makeFiles(long, FACTOR * size);
  /** @type {Row[]} */
  const rows = [];
  for (const conversion of CONVERSIONS) {
    const [from, to] = [conversion.from, conversion.to];
    const warm = (await convertRepeatedly(join(base, from), join(base, to), runs + 1)).slice(1);
    rows.push(...(await speedRows(conversion, base, size, warm)));
    rows.push(interruptRow(conversion, await interruptConversions(join(base, from), join(base, to))));
    if (!hasMemory) continue;
    const short = await convertByCommand([join(base, from), '-o', join(base, to)]);
    const longer = await convertByCommand([join(long, from), '-o', join(long, to)]);
    rows.push(memoryRow(conversion, short.bytes, longer.bytes));
  }
  rmSync(base, { recursive: true });
  rmSync(long, { recursive: true, force: true });
  return rows;
}

/**
 * @param {string} directory
 * @param {number} size
 */
async function makeFiles(directory, size) {
  mkdirSync(directory);
  makeKanata(join(directory, 'core.kanata'), size);
  makeGem5(join(directory, 'core.o3'), size);
  makeSpike(join(directory, 'spike.log'), size);
  makeQemu(join(directory, 'qemu.log'), size, false);
  makeQemu(join(directory, 'dumps.log'), size / DUMPS, true);
  await writing(join(directory, 'core.flux'), (output) => makeFlux(output, size));
  await writing(join(directory, 'bus.ftr'), (output) => makeFtr(output, size));
}

/**
 * @param {string} path
 * @param {(output: { write(bytes: Uint8Array): Promise<void>, patch(offset: number, bytes: Uint8Array): Promise<void> }) => Promise<void>} fill
 */
async function writing(path, fill) {
  const file = openSync(path, 'w');
  await fill({
    write: async (bytes) => void writeSync(file, bytes),
    patch: async (offset, bytes) => void writeSync(file, bytes, 0, bytes.length, offset),
  });
  closeSync(file);
}

/**
 * @param {Conversion} conversion
 * @param {string} directory
 * @param {number} size
 * @param {readonly import('./conversion.mjs').RepeatedConversion[]} runs
 * @returns {Promise<Row[]>}
 */
async function speedRows({ name, from, to, measure, target, instructions }, directory, size, runs) {
  const megabytes = (/** @type {string} */ file) => statSync(join(directory, file)).size / MEGABYTE;
  /** @type {Record<string, number>} */
  const counts = { lines: megabytes(from), bytes: megabytes(to), slices: (STAGES * size) / 1e6 };
  const count = counts[measure] ?? size / 1e6;
  const unit = measure === 'lines' || measure === 'bytes' ? 'MB/s' : `M ${measure}/s`;
  const speeds = runs.map(({ mainThread }) => count / mainThread);
  const all = {
    name: `${name}, with compression`,
    value: count / median(runs.map((one) => one.seconds)),
    unit,
  };
  const title = `${name}, per processor time of the main thread`;
  if (measure !== 'lines')
    return [{ name: title, ...spread(speeds), unit, target: { atLeast: target } }, all];
  const lines = median(await repeat(3, () => splitLines(join(directory, from))));
  const limit = count / lines;
  const shares = speeds.map((speed) => (100 * speed) / limit);
  return [
    {
      name: `${title}, of the speed of splitting the same bytes into lines`,
      ...spread(shares),
      unit: '%',
      target: { atLeast: target },
      limit: `${median(speeds).toFixed(0)} MB/s; ${limit.toFixed(0)} MB/s: splitting alone`,
    },
    ...(instructions === undefined ? [] : [instructionRow(title, size * instructions, runs)]),
    all,
  ];
}

/**
 * @param {string} title
 * @param {number} count
 * @param {readonly import('./conversion.mjs').RepeatedConversion[]} runs
 * @returns {Row}
 */
function instructionRow(title, count, runs) {
  const speeds = runs.map(({ mainThread }) => count / 1e6 / mainThread);
  return { name: title, ...spread(speeds), unit: 'M instructions/s', target: { atLeast: 0.5 } };
}

/**
 * @param {Conversion} conversion
 * @param {readonly number[]} late seconds
 * @returns {Row}
 */
function interruptRow({ name }, late) {
  return {
    name: `${name}, interrupted: processor time of the main thread until it has ended, the longest`,
    value: 1000 * Math.max(...late),
    unit: 'ms',
    target: { atMost: 200 },
  };
}

/**
 * @param {Conversion} conversion
 * @param {number} base
 * @param {number} long
 * @returns {Row}
 */
function memoryRow({ name }, base, long) {
  return {
    name: `${name}, more memory for a file four times as long`,
    value: 100 * (long / base - 1),
    unit: '%',
    target: { atMost: 10 },
    limit: `${(base / MEGABYTE).toFixed(0)} MB, then ${(long / MEGABYTE).toFixed(0)} MB`,
  };
}
