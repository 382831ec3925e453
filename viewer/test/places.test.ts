/**
 * Cursors, ranges, bookmarks, the link, keys, and what is handed on, in a real browser on a made-up pipeline whose record says what must be seen.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PICTURE_FORMS } from '../../sdk/src/cli/view/picture.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { PERIOD_PS, runModel } from '../../test/support/pipeline-model.js';
import { AXIS_HEIGHT, DEFAULT_SETTINGS, FORMS } from '../src/drawing/settings.js';
import { ACTIONS } from '../src/input/actions.js';
import { rgbOf, THEMES } from '../src/model/palette.js';
import type { Places } from '../src/model/places.js';
import type { View } from '../src/model/view.js';
import { coloursAt, noticed, press, run, settled, stateOf, type } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, openFirstAndAgain, SIZE, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const COMMAND = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
const CYCLES = 2400;
const LEFT = DEFAULT_SETTINGS.gutter;
/** Of the canvas, from the top of the page: bar and overview. */
const TOP = 86;
const model = runModel(chooser(77), CYCLES);
const bytes = traceOf(model);

const retiredIn = (from: number, to: number): number =>
  model.instructions.filter(({ end, flush }) => flush === null && end !== null && end >= from && end < to)
    .length;

const placesOf = (page: Page): Promise<Places> =>
  page.evaluate(() => (window.__uscope as unknown as { places(): Places }).places());
const cyclesOf = async (page: Page): Promise<number[]> =>
  (await placesOf(page)).cursors.map(({ cycle }) => cycle);
const hashOf = (page: Page): string => new URL(page.url()).hash;

/** Until the address says what is on the screen. */
async function linked(page: Page): Promise<string> {
  await page.waitForFunction(() => location.hash === `#${window.__uscope.link()}`);
  return hashOf(page);
}

/** Cycle 1000 at the left edge, with what was fetched then. */
const TOP_ROW = model.instructions.findIndex(({ birth }) => birth >= 1002);
interface Comparison {
  readonly share: number;
  readonly where: readonly number[] | null;
  readonly size: readonly number[];
}

const view: View = { x: 1000, y: TOP_ROW, scale: 24, aspect: 20 / 24 };
const xOf = (cycle: number): number => LEFT + (cycle - view.x) * view.scale;

