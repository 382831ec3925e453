/** Commands to a real client from the page of a trace and from the list: what they do is in the trace, and is refused to everybody else. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { BIN, childrenOf, Running, until } from '../../test/support/processes.js';
import { linesOf, runUscope } from '../../test/support/run-cli.js';
import { buildControlModel, ViewedRun } from './support/control-model.js';
import { clickInList } from './support/page-hook.js';
import { chromiumPath, needBuiltPage } from './support/viewer.js';

// Starts daemons, simulators and a browser.
limitOfFile(PROCESSES_MS);

const REBOUND = 'rebound.example';

const statusOf = (page: Page, text: string): Promise<unknown> =>
  page.waitForFunction((wanted) => document.querySelector('footer')?.textContent?.includes(wanted), text);

async function marksOf(path: string): Promise<[string, string, string][]> {
  const found = await runUscope(['events', '--json', '--event', 'uscope/control', path]);
  expect(found.status, found.err).toBe(0);
  return linesOf(found)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).fields)
    .map(({ action, subject, text }) => [action, subject, text]);
}

describe.skipIf(lacks('Chromium', chromiumPath))('commands from the page', () => {
  let browser: Browser;
  let directory: string;
  let program: string;
  const runs: ViewedRun[] = [];
  beforeAll(async () => {
    needBuiltPage();
    directory = mkdtempSync(join(tmpdir(), 'uscope-commands-'));
    program = buildControlModel(directory);
    browser = await startChromium([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`]);
  });
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.remove();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function newPage(): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    page.setDefaultTimeout(PROCESSES_MS / 2); // less than the test has, so that what hangs is named
    return page;
  }

  async function startRun(options: readonly string[] = []) {
    const run = new ViewedRun(program, options);
    runs.push(run);
    const page = await newPage();
    await openView(page, await run.address());
    return { run, page };
  }

  it('pause, resume, mark, disable and enable do what ctl does, and are in the trace', async () => {
    const { run, page } = await startRun();
    await clickInList(page, '#link-core0');
    await statusOf(page, 'recording, ');
    await page.click('#recording');
    const done = async (action: string): Promise<void> => {
      await page.click(`#do-${action}`);
      await page.waitForFunction(
        (text) => document.querySelector('.chooser [role=status]')?.textContent === text,
        `${action}: done`,
      );
    };
    await done('pause');
    await statusOf(page, 'paused, ');
    await page.fill('[aria-label="label of the mark"]', 'seen here');
    await done('trigger');
    await done('resume');
    await statusOf(page, 'recording, ');
    expect(await page.locator('[aria-label=scope] option').allTextContents()).toEqual(['a', 'b']);
    await page.selectOption('[aria-label=scope]', 'b');
    await done('disable');
    await page.waitForFunction(() =>
      document.querySelector('.chooser')?.textContent?.includes('not recorded: b'),
    );
    await done('enable');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.chooser').count()).toBe(0);
    run.stopModel();
    await page.waitForFunction(() => window.__uscope?.info()?.isComplete);
    expect(await page.evaluate(() => window.__uscope.problems())).toEqual([]);
    expect(await marksOf(run.file('core0.uscope'))).toEqual([
      ['pause', '', ''],
      ['trigger', '', 'seen here'],
      ['resume', '', ''],
      ['disable', 'b', ''],
      ['enable', 'b', ''],
    ]);
    await page.close();
  });

  it('a flight recorder is a ring, of which a mark keeps a snapshot', async () => {
    const { run, page } = await startRun(['--ring', '64KB']);
    await page.waitForSelector('.ring path');
    // It has begun to overwrite.
    await page.waitForFunction(
      () =>
        !/overwritten0 segments/.test(
          document.querySelector('.ring')?.textContent ?? 'overwritten0 segments',
        ),
    );
    const segments = await page.locator('.ring path').count();
    expect(segments).toBeGreaterThan(1);
    await expect.poll(() => page.textContent('#runs')).not.toContain('header');
    page.once('dialog', (dialog) => void dialog.accept('keep this'));
    await clickInList(page, '#trigger-core0');
    await page.waitForFunction(() => document.getElementById('state')?.textContent === 'trigger core0: done');
    // The file is in the list, and opens.
    await clickInList(page, '[id="link-core0.trigger-1"]');
    await page.waitForFunction(() => window.__uscope?.info()?.isComplete);
    expect((await marksOf(run.file('core0.trigger-1.uscope'))).at(-1)).toEqual(['trigger', '', 'keep this']);
    await page.close();
  });

  it('a daemon that is killed is followed by another one, and the page continues', async () => {
    const { run, page } = await startRun();
    await clickInList(page, '#link-core0');
    await statusOf(page, 'recording, ');
    const [daemon] = childrenOf(run.running.pid, 'serve');
    process.kill(daemon!, 'SIGKILL');
    const before = await page.evaluate(() => window.__uscope.info()?.segmentCycles.at(-1) ?? 0);
    await page.waitForFunction(
      (cycle) => (window.__uscope.info()?.segmentCycles.at(-1) ?? 0) > cycle + 2000,
      before,
      { timeout: 60_000 },
    );
    await statusOf(page, 'recording, ');
    run.stopModel();
    await page.waitForFunction(() => window.__uscope?.info()?.isComplete);
    expect(existsSync(run.file('core0.uscope'))).toBe(true);
    await page.close();
  });

  it('with --no-token everybody may look, and nobody commands', async () => {
    const { run, page } = await startRun();
    const view = new Running(process.execPath, [BIN, 'view', '--no-open', '--no-token', 'out'], {
      cwd: run.cwd,
      env: { TMPDIR: run.cwd },
    });
    try {
      await view.printed('ssh -L');
      const other = await newPage();
      await other.goto(view.stdout.trim());
      await other.waitForSelector('#link-core0');
      await expect.poll(() => other.textContent('#runs')).toContain('recording');
      await expect.poll(() => other.locator('button').count()).toBe(0);
      await clickInList(other, '#link-core0');
      await statusOf(other, 'recording, ');
      await other.click('#recording');
      await expect.poll(() => other.textContent('.chooser')).toContain('may only look');
      await expect.poll(() => other.locator('[id^=do-]').count()).toBe(0);
      await other.click('#tab-sql');
      await expect
        .poll(() => other.textContent('#sql-obstacle'))
        .toContain('without --read-only and --no-token');
      await other.close();
    } finally {
      view.kill('SIGINT');
      await view.ended;
    }
    await page.close();
  });

  it('a page of another origin reads nothing, commands nothing, and reaches no file, though its browser was let in', async () => {
    const { run, page: own } = await startRun();
    const url = own.url();
    const foreign = createServer((_, response) => response.end('<html><body></body></html>'));
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const page = await own.context().newPage();
    try {
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      const reach = (path: string, init: RequestInit = {}): Promise<string> =>
        page.evaluate(
          ([address, options]) =>
            fetch(address, options).then(
              async (answer) => (answer.type === 'opaque' ? 'opaque' : answer.text()),
              (error: Error) => error.name,
            ),
          [new URL(path, url).href, init] as const,
        );
      const blocked = 'TypeError';
      for (const path of ['', 'runs.json', 'traces/core0/trace.uscope', 'traces/core0/recording.json'])
        expect(await reach(path)).toBe(blocked);
      // Also what browsers send without asking first gets nothing back and does nothing.
      expect(await reach('traces/core0/trace.uscope', { mode: 'no-cors' })).toBe(blocked);
      const body = JSON.stringify({ action: 'pause' });
      expect(await reach('control', { method: 'POST', body, credentials: 'include' })).toBe(blocked);
      await reach('control', { method: 'POST', body, mode: 'no-cors', credentials: 'include' });
      const elements = await page.evaluate(
        (address) =>
          new Promise<string>((resolve) => {
            const script = document.createElement('script');
            script.src = `${address}page.js`;
            script.onload = () => resolve('loaded');
            script.onerror = () => resolve('refused');
            document.body.append(script);
          }),
        url,
      );
      expect(elements).toBe('refused');
      const frame = await page.evaluate((address) => {
        const made = document.createElement('iframe');
        made.src = address;
        document.body.append(made);
        return new Promise<boolean>((resolve) => {
          made.onload = () => resolve(made.contentDocument !== null);
        });
      }, url);
      expect(frame).toBe(false);
      // A name of that site that points here (DNS rebinding): for the browser it is the same origin.
      const rebound = await page.goto(new URL('runs.json', url).href.replace('127.0.0.1', REBOUND));
      expect(rebound?.status()).toBe(421);
    } finally {
      await page.close();
      foreign.closeAllConnections();
      foreign.close();
    }
    run.stopModel();
    await until('the end of the run', () => run.running.stderr.includes('the run has ended;'));
    expect(await marksOf(run.file('core0.uscope'))).toEqual([]);
  });
});
