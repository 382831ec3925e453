// @ts-check
/**
 * A reporter of vitest: which tests have begun, and which have ended, in the file that the environment variable USCOPE_RUNNING names. What
 * is stopped after a time says by it which tests it was in.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

/** @typedef {import('vitest/node').TestCase} TestCase */

export default class RunningTests {
  #list = process.env.USCOPE_RUNNING ?? '';

  /** @param {TestCase} test */
  onTestCaseReady(test) {
    this.#note('began', test);
  }

  /** @param {TestCase} test */
  onTestCaseResult(test) {
    this.#note('ended', test);
  }

  /** @param {'began' | 'ended'} what @param {TestCase} test */
  #note(what, test) {
    if (this.#list === '') return;
    const file = relative(process.cwd(), test.module.moduleId);
    appendFileSync(
      this.#list,
      `${JSON.stringify({ what, id: test.id, name: `${file}: ${test.fullName}` })}\n`,
    );
  }
}

/**
 * The outcome of a run of vitest, which names the tests that it was in where it was stopped.
 * @param {import('./step.mjs').Outcome} outcome
 * @param {string} list lines that the reporter has written
 * @returns {import('./step.mjs').Outcome}
 */
export function withRunning(outcome, list) {
  if (outcome.ok) return outcome;
  const lines = runningTests(list).map((name) => `FAIL  stopped in ${name}`);
  return { ...outcome, output: [outcome.output, ...lines].join('\n') };
}

/**
 * Names of the tests that have begun and not ended.
 * @param {string} list lines that the reporter has written
 * @returns {string[]}
 */
export function runningTests(list) {
  /** @type {Map<string, string>} */
  const running = new Map();
  for (const line of list.split('\n').filter(Boolean)) {
    const { what, id, name } = /** @type {{what: string, id: string, name: string}} */ (JSON.parse(line));
    if (what === 'began') running.set(id, name);
    else running.delete(id);
  }
  return [...running.values()];
}
