// @ts-check
/** The index: what it takes while a trace is recorded, and what is answered by it; blocks of instructions; reports of a whole trace. */
import { benchBlocks } from './index-blocks.mjs';
import { benchIndexCost } from './index-cost.mjs';
import { benchLongQuestions, benchQuestions } from './index-questions.mjs';
import { benchReports } from './index-reports.mjs';

/** M cycles of `ooo`, and of the viewer's long trace, whose segments are small. */
const LENGTHS = [1, 10];
const LONG_LENGTHS = [1, 10, 100];

/**
 * @param {import('./options.mjs').Options} options
 * @param {string} directory
 * @returns {Promise<import('./table.mjs').Row[]>}
 */
export async function benchIndex(options, directory) {
  const { cycles, long, part } = options;
  const wants = (/** @type {import('./options.mjs').IndexPart} */ name) => part === null || part === name;
  const lengthsOf = (/** @type {number[]} */ lengths) =>
    cycles === null ? lengths.map((length) => length * 1e6) : [cycles];
  /** @type {import('./table.mjs').Row[]} */
  const rows = [];
  if (wants('cost')) rows.push(...(await benchIndexCost(options, directory, cycles)));
  if (wants('questions')) {
    for (const length of lengthsOf(LENGTHS)) rows.push(...(await benchQuestions(options, directory, length)));
  }
  if (part === 'long' || (part === null && long)) {
    for (const length of lengthsOf(LONG_LENGTHS)) rows.push(...(await benchLongQuestions(options, length)));
  }
  if (wants('blocks')) rows.push(...(await benchBlocks(options, directory)));
  if (wants('reports')) rows.push(...(await benchReports(options, directory)));
  return rows;
}
