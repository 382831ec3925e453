// @ts-check
/** How many checks passed and failed, read from the files that the test programs of a step write. */

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

/**
 * A program that counts its own tests prints `N passed, N failed` or `N tests, N failed` alone on a line, once per suite. Any
 * other step is one test.
 * @param {{ok: boolean, output: string}} outcome
 * @returns {Counts}
 */
export function countsFromOutput({ ok, output }) {
  const lines = [...output.matchAll(/^(\d+) (passed|tests), (\d+) failed$/gm)];
  if (lines.length === 0) return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
  let passed = 0;
  let failed = 0;
  for (const [, first, word, second] of lines) {
    passed += word === 'tests' ? Number(first) - Number(second) : Number(first);
    failed += Number(second);
  }
  return { passed, failed: atLeastOneUnlessOk(ok, failed), skipped: 0 };
}

/**
 * The last line of pytest: `2 failed, 49 passed, 1 skipped in 3.21s`.
 * @param {{ok: boolean, output: string}} outcome
 * @returns {Counts}
 */
export function countsFromPytest({ ok, output }) {
  const last = output.trim().split('\n').at(-1) ?? '';
  const count = (/** @type {string} */ word) => Number(new RegExp(`(\\d+) ${word}`).exec(last)?.[1] ?? 0);
  const failed = count('failed') + count('error');
  return { passed: count('passed'), failed: atLeastOneUnlessOk(ok, failed), skipped: count('skipped') };
}

/**
 * vitest's JSON report. A file that does not even load has no tests; it counts as one failure.
 * @param {boolean} ok whether vitest exited with 0
 * @param {string | null} report text of the report, null when there is none
 * @returns {Counts}
 */
export function countsFromVitest(ok, report) {
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const result = JSON.parse(report);
  /** @type {{status: string, assertionResults: unknown[]}[]} */
  const files = result.testResults;
  const unloaded = files.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  return {
    passed: result.numPassedTests,
    failed: atLeastOneUnlessOk(ok, result.numFailedTests + unloaded),
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/**
 * @param {boolean} ok
 * @param {number} failed
 */
function atLeastOneUnlessOk(ok, failed) {
  return ok ? failed : Math.max(failed, 1);
}

/** @param {readonly Counts[]} all */
export function total(all) {
  return all.reduce(
    (sum, c) => ({
      passed: sum.passed + c.passed,
      failed: sum.failed + c.failed,
      skipped: sum.skipped + c.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}
