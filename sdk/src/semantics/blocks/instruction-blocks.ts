/** Instructions as columns, of a segment, a range or a whole trace: the fast way through the instructions of a core. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, requireEntities } from '../cpu/cores.js';
import { type CoreRange, rangeInPs } from '../cpu/query-range.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import type { InstructionBlock } from './block.js';
import { giveBlocksKernelBack, takeBlocksKernel } from './kernel/blocks-kernel.js';
import { kernelBlockOf, kernelRangeBlocks } from './kernel-blocks.js';
import { type BlockOptions, checkOptions, DEFAULT_SEGMENTS, type RangeBlockOptions } from './options.js';

/**
 * The instructions born in one segment, and those that the trace lists in flight where it begins or where a snapshot begins. Every instruction of a
 * trace is in exactly one segment's block, in order of birth.
 * @throws UscopeError READER_NAME (the core records no instructions), READER_RANGE (no such segment), FORMAT_* for damage
 */
export async function blockOf(
  trace: Trace,
  core: CpuCore,
  segment: number,
  options: BlockOptions = {},
): Promise<InstructionBlock> {
  requireEntities(core);
  checkOptions(options);
  const { count } = await SegmentAccess.of(trace);
  if (!(Number.isInteger(segment) && segment >= 0 && segment < count)) {
    throw new UscopeError('READER_RANGE', `there is no segment ${segment}: the trace has ${count}`);
  }
  const kernel = takeBlocksKernel();
  try {
    return await kernelBlockOf(kernel, trace, core, segment, options);
  } finally {
    giveBlocksKernelBack(kernel);
  }
}

/**
 * The instructions in flight at some time of a range, by default of the whole trace, as `instructions` gives them: in blocks of any size. What can be
 * said in front of damage comes before the error.
 * @throws UscopeError READER_NAME (the core records no instructions), READER_NO_CYCLES (cycles asked of a clock without period),
 *   READER_RANGE (the range ends before it begins), FORMAT_* for damage
 */
export async function* instructionBlocks(
  trace: Trace,
  core: CpuCore,
  range: CoreRange = {},
  options: RangeBlockOptions = {},
): AsyncGenerator<InstructionBlock> {
  const entities = requireEntities(core);
  checkOptions(options);
  const { from, to } = rangeInPs(core, range);
  const access = await SegmentAccess.of(trace);
  if (access.count === 0 || from === to) return;
  const first = await segmentToBeginWith(access, entities, from, options.lookback ?? DEFAULT_SEGMENTS);
  const kernel = takeBlocksKernel();
  try {
    yield* kernelRangeBlocks(kernel, trace, core, { from, to }, access, first, options);
  } finally {
    giveBlocksKernelBack(kernel);
  }
}
