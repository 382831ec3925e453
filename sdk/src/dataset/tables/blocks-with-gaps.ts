/** The blocks of all segments of a trace. Damaged segments are gaps: what is on both sides of one is there, without what joins it. */
import type { Trace } from '../../reader/index.js';
import {
  blockOf,
  type CpuCore,
  type InstructionBlock,
  instructionBlocks,
} from '../../semantics/cpu/index.js';
import { damagedSegments, type Gap, isDamage, stretchesOf } from '../raw/gaps.js';

/** Segments in which the ends of instructions are looked for. */
const LOOKAHEAD = 16;

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
  const gaps = await damagedSegments(trace, next);
  for (const gap of gaps) onGap(gap);
  const damaged = new Set(gaps.map(({ segment }) => segment));
  // In front of the first gap each segment by itself, as before, as far as the gap.
  for (; next < trace.segmentCount && !damaged.has(next); next++) {
    let end = next + 1;
    while (end < trace.segmentCount && end <= next + LOOKAHEAD && !damaged.has(end)) end++;
    yield await blockOf(trace, core, next, { numbering: 'cheap', lookahead: end - next - 1 });
  }
  for (const { first, end } of stretchesOf(trace, damaged, next)) {
    // The segment before may end in the instant in which this one begins: it is not to be touched.
    const from = (await trace.segment(first)).timeStartPs + 1n;
    const to = end < trace.segmentCount ? (await trace.segment(end)).timeStartPs : undefined;
    yield* instructionBlocks(trace, core, { from, to }, { numbering: 'never', lookback: 0, lookahead: 0 });
  }
}
