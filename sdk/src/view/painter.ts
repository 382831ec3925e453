/** What draws pictures of traces: a browser without a window, or a canvas in Node. */

import { CANVAS_PACKAGE } from '../base/canvas-package.js';
import { UscopeError } from '../base/errors.js';
import { isCanvasInstalled } from './canvas/package.js';
import { findChromium } from './chromium/find.js';

export const PAINTERS = ['browser', 'canvas'] as const;
export type Painter = (typeof PAINTERS)[number];

/**
 * A browser where there is one: its picture is that of the page to the pixel. `CHROME_PATH` asks for that one.
 * @throws UscopeError VIEW_NO_BROWSER: there is neither
 */
export async function choosePainter(environment: NodeJS.ProcessEnv = process.env): Promise<Painter> {
  if (environment.CHROME_PATH || findChromium(process.platform, environment) !== null) return 'browser';
  if (await isCanvasInstalled()) return 'canvas';
  throw new UscopeError(
    'VIEW_NO_BROWSER',
    `no Chromium, Chrome or Edge was found on this machine, nor the package @napi-rs/canvas, which draws without one; install either (npm install ${CANVAS_PACKAGE}, or on Debian: apt-get install chromium), or set CHROME_PATH to a browser`,
  );
}
