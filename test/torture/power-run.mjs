// @ts-check
/**
 * Power loss: `npm run torture:power -- [--segments N] [--seeds N] [--seed N] [--only KIND] [--every N] [--jobs N]`. Every operation of a
 * session and of everything else that writes files, `--seeds` mixtures of what was not synced at each, and each write torn at every 512 bytes;
 * `--jobs` states are looked at at the same time. Exit status 1 when anything promised is missing.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { powerTorture } from './power.mjs';
import { powerTree, TREE_SCENARIOS } from './power-scenarios.mjs';

const { values } = parseArgs({
  options: {
    segments: { type: 'string', default: '100' },
    seeds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    every: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '4' },
  },
});
const [segments, seeds, seed, every, jobs] = [
  values.segments,
  values.seeds,
  values.seed,
  values.every,
  values.jobs,
].map(Number);
const KINDS = ['session', ...Object.keys(TREE_SCENARIOS)];
const kinds = values.only ? values.only.split(',') : KINDS;
for (const kind of kinds) if (!KINDS.includes(kind)) throw new Error(`${kind} is none of ${KINDS}`);
if (!existsSync(fileURLToPath(new URL('../../sdk/dist/index.js', import.meta.url))))
  throw new Error('build the package first: npm run build');

const dist = (/** @type {string} */ path) =>
  import(new URL(`../../sdk/dist/${path}.js`, import.meta.url).href);
const [index, batch, recover, ring, cli] = await Promise.all(
  ['index', 'writer/records/record-batch', 'tools/recover/index', 'writer/ring/index', 'cli/main'].map(dist),
);
const library = { ...index, ...batch, ...recover, ...ring, runCli: cli.runCli };

const progress = (/** @type {string} */ text) => console.log(text);
const sums = [];
for (const kind of kinds) {
  const started = Date.now();
  const result =
    kind === 'session'
      ? await session()
      : await powerTree({ library, kind, segments, seeds, seed, every, jobs, progress });
  const { steps, crashes, distinct, problems } = result;
  for (const problem of problems) console.log(`FAILED ${problem}`);
  sums.push({
    kind,
    steps,
    crashes,
    distinct,
    problems: problems.length,
    seconds: Math.round((Date.now() - started) / 1000),
  });
}
console.table(sums);
const failed = sums.some(({ problems }) => problems > 0);
console.log(failed ? `something promised is missing, seed ${seed}` : 'nothing promised was lost');
process.exitCode = failed ? 1 : 0;

async function session() {
  const { writes, ...result } = await powerTorture({
    library,
    segments,
    random: seeds,
    seed,
    recoverEvery: every,
    jobs,
    progress,
  });
  return { ...result, steps: writes };
}
