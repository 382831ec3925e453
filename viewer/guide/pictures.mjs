// @ts-check
/**
 * The pictures of docs/how-to/viewer.md, made from the page itself: the demo's trace is opened in Chromium, and the guide's keys are pressed.
 * A run of the demo is needed: npm run demo.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../../scripts/step.mjs';
import { openView } from '../../test/support/enter-view.mjs';
import { chromiumPath } from '../bench/session.mjs';

const SIZE = { width: 1280, height: 720 };
/** The `wfi` that waits longer than 420 cycles first. */
const WAITING_ROW = 246_901;
const IMAGES = join(ROOT, 'docs/images');
/** @typedef {import('playwright-core').Page} Page */

/** Until all of it is drawn and counted. @param {Page} page */
async function settled(page) {
  await page.waitForFunction(() => {
    const state = /** @type {any} */ (window).__uscope?.state();
    const isCounting = /(?:run|Counting:) \d+ %/.test(document.body.textContent);
    const isBusy = isCounting || document.querySelector('[aria-busy="true"]') !== null;
    return state?.isCounted && state.isSharp && !isBusy;
  });
  // Hints go away, and panels have what they show.
  await page.waitForTimeout(3000);
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}

/** @type {readonly { name: string, hash: string, scheme: 'dark' | 'light', hasSource?: true, do?: (page: Page) => Promise<void> }[]} */
const PICTURES = [
  {
    name: 'viewer.png',
    hash: '#at=20608',
    scheme: 'dark',
    do: async (page) => {
      await page.mouse.click(620, 172);
      await page.mouse.move(520, 440);
    },
  },
  {
    name: 'viewer-run.png',
    hash: '',
    scheme: 'dark',
    do: async (page) => {
      await page.keyboard.press('f');
      await page.keyboard.press('Shift+S');
      await page.mouse.move(880, 20);
    },
  },
  {
    name: 'viewer-stall.png',
    hash: '#at=270000',
    scheme: 'dark',
    do: async (page) => {
      await command(page, 'stall 420');
      await settled(page);
      for (let rows = 0; rows < 9; rows += 3) await page.keyboard.press('Shift+ArrowUp');
      await settled(page);
      await clickRow(page, WAITING_ROW);
    },
  },
  {
    name: 'viewer-loop.png',
    hash: '#at=298000',
    scheme: 'light',
    do: async (page) => {
      await page.mouse.move(640, 708);
      await page.keyboard.press('Shift+R');
      await command(page, 'f pc:0x80000254');
      await settled(page);
    },
  },
  {
    name: 'viewer-source.png',
    hash: '#at=20608&gutter=520',
    scheme: 'light',
    hasSource: true,
    do: async (page) => {
      await page.keyboard.press('Shift+U');
      await page.mouse.move(740, 20);
    },
  },
];

/** @param {Page} page @param {string} text */
async function command(page, text) {
  await page.keyboard.press('F1');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

/** A click on an instruction in the picture. @param {Page} page @param {number} row */
async function clickRow(page, row) {
  const place = await page.evaluate((wanted) => {
    const { view } = /** @type {any} */ (window).__uscope.state();
    const box = document.querySelector('canvas.rows')?.getBoundingClientRect();
    return {
      x: (box?.x ?? 0) + 500,
      y: (box?.y ?? 0) + 40 + (wanted + 0.5 - view.y) * view.scale * view.aspect,
    };
  }, row);
  await page.mouse.click(place.x, place.y);
}

/** A `sb` in the loop of the sieve, on the out-of-order core: it waits for a place in the store queue. */
const WAITING_STORE = 22_762;

/** Of docs/tutorials/find-a-bottleneck.md, in a trace of the out-of-order core. @type {typeof PICTURES} */
const BOTTLENECK = [
  {
    name: 'o3-store-queue.png',
    hash: '#at=20000',
    scheme: 'dark',
    do: async (page) => {
      await page.keyboard.press('Shift+C');
      for (let i = 0; i < 2; i++) await page.keyboard.press('Alt+ArrowDown');
      await settled(page);
      await clickRow(page, WAITING_STORE);
      await settled(page);
      // In the lanes of occupancy, and in the inspector.
      for (const lane of await page.getByText('store_queue', { exact: true }).all())
        await lane.evaluate((element) => element.scrollIntoView({ block: 'start' }));
    },
  },
];

/** @param {string} path of a trace of the out-of-order core @param {string} [directory] */
export const takeBottleneck = (path, directory = IMAGES) => takePictures(path, directory, BOTTLENECK);

/** @param {string} path of the demo's trace @param {string} [directory] @param {typeof PICTURES} [pictures] */
export async function takePictures(path, directory = IMAGES, pictures = PICTURES) {
  const { chromium } = await import('playwright-core');
  const { openServedTrace, ServedProgram, serveView } = await import(join(ROOT, 'sdk/dist/view/index.js'));
  const trace = await openServedTrace(path);
  const server = await serveView(trace);
  const program = makeProgram();
  const withProgram = program && (await serveView(trace, { program: await ServedProgram.open(program) }));
  if (!program) console.log('no picture of the source: riscv64-unknown-elf-gcc builds its program');
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const { name, hash, scheme, hasSource, do: act } of pictures) {
      if (hasSource && !withProgram) continue;
      const page = await browser.newPage({ viewport: SIZE, colorScheme: scheme });
      await openView(page, (hasSource ? withProgram : server).invite(hash));
      await settled(page);
      await act?.(page);
      await settled(page);
      await page.screenshot({ path: join(directory, name) });
      await page.close();
      console.log(join(directory, name));
    }
  } finally {
    await browser.close();
    await server.close();
    await withProgram?.close();
    await trace.close();
    if (program) rmSync(dirname(program), { recursive: true });
  }
}

