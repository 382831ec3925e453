/** How the instructions born in one segment ended, and nothing else of them: a fraction of the time that their block takes. */
import type { Trace } from '../../reader/index.js';
import { type CpuCore, requireEntities } from '../cpu/cores.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import { endOf, type InstructionBlock, NONE } from './block.js';
import { followSlice } from './compiled-blocks.js';
import { CompiledTracker } from './compiled-tracker.js';
import { blockOf, kernelFor } from './instruction-blocks.js';
import { type BlocksKernel, giveBlocksKernelBack } from './kernel/blocks-kernel.js';
import { Result } from './kernel/layout.js';
import { ALL_SEGMENTS } from './options.js';

/**
 * A `BlockEnd` for each instruction born in a segment, in order of birth. Later segments are read until the first `rows` of them have ended: others may be
 * IN_FLIGHT though a later segment says how they ended.
 * @throws UscopeError READER_NAME (the core records no instructions), READER_RANGE (no such segment), FORMAT_* for damage
 */
export async function rowEnds(
  trace: Trace,
  core: CpuCore,
  segment: number,
  rows: number,
): Promise<Uint8Array> {
  const kernel = kernelFor(trace);
  if (!kernel)
    return endsOf(await blockOf(trace, core, segment, { numbering: 'always', lookahead: ALL_SEGMENTS }));
  try {
    return await followed(kernel, trace, core, segment, rows);
  } finally {
    giveBlocksKernelBack(kernel);
  }
}

async function followed(
  kernel: BlocksKernel,
  trace: Trace,
  core: CpuCore,
  segment: number,
  rows: number,
): Promise<Uint8Array> {
  const entities = requireEntities(core);
  const access = await SegmentAccess.of(trace);
  const tracker = new CompiledTracker(kernel, trace, core, entities, false, 'ends');
  const checkpoints = access.checkpointsOf(entities);
  const window = await access.window(0, false);
  let [listed, births] = [0, 0];
  try {
    for (let index = segment; index < access.count; index++) {
      const loaded = await window.load(index);
      const isFirst = index === segment;
      const state = isFirst
        ? await access.catalogBefore(loaded, entities, checkpoints)
        : checkpoints?.at(loaded);
      if (state) tracker.listed(state, loaded.header.timeStartPs, isFirst);
      if (isFirst) {
        tracker.unfollow();
        listed = tracker.rows;
      } else tracker.watch(listed + rows);
      tracker.begin(loaded);
      for (let result: Result = Result.SLICE; result === Result.SLICE; ) {
        result = followSlice(trace, tracker, loaded);
      }
      if (isFirst) {
        ({ births } = tracker);
        tracker.stopBirths();
      }
      tracker.watch(listed + rows);
      if (tracker.watched === 0) break;
    }
  } finally {
    window.close();
  }
  return tracker.ends(births);
}

/** Those listed in flight at the start of a trace were not born in it. */
function endsOf(block: InstructionBlock): Uint8Array {
  const ends = Uint8Array.from({ length: block.count }, (_, row) => endOf(block, row));
  const { numbers } = block;
  return numbers === null ? ends : ends.filter((_, row) => numbers[row] !== NONE);
}
