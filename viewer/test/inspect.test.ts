/**
 * What the page says beside the picture, in a real browser, on the made-up pipeline that keeps a record of what it did: finding, the state at a
 * cycle, statistics, and the ways to the next flush, stall and gap.
 */
import type { Page } from 'playwright-core';
import { analyzePerformance } from 'uscope/cpu';
import { memorySource, openTrace, type Trace } from 'uscope/reader';
import { find } from 'uscope/search';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { PERIOD_PS, runModel } from '../../test/support/pipeline-model.js';
import type { InspectAnswer } from '../src/data/questions/inspect.js';
import type { NearestArgs } from '../src/data/questions/nearest.js';
import type { RelationsAnswer } from '../src/data/questions/relations.js';
import type { Hits } from '../src/model/hits.js';
import { rgbOf, THEMES } from '../src/model/palette.js';
import { coloursAt, noticed, run, settled, stateOf, type } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, openFirstAndAgain, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 2500;
const choose = chooser(77);
const model = runModel(choose, CYCLES);
const MALICE = '<img src=x onerror="window.hacked=1">';
const bytes = traceOf(model, [MALICE, ...model.strings.slice(1)]);

interface Found {
  readonly status: string;
  readonly pattern: string;
  readonly current: number | null;
  readonly hits: Hits;
  readonly problem: { readonly code: string; readonly what: string } | null;
}

interface InspectHook {
  search(): Found | null;
  inspection(): InspectAnswer | null;
  ask(kind: string, args: unknown): Promise<unknown>;
}
const hook = (page: Page) => ({
  search: () => page.evaluate(() => (window.__uscope as unknown as InspectHook).search()),
  ask: <T>(kind: string, args: object) =>
    page.evaluate(([one, values]) => (window.__uscope as unknown as InspectHook).ask(one, values), [
      kind,
      args,
    ] as const) as Promise<T>,
});

