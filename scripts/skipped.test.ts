import { describe, expect, it } from 'vitest';
import { skippedLines, slowestLines } from './skipped.mjs';

const result = (name: string, seconds: number, ...statuses: string[]) => ({
  name: `/root/${name}`,
  startTime: 1000,
  endTime: 1000 + seconds * 1000,
  assertionResults: statuses.map((status) => ({ status })),
});

describe('skipped tests', () => {
  const files = [
    result('a.test.ts', 1, 'passed', 'pending', 'skipped'),
    result('b.test.ts', 2, 'passed'),
    result('c.test.ts', 3, 'pending'),
  ];

  it('are listed by file, with what they need, each thing once', () => {
    const reasons =
      '{"file":"a.test.ts","what":"Verilator"}\n{"file":"a.test.ts","what":"Verilator"}\n{"file":"a.test.ts","what":"zsh"}\n';
    expect(skippedLines(files, reasons, '/root')).toEqual([
      '   2  a.test.ts: needs Verilator, zsh',
      '   1  c.test.ts: no reason given: use lacks() of test/support/needs.ts',
    ]);
  });

  it('are none where all ran', () => {
    expect(skippedLines([files[1]], '', '/root')).toEqual([]);
  });
});

describe('the slowest files', () => {
  it('are ten at most, the slowest first', () => {
    const many = Array.from({ length: 12 }, (_, i) => result(`${i}.test.ts`, i));
    const lines = slowestLines(many, '/root');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('  11.0 s  11.test.ts');
    expect(lines[9]).toBe('   2.0 s  2.test.ts');
  });
});
