/** A trace that is being written, in a real browser: the page follows it, stops when the user moves away, and ends where the final file is. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { type OpenTrace, openServedTrace } from '../../sdk/src/cli/view/server/served-trace.js';
import type { ServedTrace } from '../../sdk/src/cli/view/server/server.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { runModel } from '../../test/support/pipeline-model.js';
import { type LiveRun, startLiveRun } from './support/live-run.js';
import { noticed, press, run, settled, stateOf } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, openFirstAndAgain, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 3000;
const model = runModel(chooser(41), CYCLES);

const rowOf = (cycle: number): number => model.instructions.findIndex(({ birth }) => birth > cycle);
const lastCycle = (page: Page): Promise<number> =>
  page.evaluate(() => window.__uscope.info()?.segmentCycles.at(-1) ?? 0);
const untilCycle = (page: Page, cycle: number): Promise<unknown> =>
  page.waitForFunction((wanted) => (window.__uscope.info()?.segmentCycles.at(-1) ?? 0) >= wanted, cycle);
const picture = (page: Page): Promise<string> =>
  page.evaluate(() => (document.querySelector('canvas.rows') as HTMLCanvasElement).toDataURL());

describe.skipIf(lacks('Chromium', chromiumPath))('a trace that is being written', () => {
  let directory: string;
  let live: LiveRun;
  let trace: OpenTrace;
  let viewer: Viewer;
  let page: Page;

  const end = async (): Promise<void> => {
    await viewer?.close();
    await trace?.close();
    if (directory) await rm(directory, { recursive: true, force: true });
  };
  openFirstAndAgain(async () => {
    await end();
    directory = await mkdtemp(join(tmpdir(), 'uscope-live-'));
    const path = join(directory, 'core0.uscope');
    live = await startLiveRun(path, model);
    trace = await openServedTrace(path);
    viewer = await startViewer(trace);
    page = await viewer.open();
  });
  afterAll(end);

  /** What the tests before this one have written, which a second try lacks. */
  const written = async (cycles: number): Promise<void> => {
    await live.runTo(cycles);
    await untilCycle(page, cycles - 100);
    await settled(page);
  };

  it('is opened before it has anything, and shown from its first segment on', async () => {
    await expect
      .poll(() => page.textContent('.loading'))
      .toContain('nothing is recorded yet in core0.uscope');
    await live.runTo(700);
    await untilCycle(page, 600);
    expect((await settled(page)).isFollowing).toBe(true);
    expect(await page.evaluate(() => window.__uscope.problems())).toEqual([]);
  });

  it('stays in sight at its end', async () => {
    await live.runTo(1500);
    await untilCycle(page, 1400);
    const { view, isFollowing, rows } = await settled(page);
    expect(isFollowing).toBe(true);
    const end = await lastCycle(page);
    expect(view.x).toBeLessThan(end);
    expect(view.x + 1280 / view.scale).toBeGreaterThanOrEqual(end);
    const born = model.instructions.filter(({ birth }) => birth < end).length;
    expect(rows).toBe(born);
  });

  it('is not followed any more once the picture is dragged, which the page says, and one key follows again', async () => {
    await written(1500);
    await page.mouse.move(800, 300);
    await page.mouse.down();
    await noticed(page, /l follows/, () => page.mouse.move(860, 340, { steps: 2 }));
    await page.mouse.up();
    // polled here, so that a failure says what the page says instead
    await expect
      .poll(() => page.textContent('.live'), { timeout: PROCESSES_MS / 4 })
      .toBe('live, not following');
    const { view } = await settled(page);
    await live.runTo(1900);
    await untilCycle(page, 1800);
    expect((await settled(page)).view).toEqual(view);
    await press(page, 'l');
    expect((await stateOf(page)).isFollowing).toBe(true);
    await live.runTo(2300);
    await untilCycle(page, 2200);
    expect((await settled(page)).view.x).toBeGreaterThan(view.x + 300);
  });

  it('stays whole where the whole run is shown', async () => {
    await written(2300);
    await run(page, { do: 'fit' });
    const before = (await stateOf(page)).view.scale;
    await live.runTo(2700);
    await untilCycle(page, 2600);
    const { view } = await settled(page);
    expect(view.scale).toBeLessThan(before);
    expect(view.x + 1280 / view.scale).toBeGreaterThan(await lastCycle(page));
  });

  it('ends: the page says so, and shows what a page that opens the final file shows', async () => {
    await written(2700);
    if (!(await stateOf(page)).isFollowing) await press(page, 'l');
    await noticed(page, /^the run has ended$/, async () => {
      await live.runTo(CYCLES);
      await live.close();
      await page.waitForFunction(() => window.__uscope?.info()?.isComplete);
    });
    await expect.poll(() => page.locator('.live').count()).toBe(0);
    const other = await viewer.open();
    await settled(other);
    const rowsFrom = (x: number) => ({ x, y: rowOf(x + 5), scale: 24, aspect: 20 / 24 });
    for (const view of [rowsFrom(690), rowsFrom(1390), { x: 0, y: 0, scale: 0.4, aspect: 20 / 24 }]) {
      for (const one of [page, other]) {
        await one.mouse.move(600, 5);
        await run(one, { do: 'view', view, selected: null });
      }
      // A page's canvas has what its thread has drawn a moment after the thread says so.
      await expect.poll(async () => (await picture(page)) === (await picture(other))).toBe(true);
    }
    await other.close();
    expect(viewer.complaints).toEqual([]);
  });
});

