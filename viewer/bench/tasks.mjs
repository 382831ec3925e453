// @ts-check
/** The longest task of a page's main thread by time, and by processor time, from Chromium's own trace. */

/**
 * @typedef {object} TraceEvent
 * @property {string} name
 * @property {string} ph
 * @property {number} pid
 * @property {number} tid
 * @property {number} [dur]
 * @property {number} [tdur]
 * @property {Record<string, any>} [args]
 */

/**
 * @template T
 * @param {import('playwright-core').Browser} browser
 * @param {import('playwright-core').Page} page
 * @param {() => Promise<T>} work
 * @returns {Promise<{ result: T, longest: { wallMs: number, cpuMs: number } }>}
 */
export async function longestTask(browser, page, work) {
  await browser.startTracing(page, {
    categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'],
  });
  const result = await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  return { result, longest: longestOf(traceEvents) };
}

/** @param {TraceEvent[]} events */
function longestOf(events) {
  const isMain = (/** @type {TraceEvent} */ { ph, name, args }) =>
    ph === 'M' && name === 'thread_name' && args?.name === 'CrRendererMain';
  const threads = new Set(events.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const longest = { wallMs: 0, cpuMs: 0 };
  for (const { name, ph, pid, tid, dur = 0, tdur = 0 } of events) {
    if (ph !== 'X' || !/RunTask$/.test(name) || !threads.has(`${pid} ${tid}`)) continue;
    longest.wallMs = Math.max(longest.wallMs, dur / 1000);
    longest.cpuMs = Math.max(longest.cpuMs, tdur / 1000);
  }
  return longest;
}
