/** Two runs beside each other, in a real browser: what is compared equals `uscope diff --by retired`, and both pictures show the same place. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ViewServer } from '../../sdk/src/cli/view/server/server.js';
import { serveComparison } from '../../sdk/src/cli/view/server/several-server.js';
import { clear, frame, set, TraceBuilder } from '../../test/support/build-trace.js';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { elfFile } from '../../test/support/elf-file.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { modelSchema, PERIOD_PS, STAGES } from '../../test/support/pipeline-model.js';
import type { CostLine, Difference } from '../src/compare/protocol.js';
import { served } from './support/served.js';
import { chromiumPath, needBuiltPage } from './support/viewer.js';

limitOfFile(PROCESSES_MS);

interface Step {
  readonly pc: number;
  /** Cycles from the retirement before it to its own. */
  readonly cycles: number;
}

const BASE = 0x8000_0000;
const ADD = 0x0000_0033;
const SLOTS = 24;
/** Each instruction is in flight this long; nothing else of the pipeline is recorded. */
const IN_FLIGHT = 5;

/** A loop of eight instructions; the one at 0x10 is a load that sometimes takes longer. */
const program = (length: number, slow: number): Step[] =>
  Array.from({ length }, (_, at) => ({
    pc: BASE + (at % 8) * 4,
    cycles: at % 8 === 4 && at % slow === 4 ? 9 : 1,
  }));

const A = program(4000, 64);
/** The load misses twice as often; a handler of three instructions comes between, one instruction differs, and the end is missing. */
const B = [
  ...program(1000, 32),
  ...[0x100, 0x104, 0x108].map((offset) => ({ pc: BASE + offset, cycles: 2 })),
  ...program(4000, 32).slice(1000, 3990),
].map((step, at) => (at === 2500 ? { ...step, pc: BASE + 0x200 } : step));

function traceOf(
  steps: readonly Step[],
  schema = modelSchema({ slots: SLOTS }),
  dut: readonly [string, string][] = [],
): Uint8Array {
  const builder = new TraceBuilder({ schema, dut: [['cpu.isa', 'RV32I'], ...dut] });
  const items = new Map<number, ReturnType<typeof set>[]>();
  const at = (cycle: number) => items.get(cycle) ?? items.set(cycle, []).get(cycle)!;
  let cycle = IN_FLIGHT;
  for (const [index, { pc, cycles }] of steps.entries()) {
    cycle += cycles;
    const slot = index % SLOTS;
    at(cycle).unshift(clear(0, slot));
    at(cycle - IN_FLIGHT).push(set(0, slot, 0, slot), set(0, slot, 1, pc), set(0, slot, 2, ADD));
  }
  const frames = [...items].sort(([x], [y]) => x - y).map(([time, list]) => frame(time * PERIOD_PS, ...list));
  for (let first = 0; first < frames.length; first += 700) {
    const part = frames.slice(first, first + 700);
    builder.segment({
      frames: part,
      end: frames[first + 700]?.timePs ?? BigInt((cycle + 1) * PERIOD_PS),
      strings: [],
    });
  }
  return builder.finalize().bytes;
}

interface Compared {
  readonly __compare: {
    isCompared(): boolean;
    totals(): { same: number; differences: number; retiredA: number; retiredB: number };
    differences(): Difference[];
    costs(): CostLine[];
    functions(): { name: string; a: { cycles: number }; b: { cycles: number } }[] | null;
    reports(): { a: object | null; b: object | null };
    problems(): { code: string }[];
    place(): { retired: number | null; row: number | null };
  };
}

const cyclesOf = (steps: readonly Step[], pc: number): number =>
  steps.reduce((sum, step, at) => sum + (step.pc === pc && at > 0 ? step.cycles : 0), 0);

