// @ts-check
import { readFileSync } from 'node:fs';

const LEAST_SECONDS = 1e-4;

/**
 * Seconds that the main thread was running so far: leaves out waiting, other threads, and other programs on its core.
 * Linux reports it in nanoseconds.
 */
export function mainThreadSeconds() {
  const [running] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(running) / 1e9;
}

/**
 * Of that time since `start`. Processor time is counted in steps: a tiny run may take none, which nothing can be divided by.
 * @param {number} start
 */
export function secondsSince(start) {
  return Math.max(mainThreadSeconds() - start, LEAST_SECONDS);
}

/** @param {readonly number[]} values at least one */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/**
 * A row's value with what the runs were between.
 * @param {readonly number[]} values of each run, at least one
 * @returns {{value: number, min: number, max: number, runs: number}}
 */
export function spread(values) {
  return { value: median(values), min: Math.min(...values), max: Math.max(...values), runs: values.length };
}

/**
 * @param {readonly number[]} values at least one
 * @param {number} share 0..1
 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];
}

/**
 * Runs something several times, one after the other.
 * @template T
 * @param {number} times
 * @param {(run: number) => Promise<T>} body
 * @returns {Promise<T[]>}
 */
export async function repeat(times, body) {
  /** @type {T[]} */
  const results = [];
  for (let run = 0; run < times; run++) results.push(await body(run));
  return results;
}
