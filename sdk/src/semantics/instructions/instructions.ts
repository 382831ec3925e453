/** The instructions of a core, each with its whole life, streamed. */
import type { Trace } from '../../reader/index.js';
import { instructionBlocks } from '../blocks/instruction-blocks.js';
import type { CpuCore } from '../cpu/cores.js';
import type { Instruction } from '../cpu/lifecycle.js';
import type { Numbering } from '../cpu/numbering.js';
import type { CoreRange } from '../cpu/query-range.js';
import { InstructionsOfBlock } from './from-block.js';

export interface InstructionOptions {
  /** Segments read before the range to find the birth of those in flight at its start. Default 16. */
  readonly lookback?: number | undefined;
  /** Segments read after the range to find the end of those in flight at its end. Default 16; 0 stops at the end of the range. */
  readonly lookahead?: number | undefined;
  /** Whether `seq` is found out: always, where it is quick (default), or never. */
  readonly numbering?: Numbering | undefined;
  /** Which stages are given: all of an instruction's life (default), or those of the range, the last one before it and the last one behind it. */
  readonly stages?: 'all' | 'range' | undefined;
  /** Ends the work soon after it is aborted: the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The instructions in flight at some time of a range, in order of birth; one that ends when the range begins is among them. Memory is
 * bounded: an instruction for which 65,536 younger ones, already ended, would have to wait comes after those.
 *
 * `instructionBlocks` gives the same as typed arrays, many times as fast.
 * @throws UscopeError READER_NAME (the core records no instructions), READER_NO_CYCLES (cycles asked of a clock without period),
 *   READER_RANGE (the range ends before it begins), FORMAT_* for damage
 */
export async function* instructions(
  trace: Trace,
  core: CpuCore,
  range: CoreRange = {},
  options: InstructionOptions = {},
): AsyncGenerator<Instruction> {
  for await (const block of instructionBlocks(trace, core, range, options)) {
    const rows = new InstructionsOfBlock(trace, core, block);
    await rows.load();
    for (let row = 0; row < block.count; row++) yield rows.at(row);
  }
}
