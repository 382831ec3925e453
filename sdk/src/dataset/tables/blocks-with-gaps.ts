/** The blocks of all segments of a trace. A damaged segment is a gap, not the end. */
import type { Trace } from '../../reader/index.js';
import {
  blockOf,
  type CpuCore,
  type InstructionBlock,
  instructionBlocks,
} from '../../semantics/cpu/index.js';
import { type Gap, isDamage } from '../raw/raw-pass.js';

export async function* blocksWithGaps(
  trace: Trace,
  core: CpuCore,
  onGap: (gap: Gap) => void,
): AsyncGenerator<InstructionBlock> {
  let next = 0;
  try {
    for await (const block of instructionBlocks(trace, core, {}, { numbering: 'always' })) {
      next = block.segment + 1;
      yield block;
    }
    return;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  // From here on each segment by itself: those before and after the damage are whole.
  for (; next < trace.segmentCount; next++) {
    try {
      yield await blockOf(trace, core, next, { numbering: 'never', lookback: 0, lookahead: 1 });
    } catch (error) {
      if (!isDamage(error)) throw error;
      onGap({ segment: next, error });
    }
  }
}