describe.skipIf(lacks('Chromium', chromiumPath))('the page of two runs', () => {
  let browser: Browser;
  const servers: ViewServer[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    needBuiltPage();
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of servers) await server.close();
  });

  async function open(a: Uint8Array, b: Uint8Array): Promise<Page> {
    const server = await serveComparison(served(a, 'one/core0.uscope'), served(b, 'two/core0.uscope'));
    servers.push(server);
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, colorScheme: 'dark' });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await openView(page, server.invite());
    return page;
  }

  const compared = (page: Page) =>
    page.waitForFunction(() => (window as unknown as Compared).__compare?.isCompared());
  /** View and selected row of each picture, when both show something. */
  const shown = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll('iframe')].map((one) => {
        const state = one.contentWindow!.__uscope.state()!;
        return { y: state.view.y, x: state.view.x, row: state.selectedRow };
      }),
    );
  const bothShown = (page: Page) =>
    page.waitForFunction(() =>
      [...document.querySelectorAll('iframe')].every((one) => one.contentWindow?.__uscope?.state()?.isSharp),
    );
  const selected = (page: Page, a: number, b: number) =>
    page.waitForFunction(
      ([rowA, rowB]) => {
        const rows = [...document.querySelectorAll('iframe')].map(
          (one) => one.contentWindow?.__uscope?.state()?.selectedRow,
        );
        return rows[0] === rowA && rows[1] === rowB;
      },
      [a, b],
    );

  it('gives a stage one colour in both pictures, where the cores have their stages in another order', async () => {
    const staged = (stages: readonly string[]): Uint8Array =>
      traceOf(A.slice(0, 100), undefined, [['cpu.pipeline_stages', stages.join(',')]]);
    const page = await open(staged(STAGES), staged(STAGES.toReversed()));
    await bothShown(page);
    const legends = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('iframe')].map((one) => one.contentWindow!.__uscope.state()!.legend),
      );
    const [a] = await legends();
    expect(a!.map(({ name }) => name)).toEqual(STAGES);
    expect(new Set(a!.map(({ colour }) => colour)).size).toBe(STAGES.length);
    await expect.poll(async () => (await legends())[1]).toEqual(a!.toReversed());
    await page.close();
  });

  it('counts, lists and charges what differs, and goes from one difference to the next', async () => {
    const page = await open(traceOf(A), traceOf(B));
    await compared(page);
    const { totals, differences, costs } = await page.evaluate(() => {
      const found = (window as unknown as Compared).__compare;
      return { totals: found.totals(), differences: found.differences(), costs: found.costs() };
    });
    expect(totals).toEqual({ retiredA: 4000, retiredB: 3993, same: 3989, differences: 3 });
    expect(
      differences.map(({ retiredA, retiredB, a, b, isLast }) => ({ retiredA, retiredB, a, b, isLast })),
    ).toEqual([
      { retiredA: 1000, retiredB: 1000, a: 0, b: 3, isLast: false },
      { retiredA: 2497, retiredB: 2500, a: 1, b: 1, isLast: false },
      { retiredA: 3990, retiredB: 3993, a: 10, b: 0, isLast: false },
    ]);
    expect(differences[0]!.linesB).toEqual(
      [0x100, 0x104, 0x108].map((at) => ({ pc: (BASE + at).toString(16), text: 'add zero,zero,zero' })),
    );
    const load = costs.find(({ pc }) => pc === (BASE + 0x10).toString(16))!;
    expect(load.a.cycles).toBe(cyclesOf(A, BASE + 0x10));
    expect(load.b.cycles).toBe(cyclesOf(B, BASE + 0x10));

    await bothShown(page);
    const cycles = page.getByRole('spinbutton');
    await cycles.fill('0');
    await cycles.blur();
    await page.getByRole('button', { name: 'first difference' }).click();
    // What comes after the handler, which is above it in B.
    await selected(page, 1000, 1003);
    await page.keyboard.press('F8');
    await selected(page, 2497, 2500);
    const [a, b] = await shown(page);
    expect(b!.y - a!.y).toBeCloseTo(3, 6);
    await page.keyboard.press('Shift+F8');
    await selected(page, 1000, 1003);
    // Where time is lost: the first load that misses in B only is the 37th instruction.
    await cycles.fill('8');
    await cycles.blur();
    await page.getByRole('button', { name: 'first difference' }).click();
    await selected(page, 36, 36);
    await page.keyboard.press('F8');
    await selected(page, 100, 100);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('moves the other picture with the one that the user moves, by instruction or by cycle', async () => {
    const page = await open(traceOf(A), traceOf(B));
    await compared(page);
    await bothShown(page);
    const frames = page.frames().filter((one) => one !== page.mainFrame());
    expect(await frames[0]!.title()).toContain('one/core0.uscope');
    await frames[1]!.locator('canvas.rows').click({ position: { x: 30, y: 200 } });
    await frames[1]!.evaluate(() => window.__uscope.run({ do: 'goRow', row: 3000 }));
    const isAt = (y: number) =>
      page.waitForFunction(
        (row) =>
          Math.abs(document.querySelectorAll('iframe')[0]!.contentWindow!.__uscope.state()!.view.y - row) <
          0.01,
        y,
      );
    await frames[1]!.waitForFunction(() => (window.__uscope?.state()?.view.y ?? 0) > 2900);
    const rowOfB = await frames[1]!.evaluate(() => window.__uscope.state()!.view.y);
    await isAt(rowOfB - 3);

    // Both are drawn in the same way.
    await frames[1]!.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true })),
    );
    const colours = () =>
      Promise.all(frames.map((one) => one.evaluate(() => window.__uscope.settings().colour)));
    await expect.poll(colours).toEqual(['class', 'class']);

    await page.getByLabel('aligned').selectOption('cycle');
    await page.waitForFunction(() => {
      const [a, b] = [...document.querySelectorAll('iframe')].map(
        (one) => one.contentWindow!.__uscope.state()!,
      );
      return a!.view.x === b!.view.x;
    });
    await page.close();
  });

  it('shows an overlay, only the differences, and the statistics of both', async () => {
    const page = await open(traceOf(A), traceOf(B));
    await compared(page);
    await page.getByLabel('shown').selectOption('overlay');
    const [one, other] = await page.evaluate(() =>
      [...document.querySelectorAll('iframe')].map((frame) => frame.getBoundingClientRect().toJSON()),
    );
    expect(one).toEqual(other);
    await page.getByLabel('shown').selectOption('differences');
    const row = page.locator('.differences tbody tr').nth(1);
    await expect.poll(() => row.textContent()).toContain('80000200');
    await row.click();
    await selected(page, 2497, 2500);
    await page.waitForFunction(() => (window as unknown as Compared).__compare.reports().b);
    await page.getByRole('tab', { name: 'Statistics' }).click();
    const text = await page.locator('.table').textContent();
    expect(text).toContain('retired4,0003,993');
    await page.close();
  });

  it('charges functions with the cycles of their instructions', async () => {
    const page = await open(traceOf(A), traceOf(B));
    await page.route('**/program.elf', (route) =>
      route.fulfill({
        body: Buffer.from(
          elfFile([
            { name: 'work', from: BASE, size: 0x20 },
            { name: 'handler', from: BASE + 0x100, size: 0x10 },
          ]),
        ),
      }),
    );
    await page.goto(new URL('?elf=program.elf', page.url()).href);
    await compared(page);
    const functions = await page.evaluate(() => (window as unknown as Compared).__compare.functions()!);
    const of = (name: string) => functions.find((found) => found.name === name)!;
    expect(of('handler').a.cycles).toBe(0);
    expect(of('handler').b.cycles).toBe(6);
    expect(of('work').a.cycles).toBe(A.reduce((sum, { cycles }) => sum + cycles, 0) - A[0]!.cycles);
    await page.close();
  });

  it('says what is wrong: no core, no trace', async () => {
    const schema = modelSchema({ slots: SLOTS });
    const scopes = schema.scopes.map((scope) => ({ ...scope, protocol: null }));
    const page = await open(traceOf(A), traceOf(B, { ...schema, scopes }));
    await expect.poll(() => page.locator('.problem').first().textContent()).toContain('VIEW_NO_CORE');
    await page.goto(new URL('compare.html?a=', page.url()).href);
    await expect.poll(() => page.locator('.problem').textContent()).toContain('VIEW_NO_TRACE');
    await page.close();
    complaints.length = 0;
  });
});
