/** A regression farm, simulated: its runs as a dataset, and what `regressions` says of them next to what was seeded. */

import { DEFAULT_WINDOW } from '../../sdk/src/cli/dataset/export-arguments.js';
import { exportRuns, loadEngine, SqlSession } from '../../sdk/src/dataset/index.js';
import { commitName, type Plan, type Regression, runsOf, workloadName } from './plan.js';
import { type Simulated, simulateFarm } from './simulate.js';

const TABLES = ['traces', 'instructions', 'stages', 'counters', 'stalls', 'occupancy', 'gaps'] as const;

export interface Alarm {
  readonly workload: string;
  readonly since: string;
  readonly relative: number;
  /** What was seeded there; null: a false alarm. */
  readonly regression: Regression | null;
}

export interface Findings {
  readonly alarms: readonly Alarm[];
  readonly missed: readonly Regression[];
  readonly falseAlarms: readonly Alarm[];
}

export interface FarmProgress {
  readonly onRun?: (done: number, total: number) => void;
  readonly onExport?: (fraction: number) => void;
}

/** Simulates and exports. The traces are in `folder`, the dataset in `dataset`. */
export async function makeFarm(
  plan: Plan,
  folder: string,
  dataset: string,
  { onRun, onExport }: FarmProgress = {},
  jobs = 2,
): Promise<readonly Simulated[]> {
  const runs = runsOf(plan);
  const simulated = await simulateFarm(runs, folder, {
    jobs,
    onProgress: (done) => onRun?.(done, runs.length),
  });
  const requests = simulated.map(({ run: { name, tags }, file }) => ({
    run: name,
    files: [file],
    tables: TABLES,
    window: DEFAULT_WINDOW,
    tags,
    replace: true,
  }));
  const results = await exportRuns(dataset, requests, { jobs, onProgress: onExport });
  const failed = results.find((result) => 'error' in result);
  if (failed && 'error' in failed)
    throw new Error(`${failed.run} was not exported: ${failed.error.code}: ${failed.error.detail}`);
  return simulated;
}

export type Row = Readonly<Record<string, unknown>>;

/** A question about the farm: rows as objects. */
export async function ask(dataset: string, question: string): Promise<Row[]> {
  const session = await SqlSession.open(await loadEngine(), [dataset]);
  try {
    return await session.ask(question, async (result) => {
      const names = result.deduplicatedColumnNames();
      const rows: Row[] = [];
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return rows;
        for (const row of chunk.getRows())
          rows.push(Object.fromEntries(row.map((cell, at) => [names[at], cell])));
      }
    });
  } finally {
    await session.close();
  }
}

/** What the question finds, and what it does not. */
export async function findRegressions(plan: Plan, dataset: string): Promise<Findings> {
  const rows = await ask(dataset, `from regressions('${commitName(plan.since)}')`);
  const alarms = rows.map(({ workload, since_commit, relative }) => ({
    workload: String(workload),
    since: String(since_commit),
    relative: Number(relative),
    regression:
      plan.regressions.find(({ program, config }) => workloadName(program, config) === workload) ?? null,
  }));
  return {
    alarms,
    missed: plan.regressions.filter((one) => !alarms.some(({ regression }) => regression === one)),
    falseAlarms: alarms.filter(({ regression }) => regression === null),
  };
}

/** The names of a workload's runs before and since a regression, as patterns of comparisons; commits have one digit in both sets. */
export function setsOf({ program, config, since }: Regression, plan: Plan): readonly [string, string] {
  return [
    `${program}-${config}-${commitName(since - 1)}-%`,
    `${program}-${config}-${commitName(Math.min(since, plan.commits - 1))}-%`,
  ];
}
