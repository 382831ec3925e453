/**
 * `npm run farm`: simulates 1,000 runs of the demo with ten seeded regressions, exports them, and asks for the regressions.
 *
 *     node --import ./test/support/source-process.mjs verilator-demo/farm/main.ts [--out DIRECTORY] [--short] [--jobs N]
 *
 * Exit status: 0 at least nine of ten were found (all of the short form) with at most one false alarm, 1 otherwise, 2 wrong usage.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ask, findRegressions, makeFarm, setsOf } from './farm.js';
import { type Plan, runsOf, SHORT, WHOLE, workloadName } from './plan.js';

function options() {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string', default: 'verilator-demo/out/farm' },
        short: { type: 'boolean', default: false },
        jobs: { type: 'string', default: '2' },
      },
    });
    const jobs = Number(values.jobs);
    if (!Number.isInteger(jobs) || jobs < 1)
      throw new Error(`--jobs "${values.jobs}" is not a number of runs`);
    return { plan: values.short ? SHORT : WHOLE, out: resolve(values.out), jobs };
  } catch (error) {
    process.stderr.write(`farm: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const percent = (part: unknown): string => `${(Number(part) * 100).toFixed(2)} %`;

async function report(plan: Plan, dataset: string): Promise<boolean> {
  const { alarms, missed, falseAlarms } = await findRegressions(plan, dataset);
  for (const { workload, since, relative, regression } of alarms) {
    const seeded = regression
      ? `seeded at c0${regression.since}: ${JSON.stringify(regression.change)}`
      : 'FALSE ALARM';
    process.stdout.write(
      `  ${workload.padEnd(34)} since ${since}  ${percent(relative).padStart(9)}  ${seeded}\n`,
    );
    if (!regression) continue;
    const [before, after] = setsOf(regression, plan);
    const [stall] = await ask(dataset, `from compare_stalls('${before}', '${after}')`);
    const [place] = await ask(dataset, `from compare_pcs('${before}', '${after}', 1)`);
    const reason = stall
      ? `${stall.reason} ${Number(stall.difference).toFixed(0)} cycles a run`
      : 'no stalls';
    process.stdout.write(`      ${reason}; ${place?.address} ${place?.instruction}\n`);
  }
  for (const { program, config, since } of missed)
    process.stdout.write(`  MISSED: ${workloadName(program, config)} since c0${since}\n`);
  const found = plan.regressions.length - missed.length;
  process.stdout.write(`found ${found} of ${plan.regressions.length}, ${falseAlarms.length} false alarms\n`);
  return found >= Math.min(9, plan.regressions.length) && falseAlarms.length <= 1;
}

const { plan, out, jobs } = options();
const dataset = join(out, 'dataset');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
let started = performance.now();
const total = runsOf(plan).length;
const isTerminal = process.stderr.isTTY;
await makeFarm(
  plan,
  out,
  dataset,
  {
    onRun: (done) => {
      if (isTerminal) process.stderr.write(`\r${done} of ${total} runs`);
      if (done === total) {
        process.stderr.write(`${isTerminal ? '\r' : ''}${total} runs simulated in ${seconds(started)}\n`);
        started = performance.now();
      }
    },
  },
  jobs,
);
process.stderr.write(`exported in ${seconds(started)}: ${dataset}\n`);
if (!(await report(plan, dataset))) process.exitCode = 1;
