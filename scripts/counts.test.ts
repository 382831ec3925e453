import { describe, expect, it } from 'vitest';
import { countsFromOutput, countsFromVitest, total } from './counts.mjs';

describe('counts of a step', () => {
  it('adds the lines of programs that count their own tests', () => {
    const output = 'suite a\n12 passed, 1 failed\nsuite b\n3 passed, 0 failed\n';
    expect(countsFromOutput({ ok: false, output })).toEqual({ passed: 15, failed: 1, skipped: 0 });
  });

  it('understands how many of all tests failed', () => {
    const output = '== session\n22 tests, 2 failed\n== lookup\n5 tests, 0 failed\n';
    expect(countsFromOutput({ ok: false, output })).toEqual({ passed: 25, failed: 2, skipped: 0 });
  });

  it('takes a step without such lines for one test', () => {
    expect(countsFromOutput({ ok: true, output: 'all fine' })).toEqual({ passed: 1, failed: 0, skipped: 0 });
    expect(countsFromOutput({ ok: false, output: 'no' })).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it('never hides a step that failed although all its tests passed', () => {
    expect(countsFromOutput({ ok: false, output: '7 passed, 0 failed\nSegmentation fault\n' }).failed).toBe(
      1,
    );
  });
});

describe('counts of vitest', () => {
  const report = {
    numPassedTests: 5,
    numFailedTests: 1,
    numPendingTests: 2,
    numTodoTests: 0,
    testResults: [
      { status: 'passed', assertionResults: [{}] },
      { status: 'failed', assertionResults: [] },
    ],
  };

  it('counts a file that does not load as a failure', () => {
    expect(countsFromVitest(false, JSON.stringify(report))).toEqual({ passed: 5, failed: 2, skipped: 2 });
  });

  it('counts a missing report as a failure', () => {
    expect(countsFromVitest(true, null).failed).toBe(1);
  });

  it('counts an unhandled error outside the tests as a failure', () => {
    const clean = { ...report, numFailedTests: 0, testResults: [] };
    expect(countsFromVitest(false, JSON.stringify(clean)).failed).toBe(1);
  });
});

it('totals', () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  expect(total([one, one])).toEqual({ passed: 2, failed: 4, skipped: 6 });
});
