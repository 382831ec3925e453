// @ts-check
/**
 * A page in a browser as a user has it, for measurements of memory: Playwright lets the browser keep what pages fetch (100 MB), for those
 * who ask for it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBrowser } from './devtools.mjs';
import { largestRenderer } from './processes.mjs';
import { chromiumPath, serveCounted } from './session.mjs';

/**
 * @typedef {object} PlainSession
 * @property {<A, R>(work: (argument: A) => R | Promise<R>, argument: A) => Promise<R>} evaluate in the page
 * @property {() => { bytes: number, reads: number }} fetched of the trace so far
 * @property {() => number | null} pageBytes memory of the page's process; null: this system does not say
 * @property {(method: string, parameters?: object) => Promise<Record<string, unknown>>} call of the browser
 * @property {() => Promise<void>} close
 */

/** @param {string} path @param {import('./session.mjs').Size} size @returns {Promise<PlainSession>} */
export async function startPlainSession(path, { width, height }) {
  const served = await serveCounted(path);
  const profile = mkdtempSync(join(tmpdir(), 'uscope-viewer-bench-'));
  const browser = startBrowser(chromiumPath(), [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-extensions',
    '--disable-background-networking',
    `--user-data-dir=${profile}`,
  ]);
  const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.call('Target.attachToTarget', { targetId, flatten: true });
  const call = (/** @type {string} */ method, /** @type {object} */ parameters = {}) =>
    browser.call(method, parameters, String(sessionId));
  await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await call('Page.navigate', { url: served.invite() });
  await entered(call);
  return {
    evaluate: (work, argument) => evaluate(call, work, argument),
    fetched: served.fetched,
    pageBytes: () => largestRenderer(browser.pid),
    call: (method, parameters = {}) => browser.call(method, parameters),
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
      await served.close();
    },
  };
}

/**
 * The address has a code, and leads on to the page: what is asked meanwhile gets no answer.
 * @param {(method: string, parameters: object) => Promise<Record<string, unknown>>} call
 */
async function entered(call) {
  const isThere = () => location.protocol === 'http:' && !location.search.includes('code=');
  while (!(await evaluate(call, isThere, null).catch(() => false)))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * @param {(method: string, parameters: object) => Promise<Record<string, unknown>>} call
 * @param {Function} work
 * @param {unknown} argument
 * @returns {Promise<any>}
 */
async function evaluate(call, work, argument) {
  const expression = `(${work})(${JSON.stringify(argument)})`;
  const answer = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  const { result, exceptionDetails } = /** @type {any} */ (answer);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result?.value;
}
