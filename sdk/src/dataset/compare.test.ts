/** `compare` against the same interval computed here, from traces of known length. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { analyze, build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

// Traces are exported, and DuckDB is asked.
limitOfFile(MANY_CASES_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-compare-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Density of Student's t, without its constant. */
const shape = (x: number, df: number): number => (1 + (x * x) / df) ** (-(df + 1) / 2);

/** The share of the distribution between -t and t, by Simpson's rule; x = tan(u) makes the range finite. */
function share(t: number, df: number): number {
  const area = (to: number): number => {
    const steps = 4_000;
    let sum = 0;
    for (let i = 0; i <= steps; i++) {
      const u = (to * i) / steps;
      const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
      const cos = Math.max(Math.cos(u), 1e-12);
      sum += (weight * shape(Math.tan(u), df)) / (cos * cos);
    }
    return (sum * to) / steps / 3;
  };
  return area(Math.atan(t)) / area(Math.PI / 2 - 1e-9);
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const variance = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + (one - mean(values)) ** 2, 0) / (values.length - 1);

it('compares sets of runs with the interval of Welch, and its quantiles are those of t', async () => {
  const cpi = { base: [] as number[], new: [] as number[] };
  const counted = { base: [] as number[], new: [] as number[] };
  const stalled = { base: new Map<string, number>(), new: new Map<string, number>() };
  for (const [set, seeds] of [
    ['base', [1, 2, 3]],
    ['new', [4, 5]],
  ] as const) {
    for (const seed of seeds) {
      const path = join(directory, 'runs', `${set}-${seed}`);
      mkdirSync(path, { recursive: true });
      const bytes = build(record(generator(seed), 80).frames, 20);
      writeFileSync(join(path, 'core0.uscope'), bytes);
      const { clockCycles, instructions, counters, stalls } = await analyze(bytes, {});
      const retired = Number(instructions.retired);
      expect(retired).toBeGreaterThan(0);
      cpi[set].push(Number(clockCycles) / retired);
      counted[set].push(Number(counters[0].delta));
      for (const { reason, cycles } of stalls.reasons)
        stalled[set].set(reason, (stalled[set].get(reason) ?? 0) + cycles / seeds.length);
    }
  }
  const dataset = join(directory, 'dataset');
  const tables = ['--tables', 'instructions,counters,stalls'];
  await runUscope(['export', join(directory, 'runs'), '-o', dataset, '--jobs', '1', ...tables]);
  const asked = await questions(dataset);
  const quantiles = await asked.ask(
    'select df, t_quantile(df) from (select unnest([1, 2, 3, 5, 10, 20, 30, 31, 60, 200]) as df)',
  );
  for (const [df, t] of quantiles) expect(share(Number(t), Number(df)), `df ${df}`).toBeCloseTo(0.95, 5);
  const half = async (a: readonly number[], b: readonly number[]): Promise<number> => {
    const ofA = variance(a) / a.length;
    const ofB = variance(b) / b.length;
    const df = Math.floor((ofA + ofB) ** 2 / (ofA ** 2 / (a.length - 1) + ofB ** 2 / (b.length - 1)));
    return Number((await asked.ask(`select t_quantile(${df})`))[0][0]) * Math.sqrt(ofA + ofB);
  };
  const difference = mean(cpi.new) - mean(cpi.base);
  const ofCpi = await half(cpi.base, cpi.new);
  const [row] = await asked.ask("from compare('base-%', 'new-%')");
  const [counter] = await asked.ask("from compare_counters('base-%', 'new-%')");
  const ofCounter = await half(counted.base, counted.new);
  const added = mean(counted.new) - mean(counted.base);
  const figures = [mean(counted.base), mean(counted.new), added, mean(counted.new) / mean(counted.base) - 1];
  [...figures, added - ofCounter, added + ofCounter].forEach((value, index) => {
    expect(Number(counter[index + 1]) / Math.max(1, Math.abs(value))).toBeCloseTo(
      value / Math.max(1, Math.abs(value)),
      9,
    );
  });
  const reasons = new Set([...stalled.base.keys(), ...stalled.new.keys()]);
  const stalls = await asked.ask("from compare_stalls('base-%', 'new-%')");
  expect(new Set(stalls.map(([reason]) => reason))).toEqual(reasons);
  for (const [reason, ...cycles] of stalls as [string, ...number[]][]) {
    const [a, b] = [stalled.base.get(reason) ?? 0, stalled.new.get(reason) ?? 0];
    [a, b, b - a].forEach((value, index) => {
      expect(cycles[index], reason).toBeCloseTo(value, 9);
    });
  }
  const [overlap] = await asked.ask("from compare('%', 'new-%')");
  expect(overlap.slice(0, 3)).toEqual([3n, 0n, 2n]);
  await asked.close();
  expect(row.slice(0, 3)).toEqual([3n, 2n, 0n]);
  const wanted = [
    mean(cpi.base),
    mean(cpi.new),
    difference,
    mean(cpi.new) / mean(cpi.base) - 1,
    difference - ofCpi,
    difference + ofCpi,
  ];
  wanted.forEach((value, index) => {
    expect(Number(row[index + 3])).toBeCloseTo(value, 9);
  });
});
