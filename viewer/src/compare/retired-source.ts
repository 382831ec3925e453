/** The instructions that a core retired, from the blocks of its trace. */
import {
  BlockEnd,
  type CpuCore,
  endOf,
  endTick,
  type InstructionBlock,
  instructionBlocks,
  rowNumber,
} from 'uscope/cpu';
import type { Trace } from '../data/library.js';
import type { RetiredColumns } from './retired-queue.js';
import type { Statics } from './statics.js';

/** @yields in the order of the program, a segment at a time */
export async function* retiredColumns(
  trace: Trace,
  core: CpuCore,
  statics: Statics,
): AsyncGenerator<RetiredColumns> {
  const periodPs = core.periodPs > 0n ? Number(core.periodPs) : 1;
  for await (const block of instructionBlocks(trace, core)) yield columnsOf(block, periodPs, statics);
}

function columnsOf(block: InstructionBlock, periodPs: number, statics: Statics): RetiredColumns {
  const numbers = statics.numbersOf(block.staticTable);
  const base = Number(block.basePs);
  const columns = {
    statics: new Int32Array(block.count),
    cycles: new Float64Array(block.count),
    rows: new Float64Array(block.count),
  };
  let count = 0;
  for (let row = 0; row < block.count; row++) {
    if (endOf(block, row) !== BlockEnd.RETIRED) continue;
    columns.statics[count] = numbers[block.statics[row]!]!;
    columns.cycles[count] = Math.floor((base + endTick(block, row) * block.tickPs) / periodPs);
    columns.rows[count] = rowNumber(block, row);
    count++;
  }
  return { count, ...columns };
}
