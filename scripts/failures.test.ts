import { describe, expect, it } from 'vitest';
import { AGAIN, againLines, failureLines } from './failures.mjs';

describe('what failed is repeated', () => {
  it('of vitest: names, and the first lines of the messages', () => {
    const stack = Array.from({ length: 20 }, (_, i) => ` ❯ place ${i}`);
    const output = [
      ' ✓ |unit| a.test.ts (3 tests) 5ms',
      ' FAIL  |unit| sdk/b.test.ts > rows > are equal',
      'Error: Property failed after 4 tests',
      '',
      '{ seed: 6, path: "3:33", endOnFailure: true }',
      ...stack,
      '\x1b[31m FAIL \x1b[39m |unit| sdk/c.test.ts > opens',
      'AssertionError: expected 1 to be 2',
    ];
    expect(failureLines(output.join('\n'))).toEqual([
      ' FAIL  |unit| sdk/b.test.ts > rows > are equal',
      'Error: Property failed after 4 tests',
      '{ seed: 6, path: "3:33", endOnFailure: true }',
      ...stack.slice(0, 4),
      ' FAIL  |unit| sdk/c.test.ts > opens',
      'AssertionError: expected 1 to be 2',
    ]);
  });

  it('of C tests and compilers, not what passed', () => {
    const output = 'ok   one\nFAIL two\n  test.c:3: not true: x\nok   three\nlater.c:7:2: error: no x\n';
    const lines = failureLines(output);
    expect(lines[0]).toBe('FAIL two');
    expect(lines).toContain('  test.c:3: not true: x');
    expect(lines.at(-1)).toBe('later.c:7:2: error: no x');
    expect(lines).not.toContain('ok   one');
  });

  it('is the end of an output that names nothing', () => {
    expect(failureLines('a\n\nb\n')).toEqual(['a', 'b']);
    expect(failureLines(Array.from({ length: 30 }, (_, i) => `${i}`).join('\n'))).toHaveLength(7);
  });

  it('is bounded', () => {
    const many = failureLines(`${'FAIL x\n'.repeat(50)}`);
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toBe('… 30 more');
    expect(failureLines(`FAIL ${'x'.repeat(5000)}`)[0]).toHaveLength(201);
  });

  it('and what passed only when it ran again', () => {
    const output = `ok one\n\x1b[33m${AGAIN} |demo| a.test.ts > runs: expected 1 to be 2\x1b[39m\nok two\n`;
    expect(againLines(output)).toEqual(['|demo| a.test.ts > runs: expected 1 to be 2']);
  });
});
