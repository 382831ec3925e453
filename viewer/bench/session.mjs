// @ts-check
/** A trace served to Chromium, what was fetched of it, and how much memory the page has. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { openServedTrace, serveView } from '../../sdk/dist/view/index.js';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {{ width: number, height: number }} Size */

/**
 * @typedef {object} Session
 * @property {import('playwright-core').Browser} browser
 * @property {string} url
 * @property {() => { bytes: number, reads: number }} fetched of the trace so far
 * @property {(size: Size, hash?: string) => Promise<Page>} open
 * @property {() => number | null} pageBytes memory of the largest renderer process; null: this system does not say
 * @property {() => Promise<void>} close
 */

/** What a page without GPU is drawn with; memory of a page is measured after its garbage is collected. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--js-flags=--expose-gc'];

/** @throws Error where there is none */
function chromiumPath() {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' });
  if (status !== 0) throw new Error('Chromium is missing: apt-get install chromium');
  return stdout.trim();
}

/** @param {string} path @returns {Promise<Session>} */
export async function startSession(path) {
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
  const process = await chromium.launchServer({ executablePath: chromiumPath(), args: ARGUMENTS });
  const browser = await chromium.connect(process.wsEndpoint());
  const pid = process.process().pid ?? 0;
  return {
    browser,
    url: server.url,
    fetched: () => ({ ...fetched }),
    open: (viewport, hash = '') => openPage(browser, server.url + hash, viewport),
    pageBytes: () => largestRenderer(pid),
    async close() {
      await browser.close();
      await process.close();
      await server.close();
      await trace.close();
    },
  };
}

/** @param {import('playwright-core').Browser} browser @param {string} url @param {Size} viewport */
async function openPage(browser, url, viewport) {
  const page = await browser.newPage({ viewport, colorScheme: 'dark' });
  await page.addInitScript(() => {
    const seen = { first: 0, sharp: 0 };
    Object.assign(window, { __seen: seen });
    const look = () => {
      // @ts-expect-error what the page offers to tests
      const state = window.__uscope?.state();
      if (state && seen.first === 0) seen.first = performance.now();
      if (state?.isSharp) seen.sharp = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(url);
  return page;
}

/** Milliseconds from the navigation to the first picture, and to one in which nothing is missing. @param {Page} page */
export async function firstPicture(page) {
  // @ts-expect-error set above
  await page.waitForFunction(() => window.__seen.sharp > 0, null, { timeout: 120_000 });
  // @ts-expect-error set above
  return /** @type {Promise<{ first: number, sharp: number }>} */ (page.evaluate(() => window.__seen));
}

/**
 * Milliseconds until all of it is drawn, nothing of it preliminary.
 * @param {Page} page
 * @param {object} command
 * @returns {Promise<number>} infinity: not within a minute
 */
export function show(page, command) {
  return page.evaluate(
    (one) =>
      new Promise((resolve) => {
        // @ts-expect-error what the page offers to tests
        const hook = window.__uscope;
        const before = hook.state().frame;
        const started = performance.now();
        hook.run(one);
        const look = () => {
          const { frame, isSharp, isCounted, form } = hook.state();
          const passed = performance.now() - started;
          if (frame > before && isSharp && (form !== 'strip' || isCounted)) resolve(passed);
          else if (passed > 60_000) resolve(Number.POSITIVE_INFINITY);
          else setTimeout(look, 2);
        };
        look();
      }),
    command,
  );
}

/** Proportional set size: what is shared with other processes counts in part. @param {number} root */
function largestRenderer(root) {
  /** @type {number[]} */
  const sizes = [];
  for (const pid of descendants(root)) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) continue;
      const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
      sizes.push(Number(kilobytes) * 1024);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sizes.length === 0 ? null : Math.max(...sizes);
}

/** @param {number} root */
function descendants(root) {
  /** @type {Map<number, number>} */
  const parents = new Map();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      } catch {
        // It has ended meanwhile.
      }
    }
  } catch {
    return [];
  }
  const isBelow = (/** @type {number} */ pid) => {
    for (let at = parents.get(pid); at !== undefined && at > 0; at = parents.get(at))
      if (at === root) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}
