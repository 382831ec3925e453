/** The page as a picture, by a browser without a window. The page draws it itself, as when a user saves it. */
import { rm } from 'node:fs/promises';
import { UscopeError } from '../../base/errors.js';
import { scratchDirectory } from '../../writer/output/directories.js';
import type { Picture } from '../pictures/picture.js';
import { DevTools } from './devtools.js';
import { findChromium } from './find.js';

export interface PictureRequest {
  /** Of the page of `serveView`. */
  readonly url: string;
  readonly kind: 'png' | 'svg';
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A trace without an index is read through first. */
const TIMEOUT_MS = 120_000;
const ARGUMENTS = [
  '--headless=new',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-extensions',
  '--disable-background-networking',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
];
/** Of `window.__uscope` in the page. */
const ASK = (kind: string): string => `window.__uscope.takePicture(${JSON.stringify(kind)})`;

/**
 * @throws UscopeError VIEW_NO_BROWSER, VIEW_PICTURE: the browser or the page failed; codes of the reader that the page reports
 */
export async function takePicture(request: PictureRequest): Promise<Picture> {
  const path = findChromium();
  if (path === null) {
    const where = process.env.CHROME_PATH
      ? `CHROME_PATH (${process.env.CHROME_PATH}) is not a program`
      : 'no Chromium, Chrome or Edge was found on this machine';
    throw new UscopeError(
      'VIEW_NO_BROWSER',
      `${where}; install one (Debian: apt-get install chromium), or set CHROME_PATH to it`,
    );
  }
  const profile = await scratchDirectory('uscope-picture');
  // Its sandbox needs what root and many containers do not have; it opens only the page of this command.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = DevTools.start(path, [...ARGUMENTS, ...sandbox, `--user-data-dir=${profile}`]);
  try {
    return await within(request, draw(browser, request));
  } catch (error) {
    if (error instanceof UscopeError) throw error;
    throw new UscopeError('VIEW_PICTURE', `${(error as Error).message} (${path})`, {}, { cause: error });
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function draw(browser: DevTools, { url, kind, width, height }: PictureRequest): Promise<Picture> {
  const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
  const attached = await browser.call('Target.attachToTarget', { targetId, flatten: true });
  const session = String(attached.sessionId);
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await browser.call('Emulation.setDeviceMetricsOverride', size, session);
  await browser.call('Page.navigate', { url }, session);
  await ready(browser, session);
  const answer = await browser.call(
    'Runtime.evaluate',
    { expression: ASK(kind), awaitPromise: true, returnByValue: true },
    session,
  );
  const { result, exceptionDetails } = answer as {
    result?: { value?: unknown };
    exceptionDetails?: { exception?: { description?: string } };
  };
  const made = result?.value as Made | undefined;
  if (made?.code) throw new UscopeError('VIEW_PICTURE', `${made.code}: ${made.what}`);
  if (typeof made?.data !== 'string')
    throw new Error(exceptionDetails?.exception?.description?.split('\n', 1)[0] ?? 'the page has no picture');
  return { bytes: Buffer.from(made.data, 'base64'), problems: made.problems ?? [] };
}

/** Of viewer/src/page/unattended.ts. */
interface Made {
  readonly data?: string;
  readonly problems?: Picture['problems'];
  readonly code?: string;
  readonly what?: string;
}

/** Until the page's script runs. */
async function ready(browser: DevTools, session: string): Promise<void> {
  for (;;) {
    const { result } = await browser
      .call(
        'Runtime.evaluate',
        { expression: 'typeof window.__uscope?.takePicture', returnByValue: true },
        session,
      )
      .catch(unlessLedOn);
    if ((result as { value?: unknown } | undefined)?.value === 'function') return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The address has a code and leads on to the page: what is asked in that moment gets no answer. */
function unlessLedOn(error: Error): Record<string, unknown> {
  if (error.message.includes('navigated')) return {};
  throw error;
}

function within<T>({ timeoutMs = TIMEOUT_MS, signal }: PictureRequest, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = (): void =>
      reject(new Error(`the page had no picture within ${Math.round(timeoutMs / 1000)} s`));
    const timer = setTimeout(over, timeoutMs);
    const stopped = (): void => reject(new Error('interrupted'));
    signal?.addEventListener('abort', stopped, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stopped);
    });
  });
}
