/** The short form of `npm run viewer:bench`: the same measurements on a short trace, without the times that only a quiet machine has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openServedTrace } from '../../sdk/src/cli/view/server/served-trace.js';
import type { ServedTrace } from '../../sdk/src/cli/view/server/server.js';
import { chromiumPath } from '../../test/support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { flushCycle, writeLongTrace } from '../bench/long-trace.mjs';
import { measureFirstPicture, measureLoneFlush, measureMemory } from '../bench/measurements.mjs';
import { settled } from './support/page-hook.js';
import { startViewer } from './support/viewer.js';

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

  it('says how far it is read where it has no index, and then shows what its index would', async () => {
    const plain = join(directory, 'plain.uscope');
    await writeLongTrace(plain, CYCLES, undefined, { isIndexed: false });
    const trace = await openServedTrace(plain);
    const size = await trace.size();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    /** What is near the end of the file is far away, with all that is read together with it. */
    const read: ServedTrace['read'] = async (offset, length) => {
      if (offset + length > size * 0.75 && offset < size * 0.95) await opened;
      return trace.read(offset, length);
    };
    const viewer = await startViewer({
      name: 'plain.uscope',
      size: () => trace.size(),
      version: () => trace.version(),
      read,
    });
    try {
      // The inspector would ask for the middle, too.
      const page = await viewer.open('', { layout: { isDockOpen: false } });
      await page.waitForFunction(() => window.__uscope.state()?.isSharp);
      await page.keyboard.press('f');
      await page.waitForFunction(() => (window.__uscope.state()?.progress ?? 0) > 0.2);
      const says = page.locator('.reading');
      await expect.poll(() => says.textContent()).toMatch(/^reading the trace for the overview: [2-9]\d %$/);
      await expect
        .poll(() => page.locator('.lanes-hint').first().textContent())
        .toMatch(/^reading the trace: /);
      expect(await page.evaluate(() => window.__uscope.state()!.hasOverview)).toBe(false);
      open();
      await settled(page);
      await expect.poll(() => says.count()).toBe(0);
      await expect.poll(() => page.locator('.lanes-hint').count()).toBe(0);
      const rows = await page.evaluate(() => window.__uscope.state()!.rows);
      expect(rows).toBe(await rowsOf(path));
      expect(viewer.complaints).toEqual([]);
    } finally {
      open();
      await viewer.close();
      await trace.close();
    }
  });

  /** As its own index says. */
  async function rowsOf(file: string): Promise<number> {
    const trace = await openServedTrace(file);
    const viewer = await startViewer(trace);
    try {
      const page = await viewer.open();
      await settled(page);
      return await page.evaluate(() => window.__uscope.state()!.rows);
    } finally {
      await viewer.close();
      await trace.close();
    }
  }

  it('does not grow with jumps', async () => {
    const [memory] = await measureMemory(path, 20);
    expect(memory!.value).toBeLessThan(500);
  });
});
