/**
 * The viewer in a real browser, on a made-up pipeline that keeps a record of what it did (test/support/pipeline-model.ts): what is on the screen must
 * be that record. `npm run viewer:test` is the long form: more windows.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedTrace, serveView } from '../../sdk/src/cli/view/server/server.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { type ModelInstruction, runModel, STAGES } from '../../test/support/pipeline-model.js';
import type { SceneState } from '../src/drawing/protocol.js';
import { AXIS_HEIGHT, DEFAULT_SETTINGS } from '../src/drawing/settings.js';
import { ACTIONS } from '../src/input/actions.js';
import { mix, rgbOf, THEMES } from '../src/model/palette.js';
import { rowHeight, type View } from '../src/model/view.js';
import { coloursAt, press, run, settled, stateOf, type, wheel } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, SIZE, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const WINDOWS = Number(process.env.VIEWER_WINDOWS ?? 20);
const CYCLES = 4000;
const LEFT = DEFAULT_SETTINGS.gutter;
const MALICE = '<img src=x onerror="window.hacked=1"><b>bold</b>';

const choose = chooser(12345);
const model = runModel(choose, CYCLES);
const malicious = model.instructions.find(({ text }) => text === model.strings[0])!;

const traceBytes = (): Uint8Array => traceOf(model, [MALICE, ...model.strings.slice(1)]);

const end = ({ flush, end: ended, stages }: ModelInstruction): number | null => {
  if (flush) return flush.cycle;
  return ended === null ? null : Math.max(ended, (stages.at(-1)?.cycle ?? -1) + 1);
};

/** What the card must say. */
function expected(one: ModelInstruction): object {
  const behind = (index: number): number | null => one.stages[index + 1]?.cycle ?? end(one);
  return {
    row: one.seq,
    id: one.id,
    pc: `0x${one.pc.toString(16)}`,
    bits: one.bits,
    born: one.birth,
    end: one.flush ? 'squashed' : one.end === null ? 'in flight' : 'retired',
    endCycle: end(one),
    flush: one.flush && { cycle: one.flush.cycle, reason: one.flush.reason },
    stages: one.stages.map(({ name, cycle }, index) => ({
      stage: STAGES.indexOf(name),
      from: cycle,
      to: behind(index),
    })),
    dependencies: one.dependencies.map(({ seq, type, cycle }) => ({ producer: seq, type, cycle })),
    annotations:
      one.text === null || one === malicious ? expect.anything() : [{ text: one.text, cycle: one.birth }],
  };
}

interface Probe {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly what: string;
}

/** In the upper left corner of boxes, where no text is. */
function probesOf(view: View): Probe[] {
  const theme = THEMES.dark;
  const height = rowHeight(view);
  const probes: Probe[] = [];
  for (let row = Math.ceil(view.y); row < model.instructions.length; row++) {
    const y = AXIS_HEIGHT + Math.round((row - view.y) * height) + 1;
    if (y > SIZE.height - 120) break;
    const one = model.instructions[row]!;
    one.stages.forEach(({ name, cycle }, index) => {
      const to = one.stages[index + 1]?.cycle ?? end(one) ?? CYCLES;
      const x = LEFT + Math.round((cycle - view.x) * view.scale) + 1;
      if (to <= cycle || x <= LEFT + 2 || x >= SIZE.width - 2) return;
      const fill = theme.fills[STAGES.indexOf(name)]!;
      const colour = one.flush ? mix(fill, theme.background, 0.68) : fill;
      probes.push({ x, y, colour, what: `row ${row}, ${name} in cycle ${cycle}` });
    });
  }
  return probes;
}

