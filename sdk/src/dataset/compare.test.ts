/** `compare` against the same interval computed here, from traces of known length. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { analyze, build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

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
  for (const [set, seeds] of [
    ['base', [1, 2, 3]],
    ['new', [4, 5]],
  ] as const) {
    for (const seed of seeds) {
      const path = join(directory, 'runs', `${set}-${seed}`);
      mkdirSync(path, { recursive: true });
      const bytes = build(record(generator(seed), 80).frames, 20);
      writeFileSync(join(path, 'core0.uscope'), bytes);
      const { clockCycles, instructions } = await analyze(bytes, {});
      const retired = Number(instructions.retired);
      expect(retired).toBeGreaterThan(0);
      cpi[set].push(Number(clockCycles) / retired);
    }
  }
  const dataset = join(directory, 'dataset');
  await runUscope([
    'export',
    join(directory, 'runs'),
    '-o',
    dataset,
    '--jobs',
    '1',
    '--tables',
    'instructions',
  ]);
  const asked = await questions(dataset);
  const quantiles = await asked.ask(
    'select df, t_quantile(df) from (select unnest([1, 2, 3, 5, 10, 20, 30, 31, 60, 200]) as df)',
  );
  for (const [df, t] of quantiles) expect(share(Number(t), Number(df)), `df ${df}`).toBeCloseTo(0.95, 5);
  const ofA = variance(cpi.base) / 3;
  const ofB = variance(cpi.new) / 2;
  const df = Math.floor((ofA + ofB) ** 2 / (ofA ** 2 / 2 + ofB ** 2));
  const t = Number((await asked.ask(`select t_quantile(${df})`))[0][0]);
  const difference = mean(cpi.new) - mean(cpi.base);
  const [row] = await asked.ask("from compare('base-%', 'new-%')");
  await asked.close();
  expect(row.slice(0, 2)).toEqual([3n, 2n]);
  const wanted = [
    mean(cpi.base),
    mean(cpi.new),
    difference,
    mean(cpi.new) / mean(cpi.base) - 1,
    difference - t * Math.sqrt(ofA + ofB),
    difference + t * Math.sqrt(ofA + ofB),
  ];
  wanted.forEach((value, index) => {
    expect(Number(row[index + 2])).toBeCloseTo(value, 9);
  });
});
