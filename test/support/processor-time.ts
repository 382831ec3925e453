/**
 * Processor time of each test file with all programs that it ran and waited for; a setup file of vitest. Writes lines of JSON,
 * {"file", "computed"}, to the file that the environment variable USCOPE_FILE_TIMES names: scripts/skipped.mjs prints the largest.
 */
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { childrenSeconds } from '../../scripts/processor-time.mjs';

/** Files without isolation share a process, which goes on counting. */
const counted = globalThis as { uscopeSecondsBefore?: number };

// The first hook that is set up is the last that runs.
afterAll(() => {
  const list = process.env.USCOPE_FILE_TIMES;
  const children = childrenSeconds();
  if (!list || children === null) return;
  const { user, system } = process.cpuUsage();
  const total = children + (user + system) / 1e6;
  const file = expect.getState().testPath;
  const line = { file, computed: total - (counted.uscopeSecondsBefore ?? 0) };
  counted.uscopeSecondsBefore = total;
  appendFileSync(list, `${JSON.stringify(line)}\n`);
});
