/** How the instructions born in one segment ended, and nothing else of them: a fraction of the time that their block takes. */
import type { Trace } from '../../reader/index.js';
import { type CpuCore, requireEntities } from '../cpu/cores.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import { type BlocksKernel, giveBlocksKernelBack, takeBlocksKernel } from './kernel/blocks-kernel.js';
import { Result } from './kernel/layout.js';
import { followSlice } from './kernel-blocks.js';
import { KernelTracker } from './kernel-tracker.js';

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
  const kernel = takeBlocksKernel();
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
  const tracker = new KernelTracker(kernel, trace, core, entities, false, 'ends');
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
