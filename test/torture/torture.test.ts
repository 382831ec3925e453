/** Runs of every kind in which something is killed, or goes wrong, at a random moment; `npm run torture -- --runs N` for more. */
import { beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { buildSdk } from '../support/processes.js';
import { buildSimulator } from './build.mjs';
import { type Outcome, SCENARIOS, tortureRun } from './scenarios.mjs';

// Many runs, each of several processes, a few at a time.
limitOfFile(3 * PROCESSES_MS);

const kinds = Object.keys(SCENARIOS);
const RUNS = kinds.length;
const AT_A_TIME = 4;
/**
 * `npm run torture` and its parts of `npm run test:long` choose others by the clock. With this one the simulator that ends by itself does so
 * 136 cycles after its last flush: more cycles are complete than are known to be durable, however the machine divides its time.
 */
const seed = Number(process.env.TORTURE_SEED ?? 2);

describe('when something is killed at a random moment', () => {
  let simulator = '';
  beforeAll(() => {
    buildSdk();
    simulator = buildSimulator();
  });

  it(`nothing that was complete is lost, nothing comes twice (seeds from ${seed})`, async () => {
    const outcomes: Outcome[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < RUNS) {
        const index = next++;
        outcomes.push(await tortureRun(kinds[index % kinds.length], seed + index, simulator));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    const wrong = outcomes
      .filter(({ problems }) => problems.length > 0)
      .map(
        (run) =>
          `npm run torture -- --runs 1 --only ${run.kind} --seed ${run.seed}\n${run.problems.join('\n')}\n${run.output}`,
      );
    expect(wrong).toEqual([]);
    const sum = (of: (run: Outcome) => number): number => outcomes.reduce((total, run) => total + of(run), 0);
    expect(sum(({ kills }) => kills)).toBeGreaterThanOrEqual(11);
    expect(sum(({ durable }) => durable)).toBeGreaterThan(2500);
    expect(sum(({ completed }) => completed)).toBeGreaterThan(sum(({ durable }) => durable));
  });
});