/** The demo's program with debug information, which its build leaves out: the code is the same. @returns path; null: there is no compiler */
function makeProgram() {
  const firmware = join(ROOT, 'verilator-demo/firmware');
  const directory = mkdtempSync(join(tmpdir(), 'uscope-guide-'));
  const elf = join(directory, 'firmware.elf');
  try {
    const commands = execFileSync('make', ['-n', '-B', `BUILD=${directory}`, elf], {
      cwd: firmware,
      encoding: 'utf8',
    });
    execFileSync('sh', ['-ec', commands.replace(' -g0 ', ' -g ')], { cwd: firmware, stdio: 'ignore' });
    return elf;
  } catch {
    rmSync(directory, { recursive: true });
    return null;
  }
}

/** The page of two runs. @param {string} a @param {string} b paths of traces @param {string} [directory] */
export async function takeComparison(a, b, directory = IMAGES) {
  const { chromium } = await import('playwright-core');
  const { openServedTrace, serveComparison } = await import(join(ROOT, 'sdk/dist/view/index.js'));
  const traces = [await openServedTrace(a, { name: 'before' }), await openServedTrace(b, { name: 'after' })];
  const server = await serveComparison(...traces);
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, colorScheme: 'dark' });
    await openView(page, server.invite());
    await page.waitForFunction(() => /** @type {any} */ (window).__compare?.reports().b);
    await page.keyboard.press('F8');
    await page.keyboard.press('F8');
    await page.waitForTimeout(3000);
    await page.screenshot({ path: join(directory, 'viewer-compare.png') });
    console.log(join(directory, 'viewer-compare.png'));
  } finally {
    await browser.close();
    await server.close();
    for (const trace of traces) await trace.close();
  }
}

/** The page of several traces. @param {string} directory with the traces of four cores and their network */
export async function takeTogether(directory) {
  const { chromium } = await import('playwright-core');
  const { openServedTrace, serveTogether } = await import(join(ROOT, 'sdk/dist/view/index.js'));
  const names = ['core0', 'core1', 'core2', 'core3', 'noc'].map((name) => `${name}.uscope`);
  const traces = await Promise.all(names.map((name) => openServedTrace(join(directory, name))));
  const server = await serveTogether(traces);
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, colorScheme: 'dark' });
    await openView(page, server.invite());
    await page.waitForFunction(() => /** @type {any} */ (window).__together?.infos().length === 5);
    await page.getByRole('button', { name: 'core3' }).click();
    const lane = await (await page.locator('iframe[title=core3]').elementHandle())?.contentFrame();
    const hook = (/** @type {string} */ commands) =>
      lane?.evaluate(`{ const hook = window.__uscope; const view = hook.state().view; ${commands} }`);
    await lane?.waitForFunction(() => /** @type {any} */ (window).__uscope?.settings().form === 'auto');
    await lane?.locator('canvas.rows').click({ position: { x: 500, y: 200 } });
    await hook(
      `hook.run({ do: 'view', view: { ...view, scale: 16 }, selected: null }); hook.run({ do: 'goRow', row: ${WAITING_LOAD} });`,
    );
    await page.waitForTimeout(2000);
    await hook(`hook.run({ do: 'select', row: ${WAITING_LOAD} });`);
    await page.waitForTimeout(1000);
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press('F8');
      await page.waitForTimeout(1500);
    }
    await page.screenshot({ path: join(IMAGES, 'viewer-together.png') });
    console.log(join(IMAGES, 'viewer-together.png'));
  } finally {
    await browser.close();
    await server.close();
    for (const trace of traces) await trace.close();
  }
}

/** Of core 3 in the demo with four cores: a load that waits for the network. */
const WAITING_LOAD = 9978;
export const fourCores = () => join(ROOT, 'verilator-demo/out/four');
export const hasFourCores = () => existsSync(join(fourCores(), 'noc.uscope'));
/** The demo's program on the core with a quarter of its data cache. */
export const slowerTrace = () => join(ROOT, 'verilator-demo/out/smallcache/core0.uscope');
export const hasSlower = () => existsSync(slowerTrace());
/** `npm run demo -- --core o3 --out verilator-demo/out/o3`. */
export const o3Trace = () => join(ROOT, 'verilator-demo/out/o3/core0.uscope');
export const hasO3 = () => existsSync(o3Trace());
export const demoTrace = () => join(ROOT, 'verilator-demo/out/core0.uscope');
export const hasDemo = () => existsSync(demoTrace());
