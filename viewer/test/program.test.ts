/** `--elf` in a real browser: functions and lines beside instructions, what they cost, and their instructions found. */

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendProgram } from '../../sdk/src/cli/view/server/program.js';
import { sendJson } from '../../sdk/src/cli/view/server/replies.js';
import { type ProgramSource, serveView, type ViewServer } from '../../sdk/src/cli/view/server/server.js';
import { serveTogether } from '../../sdk/src/cli/view/server/several-server.js';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { elfFile } from '../../test/support/elf-file.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { type Model, runModel } from '../../test/support/pipeline-model.js';
import { settled } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, needBuiltPage, openFirstAndAgain, SIZE } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const BASE = 0x8000_0000;
const HALF = 0x400;
const CYCLES = 1500;

/** The first half of the addresses is `first`, the rest `second`; a line has sixteen bytes. */
const program: ProgramSource = {
  async answer(path, request, response) {
    if (path === '/program.elf') {
      const names = [
        { name: 'first', from: BASE, size: HALF },
        { name: 'second', from: BASE + HALF, size: 0x10_0000 },
      ];
      sendProgram(response, elfFile(names, { address: BASE, size: 0x20_0000 }));
      return true;
    }
    if (path !== '/lines.json') return false;
    const pcs = new URLSearchParams(request.url!.split('?')[1]).get('pcs')!.split(',');
    const lines = pcs.map((pc) => ({ file: 'x.c', line: lineNumber(BigInt(`0x${pc}`)), text: 'x = x + 1;' }));
    sendJson(response, { tool: 'addr2line', lines });
    return true;
  },
};
const lineNumber = (pc: bigint): number => Number((pc - BigInt(BASE)) / 16n) + 1;
const functionOf = (pc: bigint): string => (pc < BigInt(BASE + HALF) ? 'first' : 'second');

interface Cost {
  count: number;
  cycles: number;
}

/** As the page should count: cycles from the retirement before. */
function costsOf({ instructions }: Model, nameOf: (pc: bigint) => string): Map<string, Cost> {
  const costs = new Map<string, Cost>();
  let last = 0;
  for (const { pc, end, flush } of instructions) {
    if (flush !== null || end === null) continue;
    const cost = costs.get(nameOf(pc)) ?? { count: 0, cycles: 0 };
    cost.count++;
    cost.cycles += Math.max(0, end - last);
    last = Math.max(last, end);
    costs.set(nameOf(pc), cost);
  }
  return costs;
}

describe.skipIf(lacks('Chromium', chromiumPath))('a trace with its program', () => {
  const model = runModel(chooser(77), CYCLES);
  let server: ViewServer;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    needBuiltPage();
    server = await serveView(served(traceOf(model)), { program });
    browser = await startChromium();
  });
  openFirstAndAgain(async () => {
    page = await browser.newPage({ viewport: SIZE });
    page.setDefaultTimeout(PROCESSES_MS);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await openView(page, server.invite('#gutter=600'));
    await settled(page);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('writes function and line beside instructions', async () => {
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('lines.json') && asked.push(request.url()));
    const picture = () =>
      page.evaluate(() => (document.querySelector('canvas.rows') as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await page.keyboard.press('PageDown');
    await page.waitForFunction(
      (old) => (document.querySelector('canvas.rows') as HTMLCanvasElement).toDataURL() !== old,
      before,
    );
    await settled(page);
    await expect.poll(() => asked.length, { timeout: 30_000 }).toBeGreaterThan(0);
  });

  it('says both of the selected instruction, with the text of the line', async () => {
    await page.evaluate(() => window.__uscope.run({ do: 'goRow', row: 5 }));
    await page.waitForSelector('.dock .card:has-text("x.c:")');
    const { pc } = (await page.evaluate(() => window.__uscope.describe(5)))!;
    const address = BigInt(pc!);
    const offset = (address - BigInt(BASE) - (functionOf(address) === 'first' ? 0n : BigInt(HALF))).toString(
      16,
    );
    const text = (await page.textContent('.dock .card'))!;
    expect(text).toContain(offset === '0' ? functionOf(address) : `${functionOf(address)}+0x${offset}`);
    expect(text).toContain(`x.c:${lineNumber(address)}`);
    expect(text).toContain('x = x + 1;');
  });

  it('shows what functions and lines cost, and finds the instructions of one', async () => {
    await page.keyboard.press('Shift+U');
    await page.waitForSelector('.profile tbody tr');
    const rows = async (): Promise<string[][]> =>
      page.evaluate(() => {
        const lines = [...document.querySelectorAll('.profile tbody tr')];
        return lines
          .filter((_, at) => at % 2 === 0)
          .map((line, at) => {
            const numbers = [...(lines[at * 2 + 1]?.querySelectorAll('.num') ?? [])].map(
              (cell) => cell.textContent,
            );
            return [
              line.querySelector('button')!.textContent,
              ...numbers.map((text) => text!.replaceAll(',', '')),
            ];
          });
      });
    const expected = [...costsOf(model, functionOf)].sort(([, a], [, b]) => b.cycles - a.cycles);
    expect((await rows()).map(([name, cycles, , count]) => [name, Number(cycles), Number(count)])).toEqual(
      expected.map(([name, { cycles, count }]) => [name, cycles, count]),
    );
    await page.click('.profile button:has-text("line")');
    const ofLines = costsOf(model, (pc) => `x.c:${lineNumber(pc)}`);
    await page.waitForFunction(() =>
      document.querySelector('.profile tbody button')?.textContent?.startsWith('x.c:'),
    );
    for (const [name, cycles] of (await rows()).slice(0, 20))
      expect(Number(cycles)).toBe(ofLines.get(name!)!.cycles);
    // Only those of one function, then its instructions.
    await page.fill('[aria-label=function]', 'second');
    await page.click('.profile button:has-text("function")');
    await page.waitForFunction(() => document.querySelectorAll('.profile tbody tr').length === 2);
    await page.click('.profile tbody button');
    const inSecond = model.instructions.filter(({ pc }) => functionOf(pc) === 'second').length;
    await page.waitForFunction(
      (count) =>
        (window.__uscope as unknown as { search(): { hits: { count: number } } | null }).search()?.hits
          .count === count,
      inSecond,
    );
    expect(complaints).toEqual([]);
  });

  it('is that of all lanes of several traces', async () => {
    const names = ['core0.uscope', 'core1.uscope', 'core2.uscope'];
    const together = await serveTogether(
      names.map((name) => served(traceOf(model), name)),
      { program },
    );
    const other = await browser.newPage({ viewport: SIZE });
    await openView(other, together.invite());
    for (const name of ['core0', 'core1', 'core2']) {
      const lane = await (await other.waitForSelector(`iframe[title="${name}"]`)).contentFrame();
      await lane!.waitForFunction(() => window.__uscope?.state()?.isSharp);
      const asked = other.waitForRequest((request) => request.url().includes('lines.json'));
      await other.getByRole('button', { name }).click();
      await lane!.waitForFunction(() => window.__uscope.settings().form === 'auto');
      await lane!.evaluate(() =>
        window.__uscope.run({ do: 'view', view: { x: 0, y: 0, scale: 20, aspect: 1 }, selected: null }),
      );
      expect((await asked).frame()).toBe(lane);
    }
    await other.close();
    await together.close();
  });
});
