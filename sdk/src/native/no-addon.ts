/** `#platform/addon` in browsers: machine code does not run there. native-addon.ts offers the same in Node. */
import type { Addon } from './native-addon.js';

export function loadAddon(): Addon | null {
  return null;
}
