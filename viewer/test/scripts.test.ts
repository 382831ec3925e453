/** The scripts that a page fetches: three for its first picture, and others when something needs them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openView } from '../../test/support/enter-view.mjs';
import { indexedTrace } from '../../test/support/indexed-trace.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { modelSchema, PERIOD_PS, runModel } from '../../test/support/pipeline-model.js';
import { settled, type } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { chromiumPath, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const CYCLES = 600;
const FIRST = ['data.js', 'drawing.js', 'page.js'];

describe.skipIf(lacks('chromium', chromiumPath !== null))('scripts', () => {
  const model = runModel(chooser(98), CYCLES);
  let viewer: Viewer;
  afterAll(() => viewer?.close());

  const scripts = (): string[] =>
    viewer.requests
      .map((url) => new URL(url).pathname.split('/').at(-1)!)
      .filter((name) => name.endsWith('.js'))
      .sort();

  describe('of a trace with an index', () => {
    beforeAll(async () => {
      const end = BigInt((CYCLES - 1) * PERIOD_PS);
      const segments = [{ frames: model.frames, end, strings: [...model.strings] }];
      const { bytes } = await indexedTrace({ schema: modelSchema(), segments });
      viewer = await startViewer(served(bytes));
    });
    afterAll(() => viewer.close());

    it('are three, and one more for questions that may take long', async () => {
      const page = await viewer.open();
      expect((await settled(page)).rows).toBe(model.instructions.length);
      expect(scripts()).toEqual(FIRST);
      await page.keyboard.press('Control+f');
      await type(page, 'INSN');
      await page.keyboard.press('Enter');
      await page.waitForFunction(
        () =>
          (window.__uscope as unknown as { search(): { status: string } | null }).search()?.status === 'done',
      );
      expect(scripts()).toEqual([...FIRST, 'questions.js'].sort());
      expect(viewer.complaints).toEqual([]);
    });
  });

  describe('of a trace without an index', () => {
    beforeAll(async () => {
      viewer = await startViewer(served(traceOf(model)));
    });

    it('are four: one makes the index', async () => {
      const page = await viewer.open();
      expect((await settled(page)).rows).toBe(model.instructions.length);
      expect(scripts()).toEqual([...FIRST, 'index-kernel.js'].sort());
      expect(viewer.complaints).toEqual([]);
    });

    it('are named by the page where the server does not have them', async () => {
      const page = await viewer.browser.newPage();
      await page.route('**/index-kernel.js', (route) => route.abort());
      await openView(page, viewer.server.invite());
      await page.waitForSelector('.message');
      expect(await page.textContent('.message strong')).toBe('READER_OPEN');
      expect(await page.textContent('.message')).toContain('index-kernel.js');
      await page.close();
    });
  });
});
