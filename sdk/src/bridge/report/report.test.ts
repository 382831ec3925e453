import { describe, expect, it } from 'vitest';
import { formatBytes, formatCount, formatRate, formatTime } from '../../base/units.js';
import { type CompletedFrames, SessionStatus } from '../../format/session-chunk.js';
import { accountOf, type TraceStats } from '../../writer/index.js';
import { Progress } from '../run/progress.js';
import { exitStatus, type TraceReport, traceLines } from './summary.js';

const STATS: TraceStats = {
  path: '/data/core0.uscope',
  status: SessionStatus.CLOSED,
  frames: 200_000n,
  items: 1_400_000n,
  strings: 12n,
  segments: 20,
  bytes: 6_900_000n,
  totalTimePs: 200_000_000n,
  accepted: { frames: 200_000n, items: 1_400_000n, totalTimePs: 200_000_000n },
  rejected: 0n,
  lost: 0n,
};
const report = (
  more: Partial<TraceReport> = {},
  stats: Partial<TraceStats> = {},
  completed: CompletedFrames = { frames: STATS.frames, isExact: stats.status === undefined },
): TraceReport => ({
  name: 'core0',
  path: STATS.path,
  stats: { ...STATS, ...stats },
  account: accountOf({ stats: { ...STATS, ...stats }, completed }),
  failure: null,
  reasons: [],
  ...more,
});

describe('the summary', () => {
  it('is one line for a trace that is whole', () => {
    expect(traceLines(report())).toEqual([
      'core0: /data/core0.uscope: closed, 200,000 frames, 1,400,000 items, 12 strings, 20 segments, 6.90 MB, 200 µs simulated, 0 rejected, 0 lost',
    ]);
    expect(exitStatus(0, [report()])).toBe(0);
  });

  const partial: [string, TraceReport, string][] = [
    [
      'rejected items',
      report(
        {
          reasons: [
            ['OP_SLOT', 2n],
            ['OP_TIME', 1n],
          ],
        },
        { rejected: 3n },
      ),
      '3 items were rejected (OP_SLOT 2, OP_TIME 1)',
    ],
    [
      'lost items',
      report({ failure: { code: 'BRIDGE_RECORD', message: 'BRIDGE_RECORD: slot 9' } }, { lost: 5n }),
      '5 items are lost',
    ],
    ['a client that ended', report({}, { status: SessionStatus.CLIENT_LOST }), 'without closing'],
    ['a file found unfinished', report({}, { status: SessionStatus.RECOVERED }), 'without closing'],
    [
      'cycles that are not in the file',
      report({}, {}, { frames: 200_007n, isExact: true }),
      '7 of the 200,007 cycles that its client completed are not in the file',
    ],
    [
      'a number of cycles that nobody knows',
      report({}, { status: SessionStatus.CLIENT_LOST }, { frames: 200_007n, isExact: false }),
      'how many cycles it completed is not known: at least 200,007, of which 7 are not in the file',
    ],
    ['a file left unfinished', report({ stats: null }), 'it could not be finalized'],
    ['a failure', report({ failure: { code: 'WRITER_IO', message: 'WRITER_IO: gone' } }), 'WRITER_IO: gone'],
  ];
  it.each(partial)('tells of %s, and the exit status is 3', (_, trace, text) => {
    expect(traceLines(trace).slice(1).join('\n')).toContain(text);
    expect(exitStatus(0, [report(), trace])).toBe(3);
    expect(exitStatus(7, [trace])).toBe(7);
  });

  it('without any trace is a loss', () => {
    expect(exitStatus(0, [])).toBe(3);
    expect(exitStatus(1, [])).toBe(1);
  });
});

describe('progress', () => {
  function bench(
    terminal: boolean,
    columns = 200,
  ): { progress: Progress; text: () => string; pass: (ms: number) => void } {
    let clock = 0;
    let text = '';
    const output = { isTTY: terminal, columns, write: (more: string) => (text += more) };
    const progress = new Progress(output, () => clock);
    progress.opened('s', 'core0', 1000);
    return {
      progress,
      text: () => text,
      pass: (ms) => {
        clock += ms;
      },
    };
  }

  it('is one line, redrawn a few times a second, on a terminal', () => {
    const { progress, text, pass } = bench(true);
    progress.update('s', STATS);
    expect(text()).toBe('');
    pass(1000);
    progress.update('s', STATS);
    expect(text()).toBe('\r\x1b[Kcore0: 200 µs, 200,000 cycles, 1.40 M items/s, 6.90 MB, 20 segments\r');
    pass(100);
    progress.update('s', STATS);
    pass(900);
    progress.update('s', { ...STATS, accepted: { ...STATS.accepted, items: 1_400_500n } });
    expect(text().split('\x1b[K')).toHaveLength(3);
    expect(text()).toContain(' 500 items/s');
    progress.note('hello');
    expect(text().endsWith('\r\x1b[Kuscope: hello\n')).toBe(true);
  });

  it('never wraps a line', () => {
    const { progress, text, pass } = bench(true, 40);
    progress.opened('t', 'core1', 0);
    pass(1000);
    progress.update('s', STATS);
    pass(1000);
    progress.update('t', STATS);
    for (const line of text().split('\r\x1b[K')) expect(line.replace(/\r$/, '').length).toBeLessThan(40);
    expect(text()).toMatch(/2 traces: [\d.]+ k items\/s, 13\.8 MB \| cor/);
  });

  it('is a plain line every few seconds elsewhere', () => {
    const { progress, text, pass } = bench(false);
    for (let i = 0; i < 26; i++) {
      pass(200);
      progress.update('s', STATS);
    }
    expect(text()).toMatch(/^uscope: core0: 200 µs, .*segments\n$/);
  });

  it('shows that a trace waits for disk space, until it does not', () => {
    const { progress, text, pass } = bench(false);
    progress.stalled('s', true);
    pass(6000);
    progress.update('s', STATS);
    expect(text()).toContain('waiting for disk space');
    progress.stalled('s', false);
    progress.ended('s');
    pass(6000);
    progress.update('s', STATS);
    expect(text().split('\n')).toHaveLength(2);
  });
});

describe('numbers for people', () => {
  it('have three digits and a unit', () => {
    expect([0, 999, 1000, 34_549, 999_960].map(formatRate)).toEqual([
      '0',
      '999',
      '1.00 k',
      '34.5 k',
      '1.00 M',
    ]);
    expect([950, 6_900_000, 12e15].map(formatBytes)).toEqual(['950 B', '6.90 MB', '12000 TB']);
    expect([400n, 1_200_000_000n].map(formatTime)).toEqual(['400 ps', '1.20 ms']);
    expect(formatCount(1_234_567n)).toBe('1,234,567');
  });
});
