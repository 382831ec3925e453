// @ts-check
/** How soon Esc ends a search: one that is under way, and one whose expression takes for ever. */
import { firstPicture, startSession } from './session.mjs';

/** @typedef {import('../../bench/table.mjs').Row} Row */
/** @typedef {import('playwright-core').Page} Page */

const TARGET_MS = 100;
const TIMES = 5;
/** It tries all ways to divide a text that it does not take. */
const ENDLESS = '^(([0-9a-z:, ()]+)+)+[!]$';

/** @param {string} path @returns {Promise<Row[]>} */
export async function measureCancelling(path) {
  const session = await startSession(path);
  try {
    const page = await session.open({ width: 1920, height: 1080 });
    await firstPicture(page);
    /** @type {Row[]} */
    const rows = [];
    for (const [name, pattern] of [
      ['of all instructions', 'lw.*[0-9]'],
      ['in an expression without end', ENDLESS],
    ]) {
      /** @type {number[]} */
      const times = [];
      for (let turn = 0; turn < TIMES; turn++) times.push(await cancel(page, String(pattern)));
      rows.push({
        name: `from Esc to a search that has stopped, ${name}, longest of ${TIMES}`,
        value: Math.max(...times),
        unit: 'ms',
        target: { atMost: TARGET_MS },
      });
    }
    return rows;
  } finally {
    await session.close();
  }
}

/** @param {Page} page @param {string} pattern @returns {Promise<number>} milliseconds until the page says that it has stopped */
async function cancel(page, pattern) {
  await page.keyboard.press('Control+f');
  const field = page.locator('search input');
  await field.fill(pattern);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /** @type {any} */ (window).__uscope.search()?.status === 'searching');
  // Its worker is at it.
  await page.waitForTimeout(300);
  const took = await page.evaluate(async () => {
    const status = () => /** @type {any} */ (window).__uscope.search()?.status;
    if (status() !== 'searching') throw new Error(`the search has ended before Esc: ${status()}`);
    const started = performance.now();
    dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    while (status() === 'searching' && performance.now() - started < 60_000)
      await new Promise((resolve) => setTimeout(resolve, 1));
    return performance.now() - started;
  });
  await page.keyboard.press('Escape');
  return took;
}
