/** The short form of `npm run viewer:bench`: the same measurements on a short trace, without the times that only a quiet machine has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath } from '../../test/support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { flushCycle, writeLongTrace } from '../bench/long-trace.mjs';
import { measureFirstPicture, measureLoneFlush, measureMemory } from '../bench/measurements.mjs';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 1_000_000;

describe.skipIf(lacks('Chromium', chromiumPath))('a long trace in the viewer', () => {
  let directory: string;
  let path: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-long-'));
    path = join(directory, 'long.uscope');
    await writeLongTrace(path, CYCLES);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('is on the screen after few bytes, and as a whole', async () => {
    const [picture, fetched, fitted] = await measureFirstPicture(path);
    expect(picture!.value).toBeLessThan(PROCESSES_MS);
    expect(fetched!.value).toBeLessThanOrEqual(2);
    expect(fitted!.value).toBeLessThan(PROCESSES_MS);
  });

  it('shows its one flush when all of it is fitted', async () => {
    for (const { name, value } of await measureLoneFlush(path, flushCycle(CYCLES)))
      expect(value, name).toBeGreaterThan(0);
  });

  it('does not grow with jumps', async () => {
    const [memory] = await measureMemory(path, 20);
    expect(memory!.value).toBeLessThan(500);
  });
});
