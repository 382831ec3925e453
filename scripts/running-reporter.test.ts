import { describe, expect, it } from 'vitest';
import { runningTests, withRunning } from './running-reporter.mjs';

const list = [
  { what: 'began', id: '1', name: 'a.test.ts: one' },
  { what: 'began', id: '2', name: 'b.test.ts: two' },
  { what: 'ended', id: '1', name: 'a.test.ts: one' },
  { what: 'began', id: '3', name: 'a.test.ts: three' },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

describe('a run that is stopped', () => {
  it('names the tests that have begun and not ended', () => {
    expect(runningTests(list)).toEqual(['b.test.ts: two', 'a.test.ts: three']);
    expect(runningTests('')).toEqual([]);
  });

  it('has them in its output, and one that ended well does not', () => {
    const stopped = { ok: false, seconds: 9, output: 'half', why: 'stopped after 9 s' };
    expect(withRunning(stopped, list).output.split('\n')).toEqual([
      'half',
      'FAIL  stopped in b.test.ts: two',
      'FAIL  stopped in a.test.ts: three',
    ]);
    expect(withRunning({ ...stopped, ok: true, why: '' }, list).output).toBe('half');
  });
});
