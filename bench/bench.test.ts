import { describe, expect, it } from 'vitest';
import { rows as coreRows } from './cores.mjs';
import { rows } from './demo.mjs';
import { BENCHMARKS, parseOptions } from './options.mjs';
import { percentile } from './statistics.mjs';
import { duration, meetsTarget } from './table.mjs';

describe('arguments', () => {
  it('by default ask for everything', () => {
    expect(parseOptions([])).toMatchObject({ names: [...BENCHMARKS], workload: 'std', runs: 5, json: false });
  });

  it('name benchmarks and their size', () => {
    const options = parseOptions(['path', 'client', '--cycles', '1000', '--workload', 'ooo', '--json']);
    expect(options).toMatchObject({ names: ['path', 'client'], cycles: 1000, workload: 'ooo', json: true });
  });

  it.each([
    [['paths'], /"paths" is none of client/],
    [['--cycles', '0'], /"0" is not a positive whole number/],
    [['--cycles', '1e99'], /not a positive whole number/],
    [['--workload', 'x'], /"x" is none of std, ooo/],
    [['--compression', 'gzip'], /"gzip" is none of lz4/],
    [['--unknown'], /Unknown option/],
  ])('%j are refused with the reason', (args, reason) => expect(() => parseOptions(args)).toThrow(reason));
});

describe('results', () => {
  it('meet a target from the right side', () => {
    const row = { name: 'x', unit: 'ns' };
    expect(meetsTarget({ ...row, value: 8, target: { atMost: 8 } })).toBe(true);
    expect(meetsTarget({ ...row, value: 8.1, target: { atMost: 8 } })).toBe(false);
    expect(meetsTarget({ ...row, value: 19.9, target: { atLeast: 20 } })).toBe(false);
    expect(meetsTarget({ ...row, value: 1 })).toBe(true);
  });

  it('are shown in the unit people use', () => {
    expect([7.25, 999, 12_345, 2_345_678].map(duration)).toEqual(['7.25 ns', '999 ns', '12.3 µs', '2.35 ms']);
  });

  it('have percentiles', () => {
    const values = Array.from({ length: 100 }, (_, i) => 99 - i);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([0, 50, 99, 99]);
  });
});

describe('several cores', () => {
  const run = (rate: number, megabytes: number) => ({ rate, spread: 1.1, residentBytes: megabytes * 1e6 });

  it('are held against one, median against median', () => {
    const table = coreRows([run(40, 1), run(20, 1), run(30, 1)], [run(27, 200), run(50, 210), run(21, 220)]);
    expect(table.map(({ value }) => value)).toEqual([30, 27, 0.9, 1.1, 220]);
    expect(table[2].target).toEqual({ atLeast: 0.9 });
    expect(table[4]).toMatchObject({ name: 'memory of the daemon after 19 traces', limit: '200 MB after 9' });
  });
});

describe('the demo', () => {
  const run = (wallNs: number, elapsedNs: number, cpuNs: number) => ({
    wallNs,
    cycles: 1000,
    elapsedNs,
    cpuNs,
  });
  const table = rows(
    {
      untraced: [run(2e6, 500_000, 400_000)],
      traced: [run(4e6, 800_000, 500_000), run(3e6, 700_000, 480_000), run(9e6, 900_000, 520_000)],
      fst: [run(6e6, 2_500_000, 2_400_000)],
      vcd: [run(8e6, 3_500_000, 3_400_000)],
    },
    { itemsPerCycle: 20, sizes: { traced: 1e6, fst: 2e6, vcd: 3e6 } },
  );
  const row = (name: string) => table.find((candidate) => candidate.name.startsWith(name))!;

  it('says what tracing adds to a cycle, in the median run', () => {
    expect(row('tracing adds per cycle')).toMatchObject({ value: 100, unit: 'ns', target: { atMost: 120 } });
    expect(row('tracing adds per cycle').limit).toBe('20.0 items per cycle: 5.0 ns per item');
    expect(row('the same, elapsed').value).toBe(300);
  });

  it('compares whole runs', () => {
    expect(row('traced: simulator process')).toMatchObject({
      value: 4e6,
      limit: '2.00 × untraced; 800 ns per cycle',
    });
    expect(row('traced run / FST run')).toMatchObject({ value: 4 / 6, target: { atMost: 1 } });
    expect(row('FST dump adds').value).toBe(2000);
  });
});
