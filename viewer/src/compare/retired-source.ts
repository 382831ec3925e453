/** The instructions that a core retired, from the blocks of its trace. */
import {
  annotatedName,
  BlockEnd,
  type CpuCore,
  type CycleOfTick,
  cyclesOf,
  endOf,
  endTick,
  firstOf,
  type InstructionBlock,
  instructionBlocks,
  rowNumber,
} from 'uscope/cpu';
import type { Trace } from '../data/library.js';
import type { RetiredColumns } from './retired-queue.js';
import type { StaticInstructions } from './static-instructions.js';

/** @yields in the order of the program */
export async function* retiredColumns(
  trace: Trace,
  core: CpuCore,
  statics: StaticInstructions,
): AsyncGenerator<RetiredColumns> {
  for await (const block of instructionBlocks(trace, core)) {
    const numbers = statics.numbersOf(block.staticTable);
    if (core.xlen === null) await nameStatics(trace, block, numbers, statics);
    yield columnsOf(block, cyclesOf(block, core.periodPs), numbers);
  }
}

/** Names those that are new, as the first row of each is annotated. */
async function nameStatics(
  trace: Trace,
  block: InstructionBlock,
  numbers: Int32Array,
  statics: StaticInstructions,
): Promise<void> {
  if (numbers.every((number) => statics.hasName(number))) return;
  const { annotations } = block;
  await trace.strings.load(annotations.string);
  for (let row = 0; row < block.count; row++) {
    const number = numbers[block.statics[row]!]!;
    if (statics.hasName(number)) continue;
    const notes: { text: string; kind: number | null }[] = [];
    for (let at = firstOf(annotations, row); annotations.row[at] === row; at++)
      notes.push({
        text: trace.strings.peek(annotations.string[at]!) ?? '',
        kind: annotations.kind?.[at] ?? null,
      });
    statics.nameAs(number, annotatedName(notes));
  }
}

function columnsOf(block: InstructionBlock, cycle: CycleOfTick, numbers: Int32Array): RetiredColumns {
  const columns = {
    statics: new Int32Array(block.count),
    cycles: new Float64Array(block.count),
    rows: new Float64Array(block.count),
  };
  let count = 0;
  for (let row = 0; row < block.count; row++) {
    if (endOf(block, row) !== BlockEnd.RETIRED) continue;
    columns.statics[count] = numbers[block.statics[row]!]!;
    columns.cycles[count] = cycle(endTick(block, row));
    columns.rows[count] = rowNumber(block, row);
    count++;
  }
  return { count, ...columns };
}
