// @ts-check
/**
 * Konata and this viewer on the same trace, in the same browser: Konata 1.1's page for browsers, which its checkout makes with
 * `make production`, opens what `uscope convert` writes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { percentile } from '../../bench/statistics.mjs';
import { SetupError } from '../../scripts/setup.mjs';
import { openView } from '../../test/support/enter-view.mjs';
import { largestRenderer } from './processes.mjs';
import { chromiumPath, serveCounted } from './session.mjs';

/** @typedef {import('../../bench/table.mjs').Row} Row */
/** @typedef {import('playwright-core').Page} Page */

/**
 * @typedef {object} Viewer
 * @property {string} name
 * @property {(page: Page) => Promise<void>} open until there is a picture in which nothing is missing
 * @property {(page: Page) => Promise<number>} rows instructions that it found
 * @property {string} canvas what the wheel is turned over
 */

/** @typedef {{ sharpMs: number, rows: number, memoryMb: number, frames: number[] }} Measured */

const USCOPE = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
const SIZE = { width: 1920, height: 1080 };
const MB = 1e6;
/** Steps of the wheel, with Ctrl, from the zoom at the start: nothing, boxes without text, and less than a pixel for a row. */
const ZOOMS = [0, 5, 12];
const FRAMES = 60;
const PATIENCE_MS = 300_000;

/** Why there is nothing to compare with; null: there is. @param {string | null} directory */
export function whyNoKonata(directory) {
  if (directory === null)
    return 'no Konata: --konata DIR names a checkout of https://github.com/shioyadan/Konata in which "npm install" and "make production" were run';
  if (existsSync(pageOf(directory))) return null;
  throw new SetupError(
    `ENV_MISSING: ${pageOf(directory)} is missing: run "npm install" and "make production" in ${directory}, a checkout of Konata 1.1 or later`,
    2,
  );
}

const pageOf = (/** @type {string} */ directory) => resolve(directory, 'dist-web/index.html');

/** @param {string} trace @param {string} directory @returns {Promise<Row[]>} */
export async function compareWithKonata(trace, directory) {
  const log = kanataOf(trace);
  const served = await serveCounted(trace);
  try {
    const konata = await measure(konataViewer(pageOf(directory), log));
    const ours = await measure(ourViewer(served.invite));
    if (konata.rows !== ours.rows)
      throw new Error(`Konata found ${konata.rows} instructions, this viewer ${ours.rows}`);
    return [
      { name: 'instructions, of both', value: ours.rows, unit: '' },
      { name: 'file of Konata', value: statSync(log).size / MB, unit: 'MB' },
      { name: 'file of uscope', value: statSync(trace).size / MB, unit: 'MB' },
      ...[
        ['Konata', konata],
        ['uscope', ours],
      ].flatMap(([name, of]) => rowsOf(String(name), /** @type {Measured} */ (of))),
    ];
  } finally {
    await served.close();
  }
}

/** @param {string} name @param {Measured} of @returns {Row[]} */
const rowsOf = (name, { sharpMs, memoryMb, frames }) => [
  { name: `${name}: first picture, nothing missing`, value: sharpMs, unit: 'ms' },
  { name: `${name}: memory of the page`, value: memoryMb, unit: 'MB' },
  ...ZOOMS.map((steps, at) => ({
    name: `${name}: frame while scrolling, zoomed out ${steps} steps, p95`,
    value: frames[at] ?? Number.NaN,
    unit: 'ms',
  })),
];