describe.skipIf(lacks('Chromium', chromiumPath))('a trace that is replaced while it is written', () => {
  it('is said to be another file, and what is shown stays', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'uscope-live-'));
    const path = join(directory, 'core0.uscope');
    const live = await startLiveRun(path, model);
    await live.runTo(900);
    const trace = await openServedTrace(path);
    const viewer = await startViewer(trace);
    try {
      const page = await viewer.open();
      const { rows } = await settled(page);
      expect(rows).toBeGreaterThan(0);
      await writeFile(`${path}.new`, traceOf(runModel(chooser(5), 800)));
      await rename(`${path}.new`, path);
      await page.waitForFunction(() =>
        window.__uscope.problems().some(({ code }) => code === 'READER_CHANGED'),
      );
      expect((await stateOf(page)).rows).toBe(rows);
    } finally {
      await viewer.close();
      await trace.close();
      await live.abandon();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe.skipIf(lacks('Chromium', chromiumPath))('a trace whose writer was killed', () => {
  it('is not said to be live, until somebody writes it again', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'uscope-live-'));
    const path = join(directory, 'core0.uscope');
    const live = await startLiveRun(path, model);
    await live.runTo(900);
    const trace = await openServedTrace(path);
    let isAbandoned = true;
    const ofWriter: ServedTrace = {
      ...{ name: trace.name, isAbandoned: async () => isAbandoned },
      ...{ size: () => trace.size(), version: () => trace.version() },
      read: (offset, length) => trace.read(offset, length),
    };
    const viewer = await startViewer(ofWriter);
    try {
      const page = await viewer.open();
      await settled(page);
      await page.waitForFunction(() =>
        window.__uscope.problems().some(({ code }) => code === 'VIEW_ABANDONED'),
      );
      await expect.poll(() => page.textContent('.live')).toBe('not written any more');
      isAbandoned = false;
      await live.runTo(1500);
      await untilCycle(page, 1400);
      await expect.poll(() => page.textContent('.live')).toBe('live, following');
    } finally {
      await viewer.close();
      await trace.close();
      await live.abandon();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

// A finished trace has no end to follow.
describe.skipIf(lacks('Chromium', chromiumPath))('a finished trace', () => {
  it('is not followed', async () => {
    const viewer = await startViewer(served(traceOf(runModel(chooser(3), 600))));
    const page = await viewer.open();
    await settled(page);
    await press(page, 'l');
    expect((await stateOf(page)).isFollowing).toBe(false);
    await expect.poll(() => page.locator('.live').count()).toBe(0);
    await viewer.close();
  });
});
