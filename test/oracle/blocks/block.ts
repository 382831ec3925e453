/** Blocks by `Tracker`, an object for each instruction: the oracle of `kernelBlockOf`. */
import type { LoadedSegment, Trace } from '../../../sdk/src/reader/index.js';
import { controlEventOf } from '../../../sdk/src/schema/control.js';
import type { InstructionBlock } from '../../../sdk/src/semantics/blocks/block.js';
import { type BlockOptions, DEFAULT_SEGMENTS } from '../../../sdk/src/semantics/blocks/options.js';
import { type CpuCore, requireEntities } from '../../../sdk/src/semantics/cpu/cores.js';
import { birthsBefore } from '../../../sdk/src/semantics/cpu/numbering.js';
import { segmentToBeginWith } from '../../../sdk/src/semantics/lifecycle/history.js';
import { LifecycleWalk } from '../../../sdk/src/semantics/lifecycle/lifecycle-walk.js';
import { SegmentAccess } from '../../../sdk/src/semantics/lifecycle/segments.js';
import { fromTracked } from './from-tracked.js';
import type { Tracked } from './tracked.js';
import { Tracker } from './tracker.js';

/** The instructions born in one segment. */
export async function oracleBlockOf(
  trace: Trace,
  core: CpuCore,
  segment: number,
  options: BlockOptions = {},
): Promise<InstructionBlock> {
  const entities = requireEntities(core);
  const { signal, lookback = DEFAULT_SEGMENTS, lookahead = DEFAULT_SEGMENTS } = options;
  const access = await SegmentAccess.of(trace);
  const { timeStartPs } = await access.entry(segment);
  const first = Math.min(segment, await segmentToBeginWith(access, entities, timeStartPs, lookback));
  const base = await birthsBefore(trace, core, entities, access, first, options);
  const tracker = new Tracker(core, entities, trace.isInterleaved, false, controlEventOf(trace.schema));
  // What changes after the last row has ended is not in the block: a producer that is none of its rows may get another address.
  const walk = new LifecycleWalk(trace, tracker, null, () => isFollowed && allEnded());
  const checkpoints = access.checkpointsOf(entities);
  const window = await access.window();
  const last = Math.min(access.count - 1, segment + lookahead);
  let own: Tracked[] = [];
  let births = 0;
  let isFollowed = false;
  let ended = 0;
  const allEnded = (): boolean => {
    while (ended < own.length && own[ended]!.endPs !== null) ended++;
    return ended === own.length;
  };
  const enter = async (loaded: LoadedSegment): Promise<void> => {
    if (loaded.index > first && checkpoints) {
      tracker.continueFrom(checkpoints.at(loaded), loaded.header.timeStartPs);
    } else if (loaded.index === first) {
      tracker.begin(await access.catalogBefore(loaded, entities, checkpoints));
      // In flight where the trace begins: they belong to its first block. Those of a later segment belong to an earlier one.
      if (first > 0) tracker.queue = [];
    }
  };
  try {
    for (let index = first; index <= last; index++) {
      signal?.throwIfAborted();
      const loaded = await window.load(index);
      if (index === segment) births = tracker.births;
      if (index === segment && first < segment) tracker.queue = [];
      await enter(loaded);
      walk.begin(loaded);
      while (walk.run()) signal?.throwIfAborted();
      if (index === segment) {
        own = tracker.queue;
        isFollowed = true;
        tracker.stopBirths();
      }
      if (index >= segment && allEnded()) break;
    }
  } finally {
    window.close();
  }
  return fromTracked(core, own, { segment, reachesEnd: last === access.count - 1, base, births });
}
