// @ts-check
/** The index: what it takes while a trace is recorded, and what is answered by it; and blocks of instructions. */
import { benchBlocks } from './index-blocks.mjs';
import { benchIndexCost } from './index-cost.mjs';
import { benchQuestions } from './index-questions.mjs';

/** M cycles of `ooo`. */
const LENGTHS = [1, 10];
const LONG_LENGTHS = [...LENGTHS, 100];

/**
 * @param {import('./options.mjs').Options} options
 * @param {string} directory
 * @returns {Promise<import('./table.mjs').Row[]>}
 */
export async function benchIndex(options, directory) {
  const { cycles, long } = options;
  const lengths = cycles === null ? (long ? LONG_LENGTHS : LENGTHS).map((length) => length * 1e6) : [cycles];
  const rows = await benchIndexCost(options, directory, lengths[0]);
  for (const length of lengths) rows.push(...(await benchQuestions(options, directory, length)));
  return [...rows, ...(await benchBlocks(options, directory))];
}
