// @ts-check
/** The daemon's peak memory for traces of growing length. Each length runs in a new daemon. */
import { readFileSync } from 'node:fs';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = [1_000_000, 5_000_000, 20_000_000];
const LONG_CYCLES = [1_000_000, 10_000_000, 100_000_000];
const AT_MOST_MB = 150;
/** Allocator and garbage collector differ by this much from run to run. */
const FLAT = 1.15;

/**
 * @param {Options} options `cycles`: the longest
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchMemory({ workload, cycles, compression, long }, directory) {
  const lengths = cycles === null ? (long ? LONG_CYCLES : CYCLES) : [Math.ceil(cycles / 4), cycles];
  const peaks = [];
  for (const length of lengths) {
    peaks.push(
      await withDaemon(directory, compression, async (env, pid) => {
        await native(['path', workload, String(length)], env);
        return statusBytes(pid, 'VmHWM');
      }),
    );
  }
  return memoryRows(lengths, peaks);
}

/**
 * @param {readonly number[]} lengths in cycles
 * @param {readonly number[]} peaks in bytes
 * @returns {Row[]}
 */
export function memoryRows(lengths, peaks) {
  return [
    ...lengths.map((length, i) => ({
      name: `memory of the daemon at most, ${length.toLocaleString('en-US')} cycles`,
      value: peaks[i] / 1e6,
      unit: 'MB',
      target: { atMost: AT_MOST_MB },
      ...{ series: 'memory', line: 'peak of the daemon', x: length },
    })),
    {
      name: `memory for ${(lengths[lengths.length - 1] / lengths[0]).toFixed(0)} times the cycles / memory for the shortest trace`,
      value: peaks[peaks.length - 1] / peaks[0],
      unit: '×',
      target: { atMost: FLAT },
      limit: '1: it does not grow',
      bound: 1,
    },
  ];
}

/**
 * Memory of a process as the kernel counts it, with shared memory: VmRSS is the current size, VmHWM the peak.
 * @param {number} pid
 * @param {'VmRSS' | 'VmHWM'} key
 */
export function statusBytes(pid, key) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kib] = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text) ?? [];
  return Number(kib) * 1024;
}
