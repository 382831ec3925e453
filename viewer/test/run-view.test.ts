/** `uscope run --view` in a real browser: the list of the run, its trace while it is written, commands, and how it ends. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { BIN, childrenOf, Running } from '../../test/support/processes.js';
import { clickInList } from './support/page-hook.js';
import { chromiumPath, needBuiltPage } from './support/viewer.js';

// A browser, daemons and simulators are started.
limitOfFile(PROCESSES_MS);

const SIMULATOR = fileURLToPath(new URL('../../test/bridge/simulator.mjs', import.meta.url));

describe.skipIf(lacks('Chromium', chromiumPath))('uscope run --view', () => {
  let browser: Browser;
  const started: Running[] = [];
  const folders: string[] = [];
  beforeAll(async () => {
    needBuiltPage();
    browser = await startChromium();
  });
  afterEach(async () => {
    for (const running of started.splice(0)) {
      running.kill('SIGKILL');
      await running.ended;
    }
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  afterAll(() => browser?.close());

  /** @returns the command, the address it prints, and a page of that */
  async function view(...simulator: string[]) {
    const cwd = mkdtempSync(join(tmpdir(), 'uscope-run-view-'));
    folders.push(cwd);
    const args = ['run', '--view', '--no-open', '--out', 'out', '--', process.execPath, SIMULATOR];
    const running = new Running(process.execPath, [BIN, ...args, ...simulator], {
      cwd,
      env: { TMPDIR: cwd },
    });
    started.push(running);
    await running.printed('ssh -L');
    const address = /http:\S+\?code=\S+/.exec(running.stderr)![0];
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const list = await context.newPage();
    // The first answer to the list comes at once: the daemon, which makes the directory too, may not be there yet.
    const first = list.waitForResponse((response) => response.url().endsWith('/runs.json'));
    await openView(list, address);
    expect((await first).status()).toBe(200);
    await list.waitForSelector('#link-core0');
    return { cwd, running, list };
  }

  /** In another tab. */
  const openTrace = async (list: Page): Promise<Page> => {
    const page = await list.context().newPage();
    await page.goto(new URL('traces/core0/', list.url()).href);
    await page.waitForFunction(() => (window.__uscope?.info()?.segmentCycles.at(-1) ?? 0) > 0);
    return page;
  };

  it('lists the traces as they appear, says what became of a command, shows what is written, and stays when the run has ended', async () => {
    const gate = 'gate';
    const { cwd, running, list } = await view('slow', '3000', gate);
    await list.waitForFunction(() => document.body.textContent?.includes('recording'));
    const page = await openTrace(list);
    // All that is sent before the gate.
    await page.waitForFunction(() => (window.__uscope?.info()?.segmentCycles.at(-1) ?? 0) >= 2800);
    await expect.poll(() => page.textContent('.live')).toContain('live');
    list.once('dialog', (dialog) => void dialog.accept('here'));
    await clickInList(list, '#trigger-core0');
    // This simulator waits for the gate: it begins no cycle in which it could act, which is said.
    await list.waitForFunction(() =>
      document.getElementById('state')?.textContent?.includes('core0: the client has not begun a cycle'),
    );
    // Another browser is not let in.
    const other = await browser.newPage();
    expect((await other.goto(list.url()))?.status()).toBe(403);
    writeFileSync(join(cwd, gate), '');
    await page.waitForFunction(() => window.__uscope?.info()?.isComplete);
    expect(await page.evaluate(() => window.__uscope.problems())).toEqual([]);
    await list.waitForFunction(() => document.body.textContent?.includes('complete'));
    await running.printed('the run has ended; Ctrl-C ends the page');
    running.kill('SIGINT');
    const { status, stdout } = await running.ended;
    expect(status).toBe(0);
    // It belongs to the simulator.
    expect(stdout).not.toContain('http://');
    for (const one of [list, page, other]) await one.close();
  });

  it('says that the simulator was killed', async () => {
    const { running, list } = await view('hangs', '500');
    const page = await openTrace(list);
    const [simulator] = childrenOf(running.pid, 'simulator.mjs');
    process.kill(simulator!, 'SIGKILL');
    await page.waitForFunction(() => window.__uscope?.problems().some(({ code }) => code === 'VIEW_CRASHED'));
    expect(existsSync(join(folders[0]!, 'out/core0.uscope'))).toBe(true);
    for (const one of [list, page]) await one.close();
  });
});
