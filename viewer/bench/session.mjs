// @ts-check
/** A trace served to Chromium, and what was fetched of it. */
import { spawnSync } from 'node:child_process';
import { chromium } from 'playwright-core';
import { openServedTrace } from '../../sdk/dist/cli/view/server/served-trace.js';
import { serveView } from '../../sdk/dist/cli/view/server/server.js';
import { openView } from '../../test/support/enter-view.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {{ width: number, height: number }} Size */

/**
 * @typedef {object} Session
 * @property {import('playwright-core').Browser} browser
 * @property {() => { bytes: number, reads: number }} fetched of the trace so far
 * @property {(size: Size, hash?: string) => Promise<Page>} open
 * @property {() => Promise<void>} close
 */

/** What a page without GPU is drawn with. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu'];

/** @throws Error where there is none */
export function chromiumPath() {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' });
  if (status !== 0) throw new Error('Chromium is missing: apt-get install chromium');
  return stdout.trim();
}

/** A trace served, and what was fetched of it. @param {string} path */
export async function serveCounted(path) {
  const trace = await openServedTrace(path);
  const fetched = { bytes: 0, reads: 0 };
  const server = await serveView({
    name: trace.name,
    size: () => trace.size(),
    version: () => trace.version(),
    async read(offset, length) {
      const bytes = await trace.read(offset, length);
      fetched.bytes += bytes.length;
      fetched.reads++;
      return bytes;
    },
  });
  const close = async () => {
    await server.close();
    await trace.close();
  };
  return { invite: server.invite, fetched: () => ({ ...fetched }), close };
}

/** @param {string} path @returns {Promise<Session>} */
export async function startSession(path) {
  const served = await serveCounted(path);
  const process = await chromium.launchServer({ executablePath: chromiumPath(), args: ARGUMENTS });
  const browser = await chromium.connect(process.wsEndpoint());
  return {
    browser,
    fetched: served.fetched,
    open: (viewport, hash = '') => openPage(browser, served.invite(hash), viewport),
    async close() {
      await browser.close();
      await process.close();
      await served.close();
    },
  };
}

/** @param {import('playwright-core').Browser} browser @param {string} address @param {Size} viewport */
async function openPage(browser, address, viewport) {
  const page = await browser.newPage({ viewport, colorScheme: 'dark' });
  await page.addInitScript(() => {
    const seen = { first: 0, sharp: 0 };
    Object.assign(window, { __seen: seen });
    const look = () => {
      const state = /** @type {any} */ (window).__uscope?.state();
      if (state && seen.first === 0) seen.first = performance.now();
      if (state?.isSharp) seen.sharp = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await openView(page, address);
  return page;
}

/** Milliseconds from the navigation to the first picture, and to one in which nothing is missing. @param {Page} page */
export async function firstPicture(page) {
  await page.waitForFunction(() => /** @type {any} */ (window).__seen.sharp > 0, null, { timeout: 120_000 });
  return /** @type {Promise<{ first: number, sharp: number }>} */ (
    page.evaluate(() => /** @type {any} */ (window).__seen)
  );
}

/**
 * Milliseconds until all of it is drawn, nothing of it preliminary.
 * @param {Page} page
 * @param {object} command
 * @returns {Promise<number>} infinity: not within a minute
 */
export const show = (page, command) => page.evaluate(shownAfter, command);

/**
 * Runs in the page.
 * @param {object} command
 * @returns {Promise<number>}
 */
export function shownAfter(command) {
  return new Promise((resolve) => {
    const hook = /** @type {any} */ (window).__uscope;
    const before = hook.state().frame;
    const started = performance.now();
    hook.run(command);
    const look = () => {
      const { frame, isSharp, isCounted, form } = hook.state();
      const passed = performance.now() - started;
      if (frame > before && isSharp && (form !== 'strip' || isCounted)) resolve(passed);
      else if (passed > 60_000) resolve(Number.POSITIVE_INFINITY);
      else setTimeout(look, 2);
    };
    look();
  });
}
