/** `uscope/workers` in a page: Web Workers read a trace and answer what threads of Node answer. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { stateColumns } from '../../sdk/src/reader/state-columns.js';
import { analyzePerformance } from '../../sdk/src/semantics/cpu/index.js';
import { find } from '../../sdk/src/semantics/search/index.js';
import { type Browser, chromiumPath, startChromium } from '../support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { type PageServer, startPageServer } from '../support/page-server.js';
import { build, generator, record } from '../support/recorded-run.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const bytes = build(record(generator(7), 400).frames, 20);
const json = (value: unknown): string =>
  JSON.stringify(value, (_, one) =>
    typeof one === 'bigint'
      ? `${one}n`
      : ArrayBuffer.isView(one)
        ? Array.from(one as Uint32Array, String)
        : one,
  );
const IN_PAGE = `
  const { openWorkers } = await import('/resolved/sdk/dist/workers/index.js');
  const json = (value) => JSON.stringify(value, (_, one) =>
    typeof one === 'bigint' ? one + 'n' : ArrayBuffer.isView(one) ? Array.from(one, String) : one);
  const bytes = Uint8Array.from(atob('${Buffer.from(bytes).toString('base64')}'), (c) => c.charCodeAt(0));`;

describe.skipIf(!chromiumPath)('threads in a page', () => {
  let browser: Browser;
  let site: PageServer;
  let page: Page;

  beforeAll(async () => {
    site = await startPageServer();
    browser = await startChromium();
    page = await browser.newPage();
    await page.goto(site.url);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  const run = (program: string): Promise<unknown> => page.evaluate(`(async () => {${IN_PAGE}${program}})()`);

  it('answer what a reader answers', async () => {
    const trace = await openTrace(memorySource(bytes));
    const found = [];
    for await (const some of find(trace, 'flush:')) found.push(...some);
    const state = stateColumns(await trace.stateAt(90_000n));
    expect(found.length).toBeGreaterThan(3);
    expect(
      await run(`
        const pool = await openWorkers(new Blob([bytes]), { threads: 2 });
        const [state, matches, block] = await Promise.all([
          pool.request('state', { timePs: 90000n }),
          pool.request('find', { pattern: 'flush:' }),
          pool.request('block', { core: 'core0', segment: 3 }),
        ]);
        const again = await pool.request('block', { core: 'core0', segment: 3 });
        pool.close();
        return [json(state), json(matches), block.count > 0 && again === block];`),
    ).toEqual([json(state), json({ found, count: found.length }), true]);
  });

  it('analyse performance', async () => {
    const whole = await analyzePerformance(await openTrace(memorySource(bytes)));
    expect(
      await run(`
        const pool = await openWorkers(bytes.buffer, { threads: 2 });
        const report = await pool.request('performance', {});
        pool.close();
        return json(report);`),
    ).toEqual(json(whole));
  });

  it('stop what is cancelled, and tell errors with their codes', async () => {
    expect(
      await run(`
        const told = (promise) => promise.then(() => 'answered', (error) => error.code ?? error.message);
        const pool = await openWorkers(new Blob([bytes]), { threads: 1 });
        const controller = new AbortController();
        const progress = () => controller.abort(new Error('enough'));
        const cancelled = await told(pool.request('occupancy', { points: 3 }, { signal: controller.signal, progress }));
        const wrong = await told(pool.request('counters', { core: 'nobody' }));
        const next = await told(pool.request('info', null));
        pool.close();
        const noTrace = await told(openWorkers(new Blob(['no trace at all, but long enough for a header of one'.repeat(3)])));
        const { startThreadOf } = await import('/resolved/sdk/dist/workers/browser-threads.js');
        const noFile = await told(openWorkers(new Blob([bytes]), { threads: 1, start: startThreadOf('/missing.js') }));
        return [cancelled, wrong, next, noTrace, noFile];`),
    ).toEqual(['enough', 'READER_NAME', 'answered', 'FORMAT_MAGIC', 'READER_THREAD']);
  });
});
