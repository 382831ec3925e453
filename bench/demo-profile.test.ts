import { describe, expect, it } from 'vitest';
import { readFiles, summarizeDemo } from './demo-profile.mjs';

describe('instructions of the demo', () => {
  it('are summed by source file, whatever the function is called', () => {
    const table = [
      '3,000 (100.0%)  PROGRAM TOTALS',
      ' 1,200 (40.0%)  x/../dpi/src/lanes.c:Vtop::eval(int, long)::{lambda} [/x/Vtop]',
      '   300 (10.0%)  x/../dpi/src/lanes.c:uscope_count_lanes',
      '     5 ( 0.2%)  ???:main [/x/Vtop]',
      'head: 7',
    ].join('\n');
    expect([...readFiles(table)]).toEqual([
      ['x/../dpi/src/lanes.c', 1500],
      ['???', 5],
    ]);
  });

  it('are shares of what tracing adds', () => {
    const untraced = new Map([['???', 2000]]);
    const traced = new Map([
      ['???', 2100],
      ['/x/dpi/src/append.c', 100],
      ['/x/dpi/src/lanes.c', 200],
    ]);
    expect(summarizeDemo(untraced, traced)).toEqual({
      total: '2000 instructions per cycle untraced, 2400 traced: 400 more',
      lines: [
        { name: 'tracer and model', share: 0.25 },
        { name: 'client: lanes.c', share: 0.5 },
        { name: 'client: append.c', share: 0.25 },
      ],
    });
  });
});