describe.skipIf(lacks('Chromium', chromiumPath))('beside the picture', () => {
  let viewer: Viewer;
  let page: Page;
  let trace: Trace;

  beforeAll(async () => {
    viewer = await startViewer(served(bytes));
    trace = await openTrace(memorySource(bytes));
  });
  openFirstAndAgain(async () => {
    page = await viewer.open('#arrows=off', { layout: {} });
    await settled(page);
  });
  afterAll(() => viewer?.close());

  const field = () => page.locator('search input');
  const found = async (): Promise<Found> => {
    await page.waitForFunction(() => {
      const one = (window.__uscope as unknown as InspectHook).search();
      return one !== null && one.status !== 'searching';
    });
    return (await hook(page).search())!;
  };
  const searchFor = async (pattern: string): Promise<Found> => {
    if (!(await field().isVisible())) await page.keyboard.press('Control+f');
    await field().fill(pattern);
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      (text) => (window.__uscope as unknown as InspectHook).search()?.pattern === text,
      pattern,
    );
    return found();
  };

  describe('finding', () => {
    const patterns = [
      'INSN \\d*77$',
      'pc:0x80000100-0x80000200',
      'seq:10-40 insn',
      'retired:5-9',
      'stall:rob_full',
      'flush:mispredict pc:0x80000000-0x80000400',
      'event:stage_transition stage=execute seq:5-90',
      'no such instruction',
    ];
    it.each(patterns)('%s finds what a search of all of it finds', async (pattern) => {
      const expected = [];
      for await (const some of find(trace, pattern, { ignoreCase: true })) expected.push(...some);
      const { status, hits } = await searchFor(pattern);
      expect(status).toBe('done');
      expect(hits.count).toBe(expected.length);
      const rows = Object.values(hits.rows);
      expected.forEach((one, index) => {
        if (one.kind === 'instruction') expect(rows[index]).toBe(one.row);
        expect(Object.values(hits.cycles)[index]).toBe(Number(one.timePs! / BigInt(PERIOD_PS)));
      });
    });

    it('steps through the hits, around the end, and marks their rows', async () => {
      await run(page, { do: 'select', row: 0 });
      const { hits } = await searchFor('insn \\d*77$');
      const rows = Object.values(hits.rows) as number[];
      expect(rows.length).toBeGreaterThan(3);
      // A search in its thread may answer after the picture is drawn.
      const shows = (row: number | undefined): Promise<void> =>
        expect.poll(async () => (await settled(page)).selectedRow, { timeout: 10_000 }).toBe(row);
      await shows(rows[0]);
      for (const row of [...rows.slice(1), rows[0]]) {
        await page.keyboard.press('F3');
        await shows(row);
      }
      await page.keyboard.press('Shift+F3');
      await shows(rows.at(-1));
      await expect.poll(() => page.textContent('search .result')).toBe(`${rows.length} of ${rows.length}`);
    });

    it('shows the cycle of the hit it went to, at every zoom, until the search is closed', async () => {
      await page.mouse.move(5, 5);
      await searchFor('stall:rob_full');
      const left = await page.evaluate(() => window.__uscope.settings().gutter);
      /** Of the axis, at the beginning of the cycle of the hit. */
      const colour = async (cycle: number): Promise<string> => {
        const { view } = await settled(page);
        const x = left + Math.round((cycle - view.x) * view.scale) + 2;
        return String((await coloursAt(page, [{ x, y: 5 }]))[0]);
      };
      const accent = String(rgbOf(THEMES.dark.accent));
      for (const zoom of ['z', 'f']) {
        await page.evaluate(() => (document.activeElement as HTMLElement).blur());
        await page.keyboard.press(zoom);
        await page.keyboard.press('F3');
        const { hits, current } = await found();
        await expect.poll(() => colour(hits.cycles[current!]!)).toBe(accent);
      }
      const { hits, current } = await found();
      await field().press('Escape');
      await expect.poll(() => field().count()).toBe(0);
      await expect.poll(() => colour(hits.cycles[current!]!)).not.toBe(accent);
      await run(page, { do: 'zoomDefault' });
    });

    it('offers what a name that is not whole may become, once it has found nothing', async () => {
      expect((await searchFor('stall:rob')).hits.count).toBe(0);
      await expect.poll(() => page.locator('.completions code').allTextContents()).toEqual(['rob_full']);
      await page.keyboard.press('Tab');
      await expect.poll(() => field().inputValue()).toBe('stall:rob_full');
      await expect.poll(() => page.locator('.completions').count()).toBe(0);
      await page.keyboard.press('Escape');
      await expect.poll(() => field().count()).toBe(0);
    });

    it('completes qualifiers and reasons', async () => {
      if (!(await field().isVisible())) await page.keyboard.press('Control+f');
      await field().fill('');
      await page.keyboard.type('sta');
      // Without a completion Tab goes to the next button.
      await page.waitForSelector('.completions code');
      await page.keyboard.press('Tab');
      await expect.poll(() => field().inputValue()).toBe('stall:');
      await expect
        .poll(() => page.locator('.completions code').allTextContents())
        .toEqual(['rob_full', 'fetch_miss']);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect.poll(() => field().inputValue()).toBe('stall:rob_full');
      await page.keyboard.press('Escape');
    });

    it('says what is wrong with a pattern, with its code', async () => {
      expect(await searchFor('pc:here')).toMatchObject({
        status: 'bad',
        problem: { code: 'READER_PATTERN' },
      });
      await expect.poll(() => page.textContent('search .flush')).toContain('write pc:0x80000000');
    });

    it('is stopped by Esc, also where an expression takes for ever', async () => {
      // Each of these texts ends with a character that the expression does not take: it tries all ways to divide them.
      const endless = '^(([0-9a-f: insn]+)+)+[!]$';
      if (!(await field().isVisible())) await page.keyboard.press('Control+f');
      await field().fill(endless);
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        () => (window.__uscope as unknown as InspectHook).search()?.status === 'searching',
      );
      await page.waitForTimeout(400); // its worker is in the expression
      const took = await page.evaluate(async () => {
        const start = performance.now();
        dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        const status = () => (window.__uscope as unknown as InspectHook).search()?.status;
        while (status() === 'searching' && performance.now() - start < 60_000)
          await new Promise((resolve) => setTimeout(resolve, 5));
        return performance.now() - start;
      });
      // A few milliseconds where the machine has nothing else to do; the expression takes for ever.
      expect(took).toBeLessThan(60_000);
      expect((await hook(page).search())?.status).toBe('stopped');
      // The next search is answered, by a new worker.
      expect((await searchFor('seq:3')).hits.count).toBe(1);
      await page.keyboard.press('Escape');
    });

    it('is in the link', async () => {
      await searchFor('flush:');
      const link = await page.evaluate(() => window.__uscope.link());
      const other = await viewer.open(`#${link}`);
      await settled(other);
      await other.waitForFunction(
        () => (window.__uscope as unknown as InspectHook).search()?.status === 'done',
      );
      expect((await hook(other).search())?.hits.count).toBe((await found()).hits.count);
      await other.close();
    });
  });

  describe('the state at a cycle', () => {
    it('is what the trace holds, with what the cycle changed', async () => {
      for (let count = 0; count < 12; count++) {
        const cycle = choose(CYCLES - 2) + 1;
        const answer = await hook(page).ask<InspectAnswer>('inspect', { cycle, open: [] });
        const [from, to] = [BigInt(cycle * PERIOD_PS), BigInt((cycle + 1) * PERIOD_PS)];
        const [before, after] = [await trace.stateAt(from - 1n), await trace.stateAt(to - 1n)];
        const entities = answer.storages.find(({ name }) => name.endsWith('entities'))!;
        expect(entities.occupied).toBe(after.occupancy('core0/entities'));
        const [was, is] = [before, after].map((state) => new Set(state.storage('core0/entities').slots()));
        expect(entities.slots.filter(({ isTaken }) => isTaken).map(({ slot }) => slot)).toEqual([...is!]);
        const gone = [...was!].filter((slot) => !is!.has(slot));
        expect(entities.slots.filter(({ isCleared }) => isCleared).map(({ slot }) => slot)).toEqual(gone);
        for (const { slot, values, isTaken } of entities.slots) {
          if (!isTaken) continue;
          const [now, then] = [after, before].map((state) => state.slotField('core0/entities', slot, 'pc'));
          expect(values[1]!.text).toBe(`0x${now!.toString(16)}`);
          if (was!.has(slot) && now === then) expect(values[1]!.before).toBeNull();
          else if (was!.has(slot)) expect(values[1]!.before).toBe(`0x${then!.toString(16)}`);
        }
      }
    });

    it('follows the pointer, links to the instructions, and shows text as text', async () => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      const row = 600;
      const { birth } = model.instructions[row]!;
      await run(page, {
        do: 'view',
        view: { x: birth - 3, y: row, scale: 24, aspect: 20 / 24 },
        selected: null,
      });
      const box = (await page.locator('canvas.rows').boundingBox())!;
      const { view } = await stateOf(page);
      const gutter = await page.evaluate(
        () => JSON.parse(localStorage.getItem('uscope.view.settings') ?? '{}').gutter ?? null,
      );
      await page.mouse.move(box.x + (gutter ?? 300) + 200, box.y + 60);
      await page.waitForFunction(() => window.__uscope.state()?.hover);
      const { hover } = await settled(page);
      await page.waitForSelector(`.at-cursor[data-cycle="${hover!.cycle}"]`);
      const link = page.locator('.at-cursor .slots .link').first();
      await link.waitFor();
      const target = Number(
        (await link.getAttribute('title'))!.replace(/\D*([\d,]+).*/, '$1').replaceAll(',', ''),
      );
      await link.click();
      expect((await settled(page)).selectedRow).toBe(target);
      const one = model.instructions[target]!;
      expect(one.birth).toBeLessThanOrEqual(hover!.cycle);
      expect(one.end === null || one.end >= hover!.cycle).toBe(true);
      const malicious = model.instructions.find(({ text }) => text === model.strings[0])!;
      await run(page, { do: 'goRow', row: malicious.seq });
      await page.waitForFunction(
        (text) => document.querySelector('.dock-panel')?.textContent?.includes(text),
        MALICE,
      );
      expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
      expect(view.scale).toBe(24);
    });

    it('is that of the middle once the cycle that was pointed at is not on the screen any more', async () => {
      await page.keyboard.press('Escape');
      const box = (await page.locator('canvas.rows').boundingBox())!;
      await page.mouse.move(box.x + 600, box.y + 60);
      await page.waitForFunction(() => window.__uscope.state()?.hover);
      const pointed = (await settled(page)).hover!.cycle;
      await page.mouse.move(5, 5);
      await page.waitForFunction(() => !window.__uscope.state()?.hover);
      await page.waitForSelector(`.at-cursor[data-cycle="${pointed}"]`);
      const { view } = await run(page, { do: 'goCycle', cycle: pointed > 1200 ? 300 : 2000 });
      const gutter = await page.evaluate(() => window.__uscope.settings().gutter);
      const middle = Math.floor(view.x + (box.width - gutter) / 2 / view.scale);
      await page.waitForSelector(`.at-cursor[data-cycle="${middle}"]`);
    });
  });

  it('knows who waited for an instruction', async () => {
    for (let count = 0; count < 8; count++) {
      const one = model.instructions[choose(model.instructions.length)]!;
      const expected = model.instructions.flatMap(({ seq, dependencies }) =>
        dependencies.filter((on) => on.seq === one.seq).map(({ type, cycle }) => ({ row: seq, type, cycle })),
      );
      const answer = await hook(page).ask<RelationsAnswer>('relations', {
        row: one.seq,
        born: one.birth,
        end: one.end,
        isRetired: false,
      });
      expect(answer.consumers).toEqual(expected.sort((a, b) => a.cycle - b.cycle || a.row - b.row));
    }
  });

  describe('the next', () => {
    const retired = [
      ...new Set(model.instructions.flatMap(({ flush, end }) => (flush || end === null ? [] : [end]))),
    ].sort((a, b) => a - b);
    const stalled = [...new Set(model.stalls.map(({ cycle }) => cycle))];
    const flushed = [
      ...new Set(model.instructions.flatMap(({ flush }) => (flush ? [flush.cycle] : []))),
    ].sort((a, b) => a - b);
    const lastCycle = async (): Promise<number> => Number(trace.totalTimePs / BigInt(PERIOD_PS)) + 1;
    const runs = (cycles: readonly number[], from: number, to: number, isOthers: boolean) => {
      const wanted = new Set(cycles);
      const all: { from: number; to: number }[] = [];
      for (let cycle = from; cycle < to; cycle++) {
        if (wanted.has(cycle) === isOthers) continue;
        const last = all.at(-1);
        if (last?.to === cycle) all[all.length - 1] = { from: last.from, to: cycle + 1 };
        else all.push({ from: cycle, to: cycle + 1 });
      }
      return all;
    };

    it.each(['flush', 'stall', 'gap'] as const)(
      '%s and the one before are those of the run',
      async (what) => {
        const end = await lastCycle();
        const all =
          what === 'flush'
            ? flushed.map((cycle) => ({ from: cycle, to: cycle + 1 }))
            : runs(what === 'stall' ? stalled : retired, 0, end, what === 'gap');
        let hits = 0;
        for (let count = 0; count < 14; count++) {
          const args: NearestArgs = {
            what,
            direction: count % 2 === 0 ? 1 : -1,
            cycle: choose(CYCLES),
            longer: what === 'stall' ? 1 : 3,
          };
          const long = all.filter((one) => one.to - one.from > (what === 'flush' ? 0 : args.longer));
          const expected =
            args.direction > 0
              ? long.find(({ from }) => from > args.cycle)
              : long.filter(({ from }) => from < args.cycle).at(-1);
          const answer = await hook(page).ask('nearest', args);
          expect(answer, JSON.stringify(args)).toEqual(expected ?? null);
          if (answer) hits++;
        }
        expect(hits).toBeGreaterThan(5);
      },
    );

    it('stall longer than a number asked in the palette is gone to', async () => {
      await page.keyboard.press('Escape');
      await run(page, { do: 'first' });
      await page.keyboard.press('F1');
      await type(page, 'next stall');
      await page.keyboard.press('Enter');
      const line = page.locator('.palette-input');
      await expect.poll(() => line.inputValue()).toBe('stall 20');
      await line.fill('stall 1');
      const view = (await stateOf(page)).view;
      await noticed(page, /^stall of \d+ cycles at/, () => page.keyboard.press('Enter'));
      const first = runs(stalled, 0, CYCLES, false).find(({ from, to }) => to - from > 1 && from > view.x)!;
      expect(first.from).toBeGreaterThan(0);
    });
  });

  describe('statistics', () => {
    it('of a range and of the run are those of the command', async () => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Shift+S');
      await page.waitForSelector('.figures[data-run="known"]:not([data-range=""])');
      const key = (await page.getAttribute('.figures', 'data-range'))!;
      const [from, to] = key.split(' ').map(Number);
      const shown = await page.evaluate(() =>
        Object.fromEntries(
          [...document.querySelectorAll('.figures tbody tr')].flatMap((line) => {
            const cells = [...line.querySelectorAll('td')].map((cell) => cell.lastChild?.textContent ?? '');
            return cells.length === 3 ? [[cells[0], cells.slice(1)]] : [];
          }),
        ),
      );
      const reports = await Promise.all([
        analyzePerformance(trace, { from: from!, to: to!, unit: 'cycles', points: 0 }),
        analyzePerformance(trace, { points: 0 }),
      ]);
      const [range, whole] = reports.map(({ cores }) => cores[0]!);
      const text = (value: number) => value.toString().replace(/\B(?=(\d{3})+$)/g, ',');
      expect(shown.retired).toEqual([range, whole].map((one) => text(one!.instructions.retired!)));
      expect(shown.squashed).toEqual([range, whole].map((one) => text(one!.instructions.squashed)));
      expect(shown.fetched).toEqual([range, whole].map((one) => text(one!.instructions.fetched)));
      const ipc = shown.IPC!.map(Number);
      expect(ipc[0]).toBeCloseTo(range!.instructions.ipc!, 2);
      expect(ipc[1]).toBeCloseTo(whole!.instructions.ipc!, 2);
    });
  });

  it('says nothing in the console', async () => {
    expect(viewer.complaints).toEqual([]);
    expect(await coloursAt(page, [{ x: 1, y: 1 }])).toHaveLength(1);
  });
});
