/** The short form of `npm run torture -- --faults`: one file call fails, of verbs, datasets and daemons, the same ones each time. */
import { beforeAll, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { buildSdk } from '../support/processes.js';
import { buildSimulator } from './build.mjs';
import { FAULT_KINDS, FaultCampaign, type FaultOutcome, faultKind } from './faults.mjs';

// Each kind comes several times; those of several processes once or twice.
limitOfFile(5 * PROCESSES_MS);

/** The part `faults` of test-long.mjs makes these and hundreds more. */
const RUNS = 60;
const SEED = 1;

let simulator = '';
beforeAll(() => {
  buildSdk();
  simulator = buildSimulator();
});

it('loses nothing, leaves no partial file and always says why by a code', async () => {
  const campaign = new FaultCampaign(simulator);
  const outcomes: FaultOutcome[] = [];
  try {
    for (let i = 0; i < RUNS; i++) outcomes.push(await campaign.run(faultKind(i), SEED + i));
  } finally {
    await campaign.close();
  }
  const wrong = outcomes
    .filter(({ problems }) => problems.length > 0)
    .map(
      ({ kind, seed, fault, nth, problems, output }) =>
        `npm run torture -- --faults --runs 1 --only ${kind} --seed ${seed}\n${fault} at call ${nth}: ${problems.join('\n')}\n${output}`,
    );
  expect(wrong).toEqual([]);
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(FAULT_KINDS));
  expect(outcomes.filter(({ hit }) => hit !== '').length).toBeGreaterThan(RUNS / 2);
});
