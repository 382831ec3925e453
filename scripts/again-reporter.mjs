// @ts-check
/**
 * A reporter of vitest: the tests that failed and passed when they ran again (`retry` of vitest.config.ts), with the first line of what they
 * failed for. failures.mjs repeats these lines at the end of a run: each is a fault to find, of the test or of what it tests.
 */
import { AGAIN } from './failures.mjs';

export default class PassedAgain {
  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky !== true) return;
    const [error] = test.result().errors ?? [];
    const why = error?.message?.split('\n')[0] ?? 'no message';
    const file = `|${test.project.name}| ${test.module.relativeModuleId}`;
    process.stderr.write(`${AGAIN} ${file} > ${test.fullName}: ${why}\n`);
  }
}
