/** The farm in its short form: 40 runs with three seeded regressions, found by the ready-made question, and the cause of one in three. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { ask, findRegressions, makeFarm, setsOf } from './farm/farm.js';
import { runsOf, SHORT } from './farm/plan.js';
import { PROGRAMS } from './farm/programs.js';

// The core is built with Verilator.
limitOfFile(BUILDS_MS);

const folder = mkdtempSync(join(tmpdir(), 'uscope-farm-'));
const dataset = join(folder, 'dataset');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => makeFarm(SHORT, folder, dataset));

it('has every run with its tags', async () => {
  const runs = runsOf(SHORT);
  expect(runs.length).toBe(40);
  const rows = await ask(dataset, "select run, tags from traces where kind = 'cpu' order by run");
  expect(rows.map(({ run }) => run)).toEqual(runs.map(({ name }) => name).sort());
  const [counts] = await ask(
    dataset,
    'select count(distinct "commit") as commits, count(distinct seed) as seeds, count(distinct program) as programs from traces',
  );
  expect(counts).toEqual({ commits: 5n, seeds: 40n, programs: 4n });
});

it('finds the seeded regressions, since the right commits, and no other', async () => {
  const { alarms, missed, falseAlarms } = await findRegressions(SHORT, dataset);
  expect(missed).toEqual([]);
  expect(falseAlarms).toEqual([]);
  for (const { since, regression } of alarms) expect(since).toBe(`c0${regression?.since}`);
});

it('finds the loop of each in three questions, as docs/tutorials/find-a-regression.md does', async () => {
  for (const regression of SHORT.regressions) {
    const [before, after] = setsOf(regression, SHORT);
    const [stall] = await ask(dataset, `from compare_stalls('${before}', '${after}')`);
    expect(Number(stall?.difference), regression.program).toBeGreaterThan(100);
    const [place] = await ask(dataset, `from compare_pcs('${before}', '${after}', 1)`);
    const { loop } = PROGRAMS[regression.program]!(1, true);
    const pc = Number(place?.address);
    expect(pc >= loop.from && pc < loop.to, `${regression.program}: ${place?.address}`).toBe(true);
  }
});
