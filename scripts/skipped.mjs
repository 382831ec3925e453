// @ts-check
/** The tests that were skipped and what they needed, and the files that took longest: read from vitest's report, test/support/needs.ts and times-reporter.mjs. */
import { relative } from 'node:path';

/**
 * @typedef {object} FileResult
 * @property {string} name
 * @property {{status: string}[]} assertionResults
 */

const SLOWEST = 10;

/**
 * A line for each file with skipped tests: how many, and what they need.
 * @param {readonly FileResult[]} files
 * @param {string} reasons lines of JSON, `{"file", "what"}`
 * @param {string} root
 * @returns {string[]}
 */
export function skippedLines(files, reasons, root) {
  /** @type {Map<string, Set<string>>} */
  const needs = new Map();
  for (const line of reasons.split('\n').filter(Boolean)) {
    const { file, what } = /** @type {{file: string, what: string}} */ (JSON.parse(line));
    needs.set(file, (needs.get(file) ?? new Set()).add(what));
  }
  return files.flatMap((result) => {
    const count = result.assertionResults.filter(
      ({ status }) => status !== 'passed' && status !== 'failed',
    ).length;
    if (count === 0) return [];
    const file = relative(root, result.name);
    const known = needs.get(file);
    const why = known
      ? `needs ${[...known].join(', ')}`
      : 'no reason given: use lacks() of test/support/needs.ts';
    return [`${String(count).padStart(4)}  ${file}: ${why}`];
  });
}

/**
 * The files that took longest with their hooks, longest first, and the processor time of those that it is known of.
 * @param {string} times lines of JSON, `{"file", "seconds"}` and `{"file", "computed"}` in any order
 * @param {string} root
 * @returns {string[]}
 */
export function slowestLines(times, root) {
  /** @type {Map<string, {seconds: number, computed?: number}>} */
  const files = new Map();
  for (const line of times.split('\n').filter(Boolean)) {
    const { file, ...known } = /** @type {{file: string, seconds?: number, computed?: number}} */ (
      JSON.parse(line)
    );
    files.set(file, { seconds: 0, ...files.get(file), ...known });
  }
  return [...files]
    .sort(([, a], [, b]) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(([file, { seconds, computed }]) => {
      const processor = computed === undefined ? '' : `, ${computed.toFixed(1)} s of processor time`;
      return `${seconds.toFixed(1).padStart(6)} s  ${relative(root, file)}${processor}`;
    });
}