describe.skipIf(lacks('Chromium', chromiumPath))('places in the viewer', () => {
  let viewer: Viewer;
  let page: Page;
  let directory: string;
  let file: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'uscope-places-'));
    file = join(directory, 'model.uscope');
    await writeFile(file, bytes);
    viewer = await startViewer(served(bytes));
  });
  openFirstAndAgain(async () => {
    page = await viewer.open('#arrows=off');
    await settled(page);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  });
  afterAll(async () => {
    await viewer?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const begin = async (): Promise<void> => {
    await page.mouse.move(600, 5);
    await run(page, { do: 'view', view, selected: null });
  };

  /** The cursors that the first test leaves; a page that is opened for a second try has none. */
  const withCursors = async (): Promise<void> => {
    if ((await cyclesOf(page)).length > 0) return;
    await page.evaluate(() => {
      location.hash = '#arrows=off&c=1004,1010';
    });
    await expect.poll(() => cyclesOf(page)).toEqual([1004, 1010]);
  };

  /** The panel of places, which makes the picture narrower. */
  const withPanel = async (): Promise<void> => {
    if (await page.locator('.places').isVisible()) return;
    await page.keyboard.press('Shift+L');
    await page.locator('.places').waitFor();
    await settled(page);
  };

  describe('cursors', () => {
    it('are added at the pointer and in the middle, drawn, reached, moved, removed, and all of it is undone', async () => {
      await begin();
      await page.mouse.move(xOf(1004) + 5, 400);
      await settled(page);
      await press(page, 'm');
      await page.mouse.move(xOf(1010) + 5, TOP + 10);
      await press(page, 'm');
      expect(await cyclesOf(page)).toEqual([1004, 1010]);
      await page.mouse.move(600, 5);
      await press(page, 'm');
      const middle = Math.floor(view.x + (SIZE.width - LEFT) / 2 / view.scale);
      expect(await cyclesOf(page)).toEqual([1004, 1010, middle]);

      const probe = { x: xOf(1004), y: AXIS_HEIGHT - 8 };
      await expect.poll(() => coloursAt(page, [probe])).toEqual([[...rgbOf(THEMES.dark.cursor)]]);

      await press(page, ']');
      expect((await placesOf(page)).chosen).toBe(1);
      await press(page, '[');
      expect((await placesOf(page)).chosen).toBe(3);
      await press(page, '.');
      await press(page, 'Shift+<');
      expect((await cyclesOf(page)).at(-1)).toBe(middle + 1 - 10);
      await press(page, 'Delete');
      expect(await cyclesOf(page)).toEqual([1004, 1010]);
      for (const expected of [
        [1004, 1010, middle - 9],
        [1004, 1010, middle + 1],
        [1004, 1010, middle],
        [1004, 1010],
      ]) {
        await press(page, 'Control+z');
        expect(await cyclesOf(page)).toEqual(expected);
      }
      await press(page, 'Control+Shift+Z');
      expect((await cyclesOf(page)).length).toBe(3);
      await press(page, 'Control+z');
    });

    it('follow the pointer by their flags, and one undo returns the whole drag', async () => {
      await withCursors();
      await begin();
      await page.mouse.move(xOf(1010) + 4, TOP + AXIS_HEIGHT - 12);
      await page.mouse.down();
      await page.mouse.move(xOf(1013) + 4, TOP + AXIS_HEIGHT - 12, { steps: 5 });
      await page.mouse.up();
      expect(await cyclesOf(page)).toEqual([1004, 1013]);
      expect((await settled(page)).view).toEqual(view);
      await press(page, 'Control+z');
      expect(await cyclesOf(page)).toEqual([1004, 1010]);
    });

    it('are listed with what lies between them: cycles, time, retired instructions exactly, IPC', async () => {
      await withCursors();
      await press(page, 'Shift+L');
      const row = page.locator('.differences tbody tr').nth(1);
      const count = retiredIn(1004, 1010);
      await expect.poll(() => row.locator('td').nth(4).textContent()).toBe(String(count));
      const cells = await row.locator('td').allTextContents();
      expect(cells.slice(0, 6)).toEqual([
        '2',
        '1,010',
        '6',
        `${((6 * PERIOD_PS) / 1000).toFixed(3)} ns`,
        String(count),
        (count / 6).toFixed(3),
      ]);
      // To the chosen one, both ways.
      await page.locator('.places select').selectOption('chosen');
      await page.locator('.badge.cursor').nth(1).click();
      await expect
        .poll(() => page.locator('.differences tbody tr').first().locator('td').nth(2).textContent())
        .toBe('−6');
    });

    it.each([0, 1, 255, 256, 257, 1111, 2047, 2399])(
      'know how many were retired before cycle %i',
      async (cycle) => {
        const counts = await page.evaluate(
          (one) =>
            (window.__uscope as unknown as { ask(kind: string, args: object): Promise<Float64Array> }).ask(
              'retired',
              { cycles: [one] },
            ),
          cycle,
        );
        expect(counts[0]).toBe(retiredIn(0, cycle));
      },
    );

    it('and ranges are marked in the overview and above tracks', async () => {
      await withCursors();
      await page.keyboard.press('Shift+M');
      expect((await placesOf(page)).range).toEqual({ from: 1004, to: 1011 });
      const box = (await page.locator('.overview .mark-cursor').first().boundingBox())!;
      const overview = (await page.locator('.overview').boundingBox())!;
      expect(Math.abs(box.x - overview.x - (1004 / CYCLES) * overview.width)).toBeLessThan(1.5);
      await expect.poll(() => page.locator('.overview .mark-range').count()).toBe(1);
    });
  });

  describe('a range', () => {
    it('is dragged with Shift on the axis, shown, and cleared', async () => {
      if (await page.locator('.places').isVisible()) await press(page, 'Shift+L');
      await begin();
      await page.keyboard.down('Shift');
      await page.mouse.move(xOf(1002) + 3, TOP + 6);
      await page.mouse.down();
      await page.mouse.move(xOf(1020) + 3, TOP + 6, { steps: 4 });
      await page.mouse.up();
      await page.keyboard.up('Shift');
      expect((await placesOf(page)).range).toEqual({ from: 1002, to: 1021 });
      const { view: shown } = await press(page, 'Shift+Z');
      const width = (SIZE.width - LEFT) / shown.scale;
      expect(shown.x).toBeLessThan(1002);
      expect(shown.x + width).toBeGreaterThan(1021);
      expect(width).toBeLessThan(19 * 1.2);
      await press(page, 'Shift+Delete');
      expect((await placesOf(page)).range).toBeNull();
    });
  });

  describe('bookmarks', () => {
    it('are set with keys, named, noted, and lead back', async () => {
      await begin();
      await page.keyboard.press('b');
      await page.keyboard.press('4');
      await press(page, 'Home');
      await page.keyboard.press('b');
      await page.keyboard.press('b');
      // Its name gets the focus.
      await type(page, 'the beginning');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.type('two\nlines; and \\ "quotes" <b>');
      await page.keyboard.press('Tab');
      expect((await placesOf(page)).bookmarks).toMatchObject([
        { id: '10', name: 'the beginning', note: 'two\nlines; and \\ "quotes" <b>' },
        { id: '4', name: '', view },
      ]);
      await page.locator('canvas.rows').click({ position: { x: 700, y: 300 } });
      expect((await press(page, '4')).view).toEqual(view);
      await expect.poll(() => page.locator('.overview .mark-bookmark').count()).toBe(2);
      await page.locator('button[aria-label="go to the beginning"]').click();
      expect((await settled(page)).view.y).toBe(0);
      await page.locator('button[aria-label="remove the beginning"]').click();
      expect((await placesOf(page)).bookmarks.length).toBe(1);
      await page.locator('canvas.rows').click({ position: { x: 700, y: 300 } });
      await page.keyboard.press('Control+z');
      expect((await placesOf(page)).bookmarks.length).toBe(2);
    });
  });

  describe('the address', () => {
    it('gives the same pixels again: view, panels, settings, cursors, range, bookmarks', async () => {
      await withCursors();
      await withPanel();
      await run(page, { do: 'view', view: { ...view, scale: 17.3, x: 995.7 }, selected: TOP_ROW + 5 });
      await page.keyboard.press('Shift+M');
      await page.keyboard.press('c');
      await page.mouse.move(640, 5);
      await settled(page);
      const hash = await linked(page);
      await page.waitForSelector('.notice', { state: 'detached' });
      const picture = (one: Page) => one.locator('.column:not(.splitter)').screenshot();
      const other = await viewer.open(hash, { layout: { isDockOpen: true, tab: 'inspector' } });
      await settled(other);
      await other.mouse.move(640, 5);
      expect(await placesOf(other)).toEqual(await placesOf(page));
      // Counts of retired instructions come a little later.
      const ipc = other.locator('.differences tbody tr').nth(1).locator('td').nth(5);
      await expect.poll(() => ipc.textContent()).not.toBe('');
      await expect.poll(async () => (await picture(other)).equals(await picture(page))).toBe(true);
      // Edges of the browser's own controls are not drawn alike every time.
      const whole = async (one: Page) => (await one.screenshot()).toString('base64');
      const share = async () =>
        (await comparePictures(await whole(page), 'image/png', await whole(other))).share;
      await expect.poll(share).toBeLessThan(0.0005);
      expect(hash.length).toBeLessThan(600);
      await other.close();
      await page.keyboard.press('c');
    });

    it('leads back to where one was, and forward again; cursors stay as they are', async () => {
      await begin();
      await linked(page);
      await run(page, { do: 'goRow', row: 100 });
      await linked(page);
      await page.mouse.move(xOf(1001) + 5, 400);
      await press(page, 'm');
      const count = (await cyclesOf(page)).length;
      await run(page, { do: 'goCycle', cycle: 2000 });
      await linked(page);
      const last = (await stateOf(page)).view;
      await page.goBack();
      expect((await settled(page)).selectedRow).toBe(100);
      await page.goBack();
      await expect.poll(async () => (await stateOf(page)).view).toEqual(view);
      expect((await cyclesOf(page)).length).toBe(count);
      await page.goForward();
      await page.goForward();
      await expect.poll(async () => (await stateOf(page)).view).toEqual(last);
    });

    it('is used when it is typed into the address bar', async () => {
      const there = model.instructions.findIndex(({ birth }) => birth >= 1203);
      await page.evaluate((row) => {
        location.hash = `#v=1&view=1200,${row},12,1&c=1210*,1220&range=1210-1219`;
      }, there);
      await expect.poll(() => cyclesOf(page)).toEqual([1210, 1220]);
      expect((await settled(page)).view).toMatchObject({ x: 1200, scale: 12 });
      expect((await placesOf(page)).range).toEqual({ from: 1210, to: 1220 });
      expect((await placesOf(page)).bookmarks).toEqual([]);
      await page.evaluate(() => {
        location.hash =
          '#v=1&view=x&c=,,&range=9-1&b=;;;&panels=__proto__.on&theme=%22%3E%3Cscript%3E&find=(';
      });
      await expect.poll(() => cyclesOf(page)).toEqual([]);
      expect((await settled(page)).view.x).toBe(1200);
    });
  });

  describe('without a mouse', () => {
    it('every action is in the palette with its key', async () => {
      await withPanel();
      await page.keyboard.press('F1');
      await page.locator('#palette-list [role="option"]').first().waitFor();
      const titles = await page.locator('#palette-list [role="option"] span:first-child').allTextContents();
      const wanted = ACTIONS.filter((action) => action.page !== 'palette').map(({ title }) => title);
      expect([...titles].sort()).toEqual([...wanted].sort());
      await type(page, 'whole run');
      await expect.poll(() => page.locator('#palette-list .chosen kbd').textContent()).toBe('f');
      const input = page.locator('.palette-input');
      await expect.poll(() => input.getAttribute('aria-activedescendant')).toBe('palette-fit');
      await page.keyboard.press('Enter');
      expect((await settled(page)).form).toBe('strip');
    });

    it('the palette goes to a retired instruction', async () => {
      const retired = model.instructions
        .filter(({ end, flush }) => flush === null && end !== null)
        .sort((a, b) => a.end! - b.end! || a.seq - b.seq);
      for (const number of [0, 300, retired.length - 1]) {
        await page.keyboard.press('F1');
        await type(page, `jr ${number}`);
        await page.keyboard.press('Enter');
        await expect.poll(async () => (await stateOf(page)).selectedRow).toBe(retired[number]!.seq);
      }
      await page.keyboard.press('F1');
      await type(page, `jr ${retired.length}`);
      await noticed(page, /no retired instruction/, () => page.keyboard.press('Enter'));
    });

    it('the palette takes the first that fits what is typed, also by its short name, wherever the pointer rests', async () => {
      await page.mouse.move(SIZE.width / 2, 240);
      await page.keyboard.press('F1');
      const chosen = page.locator('.palette .chosen');
      await expect.poll(() => chosen.getAttribute('id')).toBe('palette-down');
      await page.keyboard.type('fit');
      await expect.poll(() => chosen.getAttribute('id')).toBe('palette-fit');
      await page.mouse.move(SIZE.width / 2, 150);
      await page.keyboard.press('Backspace');
      await expect.poll(() => page.locator('.palette li').count()).toBeGreaterThan(1);
      await expect.poll(() => chosen.getAttribute('id')).toBe('palette-first');
      await page.mouse.move(SIZE.width / 2, 172);
      await expect.poll(() => chosen.getAttribute('id')).not.toBe('palette-first');
      await page.keyboard.press('Escape');
    });

    it('Tab reaches every control, its focus is seen, and it has a name', async () => {
      await page.locator('body').press('Escape');
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      const seen = new Set<string>();
      for (let count = 0; count < 120; count++) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate(() => {
          const at = document.activeElement as HTMLElement;
          if (at === document.body) return null;
          const { outlineStyle, outlineWidth, borderColor } = getComputedStyle(at);
          const label =
            at.getAttribute('aria-label') ?? at.closest('label')?.textContent ?? at.textContent ?? '';
          return {
            label: label.trim(),
            isSeen: outlineStyle !== 'none' && outlineWidth !== '0px',
            borderColor,
          };
        });
        if (!focus) break;
        expect(focus.label, JSON.stringify(focus)).not.toBe('');
        expect(focus.isSeen, focus.label).toBe(true);
        seen.add(focus.label);
      }
      for (const name of ['light or dark', 'keys', 'zoom in', 'width of the labels'])
        expect([...seen].join('\n')).toContain(name);
    });

    it('a dialog keeps the focus and gives it back; a key is changed in it, with what it collides with', async () => {
      await withPanel();
      await page.locator('button[aria-label="keys"]').focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role="dialog"]');
      for (let count = 0; count < 8; count++) await page.keyboard.press('Shift+Tab');
      const isInside = () => page.evaluate(() => document.activeElement?.closest('[role="dialog"]') !== null);
      expect(await isInside()).toBe(true);
      const add = page.locator('button[aria-label="add a key to: the whole run"]');
      await add.focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => add.textContent()).toContain('press a key');
      await page.keyboard.press('j');
      await expect
        .poll(() => page.locator('.conflicts').textContent())
        .toContain('select the next instruction');
      await page
        .locator(
          'button[aria-label="remove J from: select the next instruction"], button[aria-label="remove j from: select the next instruction"]',
        )
        .focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('.conflicts', { state: 'detached' });
      await page.keyboard.press('Escape');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('keys');
      await run(page, { do: 'view', view, selected: null });
      expect((await press(page, 'j')).form).toBe('strip');
      await page.keyboard.press('?');
      await page.locator('button', { hasText: 'reset all' }).click();
      await page.keyboard.press('Escape');
      await run(page, { do: 'view', view, selected: null });
      expect((await press(page, 'j')).selectedRow).not.toBeNull();
    });
  });

  describe('what is handed on', () => {
    it('rows as text are what uscope timeline prints', async () => {
      await run(page, { do: 'view', view, selected: null });
      await page.evaluate((row) => {
        location.hash = `#v=1&view=1000,${row},24,0.8&range=1003-1070`;
      }, TOP_ROW);
      await expect.poll(async () => (await placesOf(page)).range).toEqual({ from: 1003, to: 1071 });
      await noticed(page, /copied/, () => page.keyboard.press('Control+c'));
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      const args = ['timeline', file, '--cycles', '1003:1071', '--width', '120'];
      expect(copied).toBe(execFileSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8' }));
      expect(copied.split('\n').length).toBeGreaterThan(20);
    });

    it('the picture as PNG is what is on the screen', async () => {
      await page.mouse.move(600, 5);
      await settled(page);
      // What was copied before is no longer announced.
      await page.waitForFunction(() => !document.querySelector('.notice'));
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        savePicture('save the picture as PNG'),
      ]);
      expect(download.suggestedFilename()).toBe('model.png');
      const path = await download.path();
      const column = await page.locator('.column:not(.splitter)').boundingBox();
      const data = await base64Of(path);
      const difference = async () =>
        comparePictures(data, 'image/png', (await page.screenshot({ clip: column! })).toString('base64'));
      expect((await difference()).size).toEqual([Math.round(column!.width), Math.round(column!.height)]);
      // Controls of tracks are not part of it.
      await expect.poll(async () => beyond(0.004, await difference())).toBe('');
    });

    it('the picture as SVG has the same boxes, and its text as text', async () => {
      await begin();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        savePicture('save the picture as SVG'),
      ]);
      const data = await base64Of(await download.path());
      const svg = Buffer.from(data, 'base64').toString('utf8');
      const rows = (await stateOf(page)).view;
      const shown = await page.evaluate((row) => window.__uscope.describe(row), Math.ceil(rows.y) + 3);
      expect(svg).toContain(`>${shown!.text.replace('<', '&lt;')}</text>`);
      expect(svg).not.toContain('<script');
      const column = await page.locator('.column:not(.splitter)').boundingBox();
      const screen = async () => (await page.screenshot({ clip: column! })).toString('base64');
      // Text is drawn by another part of the browser: its edges differ.
      await expect
        .poll(async () => beyond(0.02, await comparePictures(data, 'image/svg+xml', await screen())))
        .toBe('');
    });

    const savePicture = async (title: string): Promise<void> => {
      await page.keyboard.press('F1');
      await type(page, title);
      await page.keyboard.press('Enter');
    };
  });

  describe('uscope view --png', () => {
    const take = (...args: string[]) =>
      spawnSync(process.execPath, [COMMAND, 'view', '--force', ...args], {
        encoding: 'utf8',
        timeout: 100_000,
      });

    it('draws cycles without a window, in the size asked for', async () => {
      const out = join(directory, 'out.png');
      const { status, stdout, stderr } = take(
        '--png',
        out,
        '--cycles',
        '1000:1024',
        '--size',
        '900x500',
        file,
      );
      expect([status, stdout, stderr]).toEqual([0, `${out}\n`, '']);
      const picture = await readFile(out);
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
      expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([900, 500]);
    });

    it('writes an SVG with the instructions of these cycles as text', async () => {
      const out = join(directory, 'out.svg');
      expect(take('--png', out, '--cycles', '1000:1024', '--theme', 'dark', file).status).toBe(0);
      const svg = await readFile(out, 'utf8');
      const pc = model.instructions[TOP_ROW + 4]!.pc.toString(16).padStart(8, '0');
      expect(svg).toContain(`>${pc}</text>`);
      expect(svg).toContain('>1,010</text>');
      expect(svg).toContain(THEMES.dark.background);
    });

    it('refuses what it does not know', () => {
      for (const wrong of [
        ['--size', '5x5'],
        ['--theme', 'blue'],
        ['--form', 'x'],
        ['--cycles', '5:'],
      ])
        expect(take('--png', 'x.png', ...wrong, file).status, wrong.join(' ')).toBe(2);
      expect(take('--cycles', '1:2', file).status).toBe(2);
    });

    it('knows the forms that the page has', () => {
      expect([...PICTURE_FORMS]).toEqual([...FORMS]);
    });
  });

  /** What is wrong with pictures of which at most that share of pixels may differ. */
  const beyond = (most: number, { share, where }: Comparison): string =>
    share < most ? '' : `${share} of the pixels differ, the first one at ${where}`;

  const base64Of = (path: string): Promise<string> => readFile(path, 'base64');

  /** Share of pixels that differ by more than a threshold (sum of three channels), where the first one is, and the size of the first picture. */
  async function comparePictures(
    data: string,
    type: string,
    screen: string,
    threshold = 96,
  ): Promise<Comparison> {
    const blank = await viewer.browser.newPage();
    const result = await blank.evaluate(
      async ([first, kind, second, most]) => {
        const pixels = async (source: string): Promise<ImageData> => {
          const image = new Image();
          image.src = source;
          await image.decode();
          const canvas = document.createElement('canvas');
          canvas.width = image.width;
          canvas.height = image.height;
          const context = canvas.getContext('2d')!;
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        };
        const a = await pixels(`data:${kind};base64,${first}`);
        const b = await pixels(`data:image/png;base64,${second}`);
        let differing = 0;
        let where: number[] | null = null;
        for (let at = 0; at < Math.min(a.data.length, b.data.length); at += 4) {
          let apart = 0;
          for (let part = 0; part < 3; part++) apart += Math.abs(a.data[at + part]! - b.data[at + part]!);
          if (apart <= most) continue;
          differing++;
          where ??= [(at / 4) % a.width, Math.floor(at / 4 / a.width)];
        }
        return { share: differing / (a.data.length / 4), where, size: [a.width, a.height] };
      },
      [data, type, screen, threshold] as const,
    );
    await blank.close();
    return result;
  }

  it('says nothing in the console', () => {
    expect(viewer.complaints).toEqual([]);
  });
});
