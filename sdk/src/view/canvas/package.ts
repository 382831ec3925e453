/** A canvas for Node, which draws pictures where there is no browser. An optional package: it is loaded when it is needed. */

import { CANVAS_PACKAGE } from '../../base/canvas-package.js';
import { UscopeError } from '../../base/errors.js';

export type CanvasPackage = typeof import('@napi-rs/canvas');

/**
 * @throws Error of Node, ERR_MODULE_NOT_FOUND: it is not installed
 * @throws UscopeError VIEW_PICTURE: it does not run on this machine, or the machine has no font
 */
export async function loadCanvas(): Promise<CanvasPackage> {
  const loaded = await import('@napi-rs/canvas').catch((cause: Error & { code?: string }) => {
    if (cause.code === 'ERR_MODULE_NOT_FOUND') throw cause;
    const what = `the package @napi-rs/canvas does not run on this machine: ${cause.message.split('\n', 1)[0]}`;
    throw new UscopeError(
      'VIEW_PICTURE',
      `${what}; install it again, without --omit=optional: npm install ${CANVAS_PACKAGE}`,
      {},
      { cause },
    );
  });
  // Text would silently be left out.
  if (loaded.GlobalFonts.families.length === 0)
    throw new UscopeError(
      'VIEW_PICTURE',
      'this machine has no font to draw text with; install one (Debian: apt-get install fonts-dejavu-core)',
    );
  return loaded;
}

export async function isCanvasInstalled(): Promise<boolean> {
  try {
    await import('@napi-rs/canvas');
    return true;
  } catch (error) {
    // One that is there but does not run says so when it is used.
    return (error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND';
  }
}
