/** The page that `uscope stats --html` writes, opened from disk as its readers do. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REASON_COLOURS, toldApart } from '../../sdk/src/base/colours.js';
import { reportPage } from '../../sdk/src/cli/stats/html.js';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { analyzePerformance } from '../../sdk/src/semantics/cpu/analysis/analyze.js';
import { add, frame, TraceBuilder } from '../support/build-trace.js';
import { type Browser, chromiumPath, startChromium } from '../support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { event, modelSchema, runModel, STAGES } from '../support/pipeline-model.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 3000;
/** Another order than that in which they occur: only the second one stalls the second core. */
const REASONS = toldApart(['fetch_miss', 'rob_full']);

/** Two cores of a made-up pipeline: the first runs, the second only stalls. */
async function page(): Promise<string> {
  let state = 5;
  const model = runModel((below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  }, CYCLES);
  const dut = [['cpu.pipeline_stages', STAGES.join(',')]] as const;
  const builder = new TraceBuilder({ schema: modelSchema({ cores: 2 }), dut });
  const frames = model.frames.map(({ timePs, items }) =>
    frame(timePs, ...items, add(1, 0, 0, 1), event(9, 0)),
  );
  const trace = await openTrace(memorySource(builder.segment({ frames }).finalize().bytes));
  const reasons = [REASONS, REASONS];
  return reportPage(await analyzePerformance(trace), { name: 'two.uscope', dut, reasons });
}

describe.skipIf(lacks('Chromium', chromiumPath))('the report as a page', () => {
  let browser: Browser;
  let directory: string;
  let opened: Page;
  const problems: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'uscope-report-'));
    const file = join(directory, 'report.html');
    await writeFile(file, await page());
    browser = await startChromium();
    opened = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: 'light' });
    opened.on('console', (message) => problems.push(message.text()));
    opened.on('pageerror', (error) => problems.push(String(error)));
    opened.on('request', (request) => requests.push(request.url()));
    await opened.goto(pathToFileURL(file).href);
  });

  afterAll(async () => {
    await browser?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const plot = (kind: string, core: number) => opened.locator(`[data-plot=${kind}][data-core="${core}"]`);

  it('draws its plots, those far down when they come near', async () => {
    // An earlier try has come near all of them; a page that is loaded again is where it was.
    await opened.evaluate('scrollTo(0, 0)');
    await opened.reload();
    await plot('ipc', 0).locator('canvas').waitFor();
    await opened.locator('[data-plot=cores] canvas').waitFor();
    const last = plot('counters', 1);
    await expect.poll(() => last.locator('canvas').count()).toBe(0);
    await last.scrollIntoViewIfNeeded();
    await last.locator('canvas').waitFor();
  });

  it('says the values under the pointer', async () => {
    const stalls = plot('stalls', 1);
    await stalls.scrollIntoViewIfNeeded();
    await stalls.locator('.u-over').hover({ position: { x: 100, y: 20 } });
    await expect
      .poll(() => stalls.locator('.u-legend').textContent())
      .toMatch(/cycles\s*[\d,]+ – [\d,]+\s*rob_full\s*\d/);
  });

  it('shows a reason in the colour that it has in the viewer', async () => {
    const marker = plot('stalls', 1).locator('.u-marker').last();
    const colour = REASON_COLOURS[REASONS.indexOf('rob_full')]!;
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    expect(await marker.getAttribute('style')).toContain(`rgb(${red}, ${green}, ${blue})`);
  });

  it('shows another distribution when it is chosen', async () => {
    const latency = plot('latency', 0);
    await latency.scrollIntoViewIfNeeded();
    await latency.locator('select').selectOption({ label: 'execute' });
    await latency.locator('input').uncheck();
    await latency.locator('.u-over').hover({ position: { x: 20, y: 20 } });
    await expect
      .poll(() => latency.locator('.u-legend').textContent())
      .toMatch(/cycles\s*\d+\s*count\s*[\d,]+ \(/);
  });

  it('becomes dark, plots too', async () => {
    const ink = () => opened.evaluate('getComputedStyle(document.body).color');
    const light = await ink();
    await opened.locator('#theme').click();
    expect(await ink()).not.toBe(light);
    await plot('ipc', 0).locator('canvas').waitFor();
  });

  it('fits a narrow window', async () => {
    await opened.setViewportSize({ width: 420, height: 800 });
    // The plots are drawn anew a moment after the window has changed.
    await expect
      .poll(() => opened.evaluate('document.documentElement.scrollWidth'), { timeout: 60_000 })
      .toBeLessThanOrEqual(420);
  });

  it('has loaded nothing and complained of nothing', () => {
    expect([...new Set(requests)]).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});
