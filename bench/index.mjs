// @ts-check
/** The index and what is read by it. */
import { benchBlocks } from './index-blocks.mjs';

/**
 * @param {import('./options.mjs').Options} options
 * @param {string} directory
 * @returns {Promise<import('./table.mjs').Row[]>}
 */
export async function benchIndex(options, directory) {
  return benchBlocks(options, directory);
}
