/** Questions in SQL from the page of `uscope view`: what they answer is what the trace has, and nobody else may ask. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportView } from '../../sdk/src/cli/view/export.js';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { runModel } from '../../test/support/pipeline-model.js';
import { BIN, Running } from '../../test/support/processes.js';
import { settled } from './support/page-hook.js';
import { chooser, traceOf } from './support/served.js';
import { chromiumPath, needBuiltPage } from './support/viewer.js';

// A browser and the command are started.
limitOfFile(PROCESSES_MS);

const CYCLES = 2000;

/** What a page of any origin gets from the server: its status, or that the browser lets it see nothing. */
const post = (page: Page, url: string, body: string): Promise<number | string> =>
  page.evaluate(
    ([url, body]) =>
      fetch(url!, { method: 'POST', body: body!, credentials: 'include' }).then(
        (answer) => answer.status,
        () => 'refused',
      ),
    [url, body],
  );

describe.skipIf(lacks('Chromium', chromiumPath))('SQL in the page', () => {
  const model = runModel(chooser(99), CYCLES);
  let browser: Browser;
  let directory: string;
  let running: Running;
  let context: BrowserContext;
  /** Of the page, for `context`, which was let in. */
  let url: string;

  beforeAll(async () => {
    needBuiltPage();
    directory = mkdtempSync(join(tmpdir(), 'uscope-page-sql-'));
    const path = join(directory, 'core0.uscope');
    writeFileSync(path, traceOf(model));
    running = view(path);
    browser = await startChromium();
    context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: 'dark' });
    const first = await context.newPage();
    await openView(first, await addressOf(running));
    url = first.url().split('#')[0]!;
    await first.close();
  });
  afterAll(async () => {
    await browser?.close();
    running?.kill('SIGTERM');
    await running?.ended;
    rmSync(directory, { recursive: true, force: true });
  });

  const view = (path: string, ...options: string[]): Running =>
    new Running(process.execPath, [...options, BIN, 'view', '--no-open', path], {
      cwd: directory,
      env: { TMPDIR: directory },
    });

  async function addressOf(server: Running): Promise<string> {
    await server.printed('ssh -L');
    return server.stdout.trim();
  }

  async function openPanel(address = url): Promise<Page> {
    const page = await context.newPage();
    await openView(page, address);
    await settled(page);
    await page.click('#tab-sql');
    return page;
  }

  /** Asks with Ctrl+Enter, and waits for the answer. */
  async function ask(page: Page, question: string): Promise<{ state: string; rows: string[][] }> {
    await page.fill('#sql-question', question);
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction(
      () =>
        /row/.test(document.getElementById('sql-state')?.textContent ?? '') &&
        !document.querySelector('.sql-rows[aria-busy=true]') &&
        document.querySelector<HTMLButtonElement>('#sql-cancel')?.disabled,
    );
    return {
      state: (await page.textContent('#sql-state')) ?? '',
      rows: await page.$$eval('.sql-rows tbody tr', (rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
      ),
    };
  }

  it('answers about what is on the screen, or all of the trace, and rows lead to their place', async () => {
    const page = await openPanel();
    const { view } = await settled(page);
    const [shown] = (await ask(page, 'select $from, $to, count(*), min(end_cycle) from instructions')).rows;
    const [from, to] = [Number(shown![0]), Number(shown![1])];
    expect(from).toBe(Math.max(0, Math.floor(view.x)));
    // Those that are there in one of these cycles; without an end they are in flight at the end.
    const there = model.instructions.filter(({ birth, end }) => birth < to && (end === null || end >= from));
    expect(there.length).toBeGreaterThan(5);
    expect(there.length).toBeLessThan(model.instructions.length / 2);
    expect(Number(shown![2])).toBe(there.length);
    await page.click('.sql-line input[type=checkbox]');
    expect((await ask(page, 'select count(*) from instructions')).rows).toEqual([
      [String(model.instructions.length)],
    ]);
    const late = await ask(
      page,
      'select birth_cycle, seq from instructions where birth_cycle > 1500 order by 1 limit 3',
    );
    expect(late.rows).toHaveLength(3);
    await page.click('.sql-rows tbody tr:nth-child(2) button');
    const place = Number(late.rows[1]![0]);
    await page.waitForFunction((cycle) => {
      const view = window.__uscope.state()?.view;
      return view && view.x <= cycle && view.x + 900 / view.scale > cycle;
    }, place);
    await page.close();
  });

  it('completes words, offers ready-made questions, and shows what is wrong', async () => {
    const page = await openPanel();
    await page.waitForFunction(() => document.querySelectorAll('.sql-ready option').length > 5);
    await page.fill('#sql-question', '');
    await page.type('#sql-question', 'from hot_p');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.inputValue('#sql-question')).toBe('from hot_pcs(');
    await page.type('#sql-question', '3)');
    // A letter that is typed is not a command of the picture.
    expect(await page.evaluate(() => window.__uscope.problems())).toEqual([]);
    expect((await ask(page, await page.inputValue('#sql-question'))).rows).toHaveLength(3);
    await page.selectOption('.sql-ready', 'from ipc()');
    await expect.poll(() => page.inputValue('#sql-question')).toBe('from ipc()');
    const isRefused = async (question: string, wanted: string): Promise<void> => {
      await page.fill('#sql-question', question);
      await page.click('#sql-ask');
      await page.waitForFunction(
        (text) => document.getElementById('sql-problem')?.textContent?.includes(text),
        wanted,
      );
    };
    await isRefused('select * from nowhere', 'DATASET_QUERY: Catalog Error');
    await isRefused('create table mine as select 1', 'DATASET_STATEMENT: CREATE');
    await isRefused("copy instructions to 'x.csv'", 'DATASET_STATEMENT: COPY');
    await isRefused("select * from read_text('/etc/passwd')", 'DATASET_QUERY: Permission Error');
    await isRefused('select $other', 'DATASET_QUERY: the question names the variable $other');
    await page.close();
  });

  it('cancels a question, and answers the next one', async () => {
    const page = await openPanel();
    await page.fill('#sql-question', 'select count(*) from range(1000000000) a, range(1000000000) b');
    await page.click('#sql-ask');
    await page.waitForFunction(() => document.getElementById('sql-state')?.textContent === 'asking…');
    await page.click('#sql-cancel');
    await page.waitForFunction(() =>
      /cancelled/.test(document.getElementById('sql-problem')?.textContent ?? ''),
    );
    expect((await ask(page, 'select 1')).rows).toEqual([['1']]);
    await page.close();
  });

  it('lets no other origin ask, nor a browser that was not let in', async () => {
    const sql = new URL('sql', url).href;
    const question = JSON.stringify({ sql: 'select 42', timeoutMs: 1000, shown: null, isLimited: false });
    const foreign = createServer((_, response) => response.end('<html></html>'));
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    try {
      // The browser is in: it sends the cookie to all ports of the host that know the path.
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      expect(await post(page, sql, question)).toBe('refused');
      await page.goto(url);
      expect(await post(page, sql, '{"sql": 1}')).toBe(400);
      expect(await post(page, sql, question)).toBe(200);
      await page.close();
      const other = await browser.newPage();
      expect((await other.goto(url))?.status()).toBe(403);
      expect(await post(other, sql, question)).toBe(403);
      await other.close();
    } finally {
      foreign.close();
    }
  });

  it('says how to install the engine where it is missing', async () => {
    const hook = new URL('../../test/support/without-duckdb.mjs', import.meta.url).href;
    const without = view(join(directory, 'core0.uscope'), '--import', hook);
    const page = await openPanel(await addressOf(without));
    await page.waitForSelector('#sql-problem');
    await expect
      .poll(() => page.textContent('#sql-problem'))
      .toMatch(/^DATASET_ENGINE: .*npm install @duckdb\/node-api@/);
    await page.close();
    without.kill('SIGTERM');
    await without.ended;
  });

  it('needs the command: static files say so', async () => {
    const out = join(mkdtempSync(join(directory, 'static-')), 'out');
    await exportView(out, { trace: join(directory, 'core0.uscope') });
    const { createReadStream } = await import('node:fs');
    const server = createServer((request, response) => {
      const name = request.url === '/' ? 'index.html' : (request.url ?? '').slice(1);
      const types: Record<string, string> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
      response.setHeader('content-type', types[name.split('.').at(-1)!] ?? 'application/octet-stream');
      createReadStream(join(out, name))
        .on('error', () => response.writeHead(404).end())
        .pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const page = await openPanel(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect.poll(() => page.textContent('#sql-obstacle')).toContain('uscope sql FILE');
    await page.close();
    server.close();
  });

  it('leaves no tables when it has ended', async () => {
    running.kill('SIGTERM');
    await running.ended;
    expect(readdirSync(directory).filter((name) => name.startsWith('uscope-'))).toEqual([]);
  });
});