/** Written beside the trace once. @param {string} trace */
function kanataOf(trace) {
  const log = `${trace}.log`;
  if (existsSync(log) && statSync(log).mtimeMs >= statSync(trace).mtimeMs) return log;
  const { status } = spawnSync(process.execPath, [USCOPE, 'convert', trace, '-o', log, '--to', 'konata'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`${basename(trace)} could not be converted for Konata`);
  return log;
}

/** @param {string} html @param {string} log @returns {Viewer} */
const konataViewer = (html, log) => ({
  name: 'Konata',
  canvas: '.pipeline-pane canvas',
  async open(page) {
    await page.goto(pathToFileURL(html).href);
    await page.setInputFiles('input[type=file]', log);
    await page.waitForFunction(
      (name) => {
        const { dataset } = /** @type {HTMLElement} */ (document.querySelector('.trace-app'));
        if (dataset.loadState === 'error')
          throw new Error(document.querySelector('.status')?.textContent ?? 'Konata cannot read it');
        return dataset.loadState === 'ready' && dataset.fileName === name;
      },
      basename(log),
      { timeout: PATIENCE_MS, polling: 'raf' },
    );
  },
  rows: (page) =>
    page.evaluate(() =>
      Number(/** @type {HTMLElement} */ (document.querySelector('.trace-app')).dataset.opCount),
    ),
});

/** @param {() => string} invite gives an address that is good once @returns {Viewer} */
const ourViewer = (invite) => ({
  name: 'uscope',
  canvas: '.picture canvas',
  async open(page) {
    await openView(page, invite());
    await page.waitForFunction(() => /** @type {any} */ (window).__uscope?.state()?.isSharp === true, null, {
      timeout: PATIENCE_MS,
      polling: 'raf',
    });
  },
  async rows(page) {
    await page.waitForFunction(() => /** @type {any} */ (window).__uscope.state().isCounted, null, {
      timeout: PATIENCE_MS,
    });
    return page.evaluate(() => /** @type {any} */ (window).__uscope.state().rows);
  },
});

/** @param {Viewer} viewer @returns {Promise<Measured>} */
async function measure(viewer) {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark' });
    const started = performance.now();
    await viewer.open(page);
    const sharpMs = performance.now() - started;
    const rows = await viewer.rows(page);
    const memory = largestRenderer(process.pid);
    /** @type {number[]} */
    const frames = [];
    for (const [at, steps] of ZOOMS.entries()) {
      await zoomOut(page, viewer.canvas, steps - (ZOOMS[at - 1] ?? 0));
      frames.push(percentile(await scroll(page, viewer.canvas), 0.95));
    }
    return { sharpMs, rows, memoryMb: (memory ?? Number.NaN) / MB, frames };
  } finally {
    await browser.close();
  }
}

/** @param {Page} page @param {string} canvas @param {number} steps */
async function zoomOut(page, canvas, steps) {
  const box = await page.locator(canvas).first().boundingBox();
  if (!box) throw new Error(`${canvas} is not shown`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.keyboard.down('Control');
  for (let step = 0; step < steps; step++) {
    await page.mouse.wheel(0, 100);
    // A zoom may be animated.
    await page.waitForTimeout(250);
  }
  await page.keyboard.up('Control');
}

/**
 * Milliseconds from one picture to the next while the wheel is turned with each: Konata draws in the animation frame, this viewer in another
 * thread, which says when it has drawn.
 * @param {Page} page @param {string} canvas
 */
function scroll(page, canvas) {
  return page.evaluate(
    async ([selector, count]) => {
      const element = /** @type {Element} */ (document.querySelector(String(selector)));
      const { left, top, width, height } = element.getBoundingClientRect();
      const at = { clientX: left + width / 2, clientY: top + height / 2 };
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const hook = /** @type {any} */ (window).__uscope;
      let animated = 0;
      const drawn = () => (hook ? hook.state().frame : animated++);
      /** @type {number[]} */
      const intervals = [];
      await frame();
      let last = performance.now();
      for (let turn = 0; turn < Number(count); turn++) {
        const before = drawn();
        element.dispatchEvent(
          new WheelEvent('wheel', { ...at, deltaY: 100, bubbles: true, cancelable: true }),
        );
        await frame();
        while (drawn() === before && performance.now() - last < 1000) await frame();
        const now = performance.now();
        intervals.push(now - last);
        last = now;
      }
      return intervals;
    },
    [canvas, FRAMES],
  );
}
