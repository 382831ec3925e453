/** The blocks of all segments of a trace. Damaged segments are gaps: what is on both sides of one is there, without what joins it. */
import { isDamage } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd, endOf, type InstructionBlock } from '../../semantics/blocks/block.js';
import { instructionBlocks } from '../../semantics/blocks/instruction-blocks.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { damagedSegments, type Gap, stretchesOf } from '../raw/gaps.js';

/** How a row ended: of one in flight where a gap begins, the trace does not say it. */
export function outcomeOf(block: InstructionBlock, row: number): BlockEnd {
  const end = endOf(block, row);
  return end === BlockEnd.IN_FLIGHT && !block.reachesEnd ? BlockEnd.LOST : end;
}

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
  // The last segment of a block may be the damaged one.
  const gaps = await damagedSegments(trace, Math.max(0, next - 1));
  for (const gap of gaps) onGap(gap);
  const damaged = new Set(gaps.map(({ segment }) => segment));
  for (const { first, end } of stretchesOf(trace, damaged, next)) {
    // The segment before may end in the instant in which this one begins: it is not to be touched.
    const from = (await trace.segment(first)).timeStartPs + 1n;
    const to = end < trace.segmentCount ? (await trace.segment(end)).timeStartPs : undefined;
    yield* instructionBlocks(trace, core, { from, to }, { numbering: 'never', lookback: 0, lookahead: 0 });
  }
}
