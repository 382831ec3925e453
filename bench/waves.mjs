// @ts-check
/** Waveforms: a VCD of a core with RVFI to a trace, compared with splitting the same bytes into lines. The waveform is made here. */

import { closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { convertByCommand, splitLines } from './conversion.mjs';
import { median, repeat } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = 400_000;
/** Signals that no map names, which change in every cycle. */
const OTHERS = 24;
const MEGABYTE = 1e6;
const PINS = /** @type {const} */ ([
  ['valid', 1],
  ['order', 64],
  ['insn', 32],
  ['pc_rdata', 32],
  ['pc_wdata', 32],
  ['rd_addr', 5],
  ['rd_wdata', 32],
]);
const MAP = 'waves: 1\nclock: tb.clk\nscopes: {core0: {rvfi: tb.core.rvfi_}}\n';

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchWaves({ cycles, runs }, directory) {
  const wave = join(directory, 'wave.vcd');
  const map = join(directory, 'map.yaml');
  writeFileSync(map, MAP);
  makeWave(wave, cycles ?? CYCLES);
  const size = statSync(wave).size / MEGABYTE;
  const lines = median((await repeat(runs + 1, () => splitLines(wave))).slice(1));
  const args = [wave, '--map', map, '-o', join(directory, 'wave.uscope')];
  const conversions = await repeat(runs, () => convertByCommand(args));
  const seconds = median(conversions.map((one) => one.seconds));
  rmSync(wave);
  return [
    {
      name: 'VCD to µScope through RVFI, with the start of the command, per processor time',
      value: size / seconds,
      unit: 'MB/s',
      target: { atLeast: 60 },
      limit: `${(size / lines).toFixed(0)} MB/s: the same bytes split into lines of text`,
    },
    {
      name: 'memory of the command at most',
      value: Math.max(...conversions.map((one) => one.bytes)) / MEGABYTE,
      unit: 'MB',
    },
  ];
}

/**
 * A third of the cycles retire an instruction.
 * @param {string} path
 * @param {number} cycles
 */
function makeWave(path, cycles) {
  const file = openSync(path, 'w');
  const signals = [...PINS.map(([pin, width]) => ({ name: `rvfi_${pin}`, width }))];
  for (let n = 0; n < OTHERS; n++) signals.push({ name: `net${n}`, width: n % 3 === 0 ? 1 : 32 });
  const code = (/** @type {number} */ index) => String.fromCharCode(34 + index);
  const definitions = signals.map(
    ({ name, width }, index) => `$var wire ${width} ${code(index)} ${name} $end\n`,
  );
  writeSync(
    file,
    `$timescale 1ns $end\n$scope module tb $end\n$var wire 1 ! clk $end\n$scope module core $end\n${definitions.join('')}$upscope $end\n$upscope $end\n$enddefinitions $end\n`,
  );
  let text = '';
  for (let cycle = 0; cycle < cycles; cycle++) {
    text += `#${10 * cycle}\n0!\n#${10 * cycle + 5}\n1!\n`;
    const values = valuesOf(cycle);
    signals.forEach(({ width }, index) => {
      const value = values[index] ?? (Math.imul(cycle + index, 0x9e37_79b1) >>> 3) % 2 ** 28;
      text += width === 1 ? `${Number(value) & 1}${code(index)}\n` : `b${value.toString(2)} ${code(index)}\n`;
    });
    if (text.length < 1 << 20) continue;
    writeSync(file, text);
    text = '';
  }
  writeSync(file, text);
  closeSync(file);
}

/** @param {number} cycle */
function valuesOf(cycle) {
  const order = Math.floor(cycle / 3);
  const pc = (0x8000_0000 + 4 * (order % 4096)) >>> 0;
  const next = (0x8000_0000 + 4 * ((order + 1) % 4096)) >>> 0;
  return [cycle % 3 === 0 ? 1 : 0, order, 0x13 | (5 << 7), pc, next, 5, order & 0xffff];
}
