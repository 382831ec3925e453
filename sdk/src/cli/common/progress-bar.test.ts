import { describe, expect, it } from 'vitest';
import { bar, shortNumber, sparkline, table } from './chart.js';
import { useIo } from './io.js';
import { formatDuration, ProgressBar, withProgress } from './progress-bar.js';

/** A bar on a terminal, and a clock that is set by hand. */
function terminal(columns = 60) {
  const written: string[] = [];
  const clock = { now: 0 };
  const output = { columns, write: (text: string) => void written.push(text) };
  return { written, clock, progress: new ProgressBar('reading', output, () => clock.now) };
}

describe('a progress bar', () => {
  it('shows nothing of short work', () => {
    const { written, clock, progress } = terminal();
    for (clock.now = 0; clock.now < 400; clock.now += 50) progress.update(clock.now / 400);
    progress.clear();
    expect(written).toEqual([]);
  });

  it('draws how much is done and how long the rest will take, ten times a second', () => {
    const { written, clock, progress } = terminal();
    for (clock.now = 0; clock.now <= 1000; clock.now += 10) progress.update(clock.now / 4000);
    progress.clear();
    expect(written).toHaveLength(8);
    expect(written[6]).toBe(`\r\x1b[Kreading [${'#'.repeat(9)}${'-'.repeat(25)}] 25%  0:03 left`);
    expect(written.at(-1)).toBe('\r\x1b[K');
  });

  it('never fills more than the line', () => {
    for (const columns of [10, 20, 40, 200]) {
      const { written, clock, progress } = terminal(columns);
      clock.now = 3000;
      progress.update(0.5);
      expect(written[0].length - '\r\x1b[K'.length).toBeLessThan(Math.max(columns, 12));
    }
  });

  it('goes away before other output and is not drawn where data goes to the same terminal', async () => {
    const written: string[] = [];
    const hooks: ((() => void) | null)[] = [];
    const place = {
      columns: 80,
      sharesStdout: true,
      write: (text: string) => void written.push(text),
      onOutput: (hook: (() => void) | null) => void hooks.push(hook),
    };
    useIo({ out: () => undefined, err: () => undefined, flush: () => undefined, colour: false, bar: place });
    try {
      const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      await withProgress('reading', async (update) => {
        await wait(420);
        update(0.5);
        hooks[0]?.();
      });
      expect(written).toEqual([expect.stringContaining('50%'), '\r\x1b[K']);
      expect(hooks.at(-1)).toBeNull();
      await withProgress(
        'reading',
        async (update) => {
          await wait(420);
          update(0.5);
        },
        { streams: true },
      );
      expect(written).toHaveLength(2);
    } finally {
      useIo(null);
    }
  });
});

describe('charts of characters', () => {
  it('sparklines', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([-7, 0])).toBe('▁█');
    expect(sparkline([0, 0])).toBe('▁▁');
    expect(sparkline([])).toBe('');
  });

  it('bars', () => {
    expect([bar(0, 4), bar(0.0001, 4), bar(0.5, 4), bar(1, 4), bar(2, 4)]).toEqual([
      '',
      '▏',
      '██',
      '████',
      '████',
    ]);
  });

  it('tables', () => {
    expect(
      table([
        ['name', 'n'],
        ['a', '100'],
      ]),
    ).toBe('name    n\na     100\n');
  });

  it('numbers and durations', () => {
    expect([3, 0.5, 1234.56789, 0.0000001].map(shortNumber)).toEqual(['3', '0.5000', '1235', '1.00e-7']);
    expect([0, 61_000, 3_723_000].map(formatDuration)).toEqual(['0:00', '1:01', '1:02:03']);
  });
});
