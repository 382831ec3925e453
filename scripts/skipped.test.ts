import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { TestModule } from 'vitest/node';
import { skippedLines, slowestLines } from './skipped.mjs';
import FileTimes from './times-reporter.mjs';

const result = (name: string, ...statuses: string[]) => ({
  name: `/root/${name}`,
  assertionResults: statuses.map((status) => ({ status })),
});

describe('skipped tests', () => {
  const files = [
    result('a.test.ts', 'passed', 'pending', 'skipped'),
    result('b.test.ts', 'passed'),
    result('c.test.ts', 'pending'),
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
    const many = Array.from({ length: 12 }, (_, i) =>
      JSON.stringify({ file: `/root/${i}.test.ts`, seconds: i }),
    );
    const lines = slowestLines(`${many.join('\n')}\n`, '/root');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('  11.0 s  11.test.ts');
    expect(lines[9]).toBe('   2.0 s  2.test.ts');
  });

  it('have the processor time that is known, written before or after', () => {
    const lines = [
      { file: '/root/a.test.ts', computed: 1.25 },
      { file: '/root/b.test.ts', seconds: 3 },
      { file: '/root/a.test.ts', seconds: 4 },
    ].map((line) => JSON.stringify(line));
    expect(slowestLines(lines.join('\n'), '/root')).toEqual([
      '   4.0 s  a.test.ts, 1.3 s of processor time',
      '   3.0 s  b.test.ts',
    ]);
  });

  it('have the time of their hooks and imports', () => {
    const folder = mkdtempSync(join(tmpdir(), 'uscope-times-'));
    try {
      const list = join(folder, 'times');
      vi.stubEnv('USCOPE_FILE_TIMES', list);
      const diagnostic = () => ({ collectDuration: 500, setupDuration: 250, duration: 60_000 });
      new FileTimes().onTestModuleEnd({ moduleId: '/root/built.test.ts', diagnostic } as TestModule);
      expect(slowestLines(readFileSync(list, 'utf8'), '/root')).toEqual(['  60.8 s  built.test.ts']);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });
});
