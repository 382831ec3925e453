/**
 * A browser with the viewer on one trace, for a test file: start it once in beforeAll, open pages, close it in afterAll.
 *
 *     const viewer = await startViewer(served(traceOf(model)));
 *     const page = await viewer.open('#arrows=off');
 *     await settled(page);
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, beforeEach } from 'vitest';
import { type ServedTrace, serveView, type ViewServer } from '../../../sdk/src/cli/view/server/server.js';
import { type Browser, startChromium } from '../../../test/support/chromium.js';
import { openView } from '../../../test/support/enter-view.mjs';

export { chromiumPath } from '../../../test/support/chromium.js';

export const SIZE = { width: 1280, height: 720 };

/** No side panel and no tracks. */
export const ONLY_PICTURE = {
  isDockOpen: false,
  shown: { counters: false, occupancy: false, events: false, values: false, transactions: false },
};

export interface OpenOptions extends BrowserContextOptions {
  /** As the page remembers it; see viewer/src/model/panels.ts. By default the picture has all of the page. */
  readonly layout?: object;
}

export interface Viewer {
  readonly browser: Browser;
  readonly server: ViewServer;
  /** Errors of the pages and what they wrote to the console as such. */
  readonly complaints: string[];
  /** Every address that a page has asked for. */
  readonly requests: string[];
  /** @param hash with `#`; dark, 1280×720, the side panel closed, unless the options say something else */
  open(hash?: string, options?: OpenOptions): Promise<Page>;
  close(): Promise<void>;
}

/** Opens the page that tests share, and a new one for a test that runs again: its first try has left the page in some other state. */
export function openFirstAndAgain(open: () => Promise<void>): void {
  beforeAll(open);
  beforeEach(async ({ task }) => {
    const { retryCount = 0, repeatCount = 0 } = task.result ?? {};
    if (retryCount + repeatCount > 0) await open();
  });
}

/** @throws Error where the page is not built */
export function needBuiltPage(): void {
  if (!existsSync(fileURLToPath(new URL('../../../sdk/dist/viewer/page.js', import.meta.url))))
    throw new Error('the viewer is not built: run npm run build first');
}

export async function startViewer(trace: ServedTrace): Promise<Viewer> {
  needBuiltPage();
  const server = await serveView(trace);
  const browser = await startChromium();
  const complaints: string[] = [];
  const requests: string[] = [];
  return {
    browser,
    server,
    complaints,
    requests,
    async open(hash = '', { layout = ONLY_PICTURE, ...options } = {}) {
      const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark', ...options });
      const stored = JSON.stringify(layout);
      await page.addInitScript((text) => localStorage.setItem('uscope.view.layout', text), stored);
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('request', (request) => requests.push(request.url()));
      await openView(page, server.invite(hash));
      return page;
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
