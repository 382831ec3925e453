/** The demo, traced while the page shows it: at its end, or when it is killed, the page shows what a page of the final file shows. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openServedTrace } from '../../sdk/src/view/served-trace.js';
import { serveView } from '../../sdk/src/view/server.js';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { TRIES_ALL } from '../../test/support/effort.js';
import { openView } from '../../test/support/enter-view.mjs';
import { BUILDS_MS, limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { BIN, childrenOf, Running, until } from '../../test/support/processes.js';
import { DEMO, FAST_BUILD, make } from '../../verilator-demo/lib/simulator.js';
import { run, settled } from './support/page-hook.js';
import { chromiumPath, needBuiltPage, ONLY_PICTURE, SIZE } from './support/viewer.js';

// The core is built with Verilator; its program runs twice.
limitOfFile(BUILDS_MS);

/** A build of this file: those of other tests are made at the same time. */
const CONFIG = 'live';
const SIMULATOR = join(DEMO, `obj_dir_${CONFIG}`, 'Vtop');
/** Rows, thin rows, and sums of all. */
const VIEWS = [
  { x: 600, y: 400, scale: 24, aspect: 20 / 24 },
  { x: 1000, y: 700, scale: 2, aspect: 20 / 24 },
  { x: 0, y: 0, scale: 0.003, aspect: 20 / 24 },
];

// Part of the long tests: it builds a simulator.
const isMissing =
  lacks('USCOPE_TEST_ALL=1 (a build of the demo)', TRIES_ALL) || lacks('Chromium', chromiumPath);

describe.skipIf(isMissing)('the demo while a page shows it', () => {
  let browser: Browser;
  let directory: string;
  const started: Running[] = [];
  beforeAll(async () => {
    needBuiltPage();
    make(`CONFIG=${CONFIG}`, ...FAST_BUILD.filter((one) => !one.startsWith('CONFIG=')));
    directory = mkdtempSync(join(tmpdir(), 'uscope-demo-live-'));
    browser = await startChromium();
  });
  afterEach(async () => {
    for (const running of started.splice(0)) {
      for (const pid of childrenOf(running.pid, 'Vtop')) process.kill(pid, 'SIGKILL');
      running.kill('SIGKILL');
      await running.ended;
    }
  });
  afterAll(async () => {
    await browser?.close();
    if (directory) rmSync(directory, { recursive: true, force: true });
  });

  /** The run with a page of its trace. The simulator is stopped while the page opens. */
  async function start(name: string) {
    const cwd = join(directory, name);
    const out = join(cwd, 'out');
    mkdirSync(out, { recursive: true });
    const schema = join(DEMO, 'schema.yaml');
    const args = [BIN, 'run', '--view', '--no-open', '--schema', schema, '--out', out, '--', SIMULATOR];
    const running = new Running(process.execPath, args, { cwd: DEMO, env: { TMPDIR: cwd } });
    started.push(running);
    const path = join(out, 'core0.uscope');
    await until('the trace', () => existsSync(path));
    const [simulator] = childrenOf(running.pid, 'Vtop');
    process.kill(simulator!, 'SIGSTOP');
    const address = /http:\S+/.exec(running.stderr)![0];
    const page = await open(address, 'traces/core0/');
    return { running, path, page, simulator: simulator! };
  }

  async function open(address: string, below?: string): Promise<Page> {
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark' });
    page.setDefaultTimeout(PROCESSES_MS);
    const layout = JSON.stringify(ONLY_PICTURE);
    await page.addInitScript((text) => localStorage.setItem('uscope.view.layout', text), layout);
    await openView(page, address, below);
    return page;
  }

  /**
   * Lets the simulator continue until the page shows something of its trace. Its whole run may take less time than the page's start. The file
   * grows before it has a segment, which is the first that a page can show.
   */
  async function untilFollowed(page: Page, path: string, simulator: number): Promise<void> {
    process.kill(simulator, 'SIGCONT');
    await until('a segment', () => readFileSync(path).includes('uSEG'));
    process.kill(simulator, 'SIGSTOP');
    await page.waitForFunction(() => window.__uscope.state()?.isFollowing);
    await page.waitForFunction(() => (window.__uscope.info()?.segmentCycles.at(-1) ?? 0) > 0);
  }

  const problems = (page: Page): Promise<string[]> =>
    page.evaluate(() => window.__uscope.problems().map(({ code }) => code));

  async function expectAsFinal(page: Page, path: string): Promise<void> {
    const trace = await openServedTrace(path);
    const server = await serveView(trace);
    try {
      const other = await open(server.invite());
      await settled(page);
      await settled(other);
      for (const one of [page, other]) {
        await one.evaluate(() => {
          for (const close of document.querySelectorAll<HTMLElement>('.message .close')) close.click();
        });
        await one.mouse.move(600, 5);
      }
      const picture = (one: Page): Promise<string> =>
        one.evaluate(() => (document.querySelector('canvas.rows') as HTMLCanvasElement).toDataURL());
      const pictures = new Set<string>();
      for (const view of VIEWS) {
        for (const one of [page, other]) await run(one, { do: 'view', view, selected: null });
        // A canvas has what its thread has drawn a moment after the thread says so.
        await expect
          .poll(async () => (await picture(page)) === (await picture(other)), {
            message: JSON.stringify(view),
          })
          .toBe(true);
        pictures.add(await picture(page));
      }
      expect(pictures.size).toBe(VIEWS.length);
      const lengths = await Promise.all(
        [page, other].map((one) => one.evaluate(() => window.__uscope.info()!.segmentCycles.length)),
      );
      expect(lengths[0]).toBe(lengths[1]);
      await other.close();
    } finally {
      await server.close();
      await trace.close();
    }
  }

  it('is followed to its end, and looks as the final file does', async () => {
    const { running, path, page, simulator } = await start('whole');
    await untilFollowed(page, path, simulator);
    process.kill(simulator, 'SIGCONT');
    await running.printed('the run has ended;');
    await page.waitForFunction(() => window.__uscope.info()?.isComplete);
    expect(await problems(page)).toEqual([]);
    expect(await page.evaluate(() => window.__uscope.info()!.segmentCycles.at(-1))).toBeGreaterThan(300_000);
    await expectAsFinal(page, path);
    await page.close();
  });

  it('that is killed is said to have crashed, and all that it had sent is shown', async () => {
    const { running, path, page, simulator } = await start('killed');
    await untilFollowed(page, path, simulator);
    process.kill(simulator, 'SIGKILL');
    await running.printed('the run has ended;');
    await page.waitForFunction(
      () => window.__uscope.problems().some(({ code }) => code === 'VIEW_CRASHED'),
      null,
      {
        timeout: BUILDS_MS,
      },
    );
    expect(await page.evaluate(() => window.__uscope.info()!.isComplete)).toBe(true);
    await expectAsFinal(page, path);
    await page.close();
  });
});
