// @ts-check
/**
 * The kill loop: `npm run torture -- [--runs N] [--minutes N] [--seed N] [--only KIND] [--jobs N] [--load N]`. Prints a line for every run that went wrong, with the
 * seed that runs it again (`--seed N --runs 1 --only KIND`), and sums by kind at the end, also when it is interrupted. With `--minutes` it begins runs for so long. Exit
 * status 1 when anything was lost or duplicated. With `--faults` nothing is killed: one file call fails in each run (faults.mjs).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSimulator } from './build.mjs';
import { FAULT_KINDS, FaultCampaign, faultKind } from './faults.mjs';
import { startLoad } from './load.mjs';
import { longestWaitMs } from './processes.mjs';
import { SCENARIOS, tortureRun } from './scenarios.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    only: { type: 'string' },
    faults: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    /** Processes that only take time, next to the runs. */
    load: { type: 'string', default: '0' },
  },
});

const all = values.faults ? FAULT_KINDS : Object.keys(SCENARIOS);
const kinds = values.only ? values.only.split(',') : all;
for (const kind of kinds) if (!all.includes(kind)) throw new Error(`${kind} is none of ${all}`);
/** @param {number} index of a run */
const kindOf = (index) => (values.faults && !values.only ? faultKind(index) : kinds[index % kinds.length]);
if (!existsSync(fileURLToPath(new URL('../../sdk/dist/index.js', import.meta.url))))
  throw new Error('build the package first: npm run build');

const DEFAULT_RUNS = 50;
const runs = Number(values.runs ?? (values.minutes ? Number.POSITIVE_INFINITY : DEFAULT_RUNS));
const firstSeed = Number(values.seed);
const simulator = buildSimulator();
const end = performance.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
const howMany = Number.isFinite(runs) ? `${runs} runs` : `runs for ${values.minutes} minutes`;
console.log(`${howMany}, seeds from ${firstSeed}, beside a load of ${values.load}`);

/** @type {Map<string, { runs: number, failed: number, skipped: number } & Record<string, number>>} */
const sums = new Map(kinds.map((kind) => [kind, { runs: 0, failed: 0, skipped: 0 }]));
/** @type {Set<string>} */
const reasons = new Set();
let next = 0;
let failed = 0;
const PROGRESS_RUNS = 100;

/** Runs that have been made. */
const count = () => [...sums.values()].reduce((sum, { runs: made }) => sum + made, 0);

let isOver = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    isOver = true; // what runs comes to its end, and the sums say how many there were
  });

/**
 * What makes runs one after the other, and the numbers of each that are added up.
 * @typedef {{ problems: string[], output: string, skipped: string | null, numbers: Record<string, number> }} Made
 * @returns {{ run: (kind: string, seed: number) => Promise<Made>, close: () => Promise<void> }}
 */
function runner() {
  if (!values.faults)
    return {
      run: async (kind, seed) => {
        const { kills, completed, durable, ...rest } = await tortureRun(kind, seed, simulator);
        return { ...rest, numbers: { kills, completed, durable } };
      },
      close: async () => {},
    };
  const campaign = new FaultCampaign(simulator);
  return {
    run: async (kind, seed) => {
      const { fault, nth, hit, ...rest } = await campaign.run(kind, seed);
      const problems = rest.problems.map((problem) => `${fault} at call ${nth} (${hit}): ${problem}`);
      return { ...rest, problems, skipped: null, numbers: { hits: hit === '' ? 0 : 1 } };
    },
    close: () => campaign.close(),
  };
}

async function work() {
  const { run, close } = runner();
  try {
    await makeRuns(run);
  } finally {
    await close();
  }
}

/** @param {ReturnType<typeof runner>['run']} run */
async function makeRuns(run) {
  while (next < runs && performance.now() < end && !isOver) {
    const index = next++;
    const kind = kindOf(index);
    const seed = firstSeed + index;
    const outcome = await run(kind, seed);
    const sum = sums.get(kind);
    if (!sum) continue;
    sum.runs++;
    if (count() % PROGRESS_RUNS === 0) console.log(`${count()} runs, ${failed} failed`);
    if (outcome.skipped !== null) {
      sum.skipped++;
      reasons.add(`${kind}: ${outcome.skipped}`);
    }
    for (const [name, number] of Object.entries(outcome.numbers)) sum[name] = (sum[name] ?? 0) + number;
    if (outcome.problems.length > 0) {
      failed++;
      sum.failed++;
      console.log(`FAILED ${kind} --seed ${seed}: ${outcome.problems.join('; ')}\n${outcome.output}`);
    }
  }
}
const endLoad = startLoad(Number(values.load));
try {
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
} finally {
  endLoad();
}

console.table(Object.fromEntries(sums));
for (const reason of reasons) console.log(`skipped ${reason}`);
console.log(`the longest wait for a program took ${(longestWaitMs / 1000).toFixed(1)} s`);
const made = count();
console.log(failed === 0 ? `${made} runs: nothing lost, nothing twice` : `${failed} of ${made} runs failed`);
console.log(`${made - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