describe.skipIf(lacks('Chromium', chromiumPath))('the viewer', () => {
  let viewer: Viewer;
  let page: Page;

  beforeAll(async () => {
    viewer = await startViewer(served(traceBytes()));
    page = await viewer.open('#arrows=off');
    await settled(page);
  });
  afterAll(() => viewer?.close());

  /** A view in which row n is the upper one and the pipeline is in sight. */
  const viewAt = (row: number, scale = 24): View => ({
    x: model.instructions[row]!.birth - 3,
    y: row,
    scale,
    aspect: 20 / 24,
  });

  it('shows the whole run: as many instructions as there were', async () => {
    const state = await settled(page);
    expect(state.rows).toBe(model.instructions.length);
    expect(await page.title()).toBe('model.uscope – µScope');
  });

  it(`says of every instruction in ${WINDOWS} windows what happened to it, and paints its boxes`, async () => {
    for (let count = 0; count < WINDOWS; count++) {
      const view = viewAt(choose(model.instructions.length - 30), [6, 12, 24, 40][choose(4)]);
      const state = await run(page, { do: 'view', view, selected: null });
      expect(state.form).toBe('classic');
      const rows = Array.from({ length: 12 }, (_, index) => Math.floor(state.view.y) + index).filter(
        (row) => row >= 0 && row < model.instructions.length,
      );
      const details = await page.evaluate(
        (list) => Promise.all(list.map((row) => window.__uscope.describe(row))),
        rows,
      );
      rows.forEach((row, index) => {
        expect(details[index]).toMatchObject(expected(model.instructions[row]!));
      });
      const probes = probesOf(state.view);
      const wrong = async (): Promise<string[]> => {
        const colours = await coloursAt(page, probes);
        return probes.flatMap(({ colour, what }, index) => {
          const [seen, wanted] = [colours[index]!, rgbOf(colour)];
          return seen.every((part, at) => Math.abs(part - wanted[at]!) <= 1)
            ? []
            : [`${what}: ${seen}, not ${wanted}`];
        });
      };
      // The page's canvas has what its thread has drawn a moment after the thread says so.
      await expect.poll(wrong).toEqual([]);
    }
  });

  describe('keys', () => {
    const start = 900;
    const birth = (row: number): number => model.instructions[row]!.birth;
    const moved = (rows: number) => ({ y: start + rows, x: birth(start + rows) - 3 });
    /** What each command changes of the view at row 900, or a check of the state after it. */
    const effects: Record<string, Partial<View> | ((state: SceneState) => void)> = {
      down: moved(3),
      up: moved(-3),
      'down-straight': { y: start + 3, x: birth(start) - 3 },
      'up-straight': { y: start - 3, x: birth(start) - 3 },
      'page-down': moved(30),
      'page-up': moved(-30),
      'page-down-straight': (state) => expect(state.view.y).toBe(start + 30),
      'page-up-straight': (state) => expect(state.view.y).toBe(start - 30),
      left: { x: birth(start) - 9 },
      right: { x: birth(start) + 3 },
      'pan-left': (state) => expect(state.view.x).toBeLessThan(birth(start) - 9),
      'pan-right': (state) => expect(state.view.x).toBeGreaterThan(birth(start) + 3),
      first: { y: 0, x: -0.5 },
      last: (state) => {
        const rows = (SIZE.height - 40 - 46 - 26 - AXIS_HEIGHT) / rowHeight(state.view);
        expect(state.view.y + rows).toBeGreaterThan(model.instructions.length - 1);
      },
      // A finished trace has no end that moves.
      follow: (state) => {
        expect(state.isFollowing).toBe(false);
        expect(state.view.x).toBeGreaterThan(birth(start) + 3);
      },
      return: (state) => expect(Math.abs(state.view.y - start)).toBeLessThan(30),
      'zoom-in': (state) => expect(state.view.scale).toBeCloseTo(24 * Math.SQRT2, 6),
      'zoom-out': (state) => expect(state.view.scale).toBeCloseTo(24 / Math.SQRT2, 6),
      'zoom-in-time': (state) => {
        expect(state.view.scale).toBeCloseTo(24 * Math.SQRT2, 6);
        expect(rowHeight(state.view)).toBeCloseTo(20, 6);
      },
      'zoom-out-time': (state) => {
        expect(state.view.scale).toBeCloseTo(24 / Math.SQRT2, 6);
        expect(rowHeight(state.view)).toBeCloseTo(20, 6);
      },
      'zoom-default': { scale: 24, aspect: 20 / 24 },
      fit: (state) => {
        expect(state.form).toBe('strip');
        expect(state.view.x).toBeLessThanOrEqual(0);
        expect(state.view.x + (SIZE.width - LEFT) / state.view.scale).toBeGreaterThan(CYCLES - 1);
      },
      next: (state) => expect(state.selectedRow).toBe(start + 6),
      previous: (state) => expect(state.selectedRow).toBe(start + 4),
      producer: (state) => {
        const known = model.instructions[start + 5]!.dependencies;
        expect(state.selectedRow).toBe(
          known.length === 0 ? start + 5 : [...known].sort((a, b) => b.cycle - a.cycle)[0]!.seq,
        );
      },
      consumer: (state) => {
        const next = model.instructions.find(
          ({ seq, dependencies }) => seq > start + 5 && dependencies.some((one) => one.seq === start + 5),
        );
        expect(state.selectedRow).toBe(next?.seq ?? start + 5);
      },
    };
    const commands = ACTIONS.filter(({ command }) => command !== undefined);
    const playwrightKey = (key: string): string => key.replace(/^Shift\+\+$/, '+');

    it.each(commands.flatMap(({ id, keys }) => keys.map((key) => [key, id] as const)))(
      '%s: %s',
      async (key, id) => {
        await page.mouse.move(SIZE.width / 2, 5);
        const before = await run(page, { do: 'view', view: viewAt(start), selected: start + 5 });
        expect(before.view).toEqual(viewAt(start));
        const after = await press(page, playwrightKey(key));
        const effect = effects[id];
        if (typeof effect === 'function') effect(after);
        else {
          const wanted = { ...before.view, ...effect };
          for (const part of ['x', 'y', 'scale', 'aspect'] as const) {
            expect(after.view[part], part).toBeCloseTo(wanted[part], 6);
          }
        }
        expect(effect, `what ${id} does`).toBeDefined();
      },
    );

    it('of bookmarks bring back the view', async () => {
      const view = viewAt(500, 30);
      await run(page, { do: 'view', view, selected: null });
      await page.keyboard.press('b');
      await page.keyboard.press('3');
      await run(page, { do: 'first' });
      expect((await press(page, '3')).view).toEqual(view);
    });

    it('open the palette, which goes to a cycle and to an instruction', async () => {
      for (const [text, check] of [
        [
          'c 1500',
          (state: SceneState) =>
            expect(1500 - state.view.x).toBeCloseTo((SIZE.width - LEFT) / state.view.scale / 4, 6),
        ],
        ['j 777', (state: SceneState) => expect(state.selectedRow).toBe(777)],
      ] as const) {
        await page.keyboard.press('F1');
        await type(page, text);
        check(await press(page, 'Enter'));
      }
    });

    it('do nothing to the picture while one types', async () => {
      const before = await settled(page);
      await page.keyboard.press('F1');
      await type(page, 'fit zoom jkwasd');
      await page.keyboard.press('Escape');
      expect((await settled(page)).view).toEqual(before.view);
    });
  });

  describe('the mouse', () => {
    const at = { x: 800, y: 420 };
    const canvasTop = 86;
    const pointed = (view: View) => ({
      cycle: view.x + (at.x - LEFT) / view.scale,
      row: view.y + (at.y - canvasTop - AXIS_HEIGHT) / rowHeight(view),
    });
    const pixelsApart = (a: View, b: View): number => {
      const place = pointed(a);
      return Math.hypot(
        (place.cycle - b.x) * b.scale + LEFT - at.x,
        (place.row - b.y) * rowHeight(b) + canvasTop + AXIS_HEIGHT - at.y,
      );
    };
    const begin = async (): Promise<View> => {
      await run(page, { do: 'view', view: viewAt(900), selected: null });
      await page.mouse.move(at.x, at.y);
      return (await settled(page)).view;
    };

    it('wheel moves 3 rows along the pipeline', async () => {
      await begin();
      const { view } = await wheel(page, 100);
      expect(view.y).toBeCloseTo(903, 6);
      expect(view.x).toBeCloseTo(model.instructions[903]!.birth - 3, 6);
    });

    it('Ctrl and wheel zooms about the pointer within half a pixel, and back', async () => {
      const before = await begin();
      const zoomed = await wheel(page, -100, 'Control');
      expect(zoomed.view.scale).toBeGreaterThan(before.scale);
      expect(pixelsApart(before, zoomed.view)).toBeLessThan(0.5);
      const back = await wheel(page, 100, 'Control');
      expect(back.view.x).toBeCloseTo(before.x, 6);
      expect(back.view.y).toBeCloseTo(before.y, 6);
    });

    it('dragging takes the picture along, pixel by pixel', async () => {
      const before = await begin();
      await page.mouse.down();
      await page.mouse.move(at.x - 40, at.y - 30, { steps: 4 });
      await page.mouse.up();
      const { view } = await settled(page);
      expect((view.x - before.x) * view.scale).toBeCloseTo(40, 6);
      expect((view.y - before.y) * rowHeight(view)).toBeCloseTo(30, 6);
    });

    it('a click selects the row below it, and one on a label aligns its fetch too', async () => {
      const before = await begin();
      const row = Math.floor(pointed(before).row);
      await page.mouse.click(at.x, at.y);
      expect((await settled(page)).selectedRow).toBe(row);
      await page.waitForTimeout(600);
      await page.mouse.click(100, at.y);
      const { view, selectedRow } = await settled(page);
      expect(selectedRow).toBe(row);
      expect((model.instructions[row]!.birth - view.x) * view.scale).toBeCloseTo(8, 6);
    });
  });

  it('gives the same pixels for the same address', async () => {
    await run(page, { do: 'view', view: viewAt(1200, 17.5), selected: 1205 });
    await page.mouse.move(640, 5);
    await page.waitForFunction(() => location.hash.includes('1205'));
    await settled(page);
    const picture = (one: Page) => one.locator('main.picture').screenshot();
    const other = await viewer.open(new URL(page.url()).hash);
    await settled(other);
    expect((await stateOf(other)).view.x).toBeCloseTo((await stateOf(page)).view.x, 6);
    await expect.poll(async () => (await picture(other)).equals(await picture(page))).toBe(true);
    await other.close();
  });

  it('shows text of a trace as text, never as markup', async () => {
    await run(page, { do: 'goRow', row: malicious.seq });
    await page.keyboard.press('i');
    await page.waitForSelector('.dock-panel .card');
    await expect.poll(() => page.textContent('.dock-panel .card')).toContain(MALICE);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    await page.keyboard.press('i');
    await page.waitForSelector('.dock', { state: 'detached' });
  });

  it('asks no other server for anything, and says nothing in the console', async () => {
    await settled(page);
    expect(
      viewer.requests.filter((url) => !url.startsWith(viewer.server.url) && !url.startsWith('data:')),
    ).toEqual([]);
    expect(viewer.complaints).toEqual([]);
  });

  describe('when something is wrong', () => {
    const messageFor = async (trace: ServedTrace): Promise<{ code: string; advice: string }> => {
      const other = await serveView(trace);
      const opened = await viewer.browser.newPage();
      await openView(opened, other.invite());
      await opened.waitForSelector('.message');
      const [code, advice] = await Promise.all([
        opened.textContent('.message strong'),
        opened.textContent('.message .advice'),
      ]);
      await opened.close();
      await other.close();
      return { code: code ?? '', advice: advice ?? '' };
    };
    const bytes = traceBytes();

    it.each([
      [
        'no trace',
        served(new TextEncoder().encode('Kanata\t0004\n'.repeat(100))),
        'FORMAT_MAGIC',
        'uscope convert',
      ],
      ['a cut trace', served(bytes.subarray(0, bytes.length - 3000)), 'FORMAT_TRUNCATED', 'uscope recover'],
      [
        'a server that fails',
        { ...served(bytes), size: () => Promise.reject(new Error('disk gone')) },
        'READER_HTTP_STATUS',
        'Reload',
      ],
    ] as const)('%s: the page says so and what to do', async (_, trace, code, advice) => {
      const message = await messageFor(trace);
      expect(message.code).toBe(code);
      expect(message.advice.toLowerCase()).toContain(advice.toLowerCase());
    });
  });
});
