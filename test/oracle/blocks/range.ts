/** The instructions of a range in blocks, by `Tracker`: the oracle of `kernelRangeBlocks`. */

import { isDamage, type UscopeError } from '../../../sdk/src/base/errors.js';
import type { Trace } from '../../../sdk/src/reader/index.js';
import { controlEventOf } from '../../../sdk/src/schema/control.js';
import { Births } from '../../../sdk/src/semantics/blocks/births.js';
import type { InstructionBlock } from '../../../sdk/src/semantics/blocks/block.js';
import type { RangePs } from '../../../sdk/src/semantics/blocks/kernel-blocks.js';
import {
  DEFAULT_SEGMENTS,
  MAX_HELD,
  type RangeBlockOptions,
} from '../../../sdk/src/semantics/blocks/options.js';
import { CatalogCheckpoints } from '../../../sdk/src/semantics/common/catalog-checkpoint.js';
import { type CpuCore, requireEntities } from '../../../sdk/src/semantics/cpu/cores.js';
import { LifecycleWalk } from '../../../sdk/src/semantics/lifecycle/lifecycle-walk.js';
import { type SegmentAccess, segmentsToWalk } from '../../../sdk/src/semantics/lifecycle/segments.js';
import { fromTracked } from './from-tracked.js';
import { Tracker } from './tracker.js';

/**
 * The instructions in flight at some time of a range, in the order of `instructions`.
 * @param first where to begin: see `segmentToBeginWith`
 */
export async function* oracleRangeBlocks(
  trace: Trace,
  core: CpuCore,
  { from, to }: RangePs,
  access: SegmentAccess,
  first: number,
  options: RangeBlockOptions,
): AsyncGenerator<InstructionBlock> {
  const entities = requireEntities(core);
  const { signal, lookahead = DEFAULT_SEGMENTS } = options;
  const tracker = new Tracker(core, entities, trace.isInterleaved, first > 0, controlEventOf(trace.schema));
  if (options.stages === 'range') tracker.keepStagesOf(from, to);
  const walk = new LifecycleWalk(trace, tracker, to ?? null);
  const checkpoints = CatalogCheckpoints.of(trace, entities.def);
  const births = new Births(trace, core, entities, access, first, options);
  const blockOf = async (segment: number, all: boolean): Promise<InstructionBlock[]> => {
    const taken = tracker.take(all, MAX_HELD);
    // Some writers flush without ever clearing: what was flushed before the range is no longer in flight either.
    const wanted = taken.filter(({ endPs, flush }) => {
      const until = endPs ?? flush?.timePs;
      return until === undefined || until >= from;
    });
    const reachesEnd = all && segment === access.count - 1;
    const blocks =
      wanted.length > 0
        ? [fromTracked(core, wanted, { segment, reachesEnd, base: await births.before(), births: 0 })]
        : [];
    // The producers must not be kept alive by those who waited for them.
    for (const one of taken) one.dependencies = [];
    return blocks;
  };
  let index = first;
  let damage: UscopeError | null = null;
  try {
    for await (const segment of segmentsToWalk(access, first, to, lookahead, () => walk.hasMore)) {
      index = segment.index;
      if (index === first) tracker.begin(await access.catalogBefore(segment, entities, checkpoints));
      else if (checkpoints) tracker.continueFrom(checkpoints.at(segment), segment.header.timeStartPs);
      walk.begin(segment);
      while (walk.run()) {
        signal?.throwIfAborted();
        yield* await blockOf(index, false);
      }
      if (walk.isDone) break;
      signal?.throwIfAborted();
      yield* await blockOf(index, false);
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    damage = error;
  }
  yield* await blockOf(index, true);
  if (damage) throw damage;
}
