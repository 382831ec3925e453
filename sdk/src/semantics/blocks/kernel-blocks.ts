/** Blocks made by the kernel (sdk/kernel/blocks). */
import { isDamage, type UscopeError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import { CatalogCheckpoints } from '../common/catalog-checkpoint.js';
import { type CpuCore, requireEntities } from '../cpu/cores.js';
import { birthsBefore } from '../cpu/numbering.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { hasWrongSize, wrongSize } from '../lifecycle/lifecycle-walk.js';
import { SegmentAccess, segmentsToWalk } from '../lifecycle/segments.js';
import { Births } from './births.js';
import type { InstructionBlock } from './block.js';
import type { BlocksKernel } from './kernel/blocks-kernel.js';
import { Result } from './kernel/layout.js';
import { KernelTracker } from './kernel-tracker.js';
import { type BlockOptions, DEFAULT_SEGMENTS, MAX_HELD, type RangeBlockOptions } from './options.js';

/** Start inclusive, end exclusive; `to` undefined: to the end. */
export interface RangePs {
  readonly from: bigint;
  readonly to: bigint | undefined;
}

/** Bytes of frames followed between two looks at the signal: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** The instructions in flight at some time of a range, in the order of `instructions`. */
export async function* kernelRangeBlocks(
  kernel: BlocksKernel,
  trace: Trace,
  core: CpuCore,
  { from, to }: RangePs,
  access: SegmentAccess,
  first: number,
  options: RangeBlockOptions,
): AsyncGenerator<InstructionBlock> {
  const entities = requireEntities(core);
  const { signal, lookahead = DEFAULT_SEGMENTS, stages } = options;
  const turns = new Turns(signal);
  const tracker = new KernelTracker(kernel, trace, core, entities, first > 0);
  tracker.setRange({ from, to, onlyItsStages: stages === 'range' });
  const births = new Births(trace, core, entities, access, first, options);
  const take = (segment: number, all: boolean): Promise<InstructionBlock | null> => {
    const reachesEnd = all && segment === access.count - 1;
    return tracker.take(all, MAX_HELD, from, { segment, reachesEnd }, () => births.before());
  };
  const checkpoints = CatalogCheckpoints.of(trace, entities.def);
  let index = first;
  let damage: UscopeError | null = null;
  try {
    for await (const segment of segmentsToWalk(access, first, to, lookahead, () => tracker.inFlight > 0)) {
      index = segment.index;
      const isFirst = index === first;
      const state = isFirst
        ? await access.catalogBefore(segment, entities, checkpoints)
        : checkpoints?.at(segment);
      if (state) tracker.listed(state, segment.header.timeStartPs, isFirst);
      tracker.begin(segment);
      let result: Result;
      do {
        result = followSlice(trace, tracker, segment);
        await turns.next();
        if (result === Result.SLICE || result === Result.DONE) continue;
        const block = await take(index, false);
        if (block) yield block;
      } while (result === Result.SLICE || result === Result.PAUSE);
      if (result === Result.DONE) break;
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    damage = error;
  }
  const block = await take(index, true);
  if (block) yield block;
  if (damage) throw damage;
}

/** Follows the next frames of a segment. @throws UscopeError FORMAT_* for what the compiled code takes for damage, with its place */
export function followSlice(trace: Trace, tracker: KernelTracker, segment: LoadedSegment): Result {
  const result = tracker.run(SLICE_BYTES);
  if (result !== Result.IRREGULAR) return result;
  try {
    const cursor = segment.cursor();
    // What the compiled code got of frames of v0.1 lies elsewhere: those are gone through from the beginning.
    if (cursor.interleaved) {
      const { offset, itemsLeft, timeLo, timeHi } = tracker.place;
      cursor.continueAt(offset, itemsLeft, 0, timeLo, timeHi);
    }
    while (cursor.next()) if (hasWrongSize(trace, cursor)) break;
    throw wrongSize(trace, cursor);
  } catch (error) {
    throw placeInSegment(error, segment);
  }
}

/** The instructions born in one segment. */
export async function kernelBlockOf(
  kernel: BlocksKernel,
  trace: Trace,
  core: CpuCore,
  segment: number,
  options: BlockOptions,
): Promise<InstructionBlock> {
  const entities = requireEntities(core);
  const { signal, lookback = DEFAULT_SEGMENTS, lookahead = DEFAULT_SEGMENTS } = options;
  const turns = new Turns(signal);
  const access = await SegmentAccess.of(trace);
  const { timeStartPs } = await access.entry(segment);
  const first = Math.min(segment, await segmentToBeginWith(access, entities, timeStartPs, lookback));
  const base = await birthsBefore(trace, core, entities, access, first, options);
  const tracker = new KernelTracker(kernel, trace, core, entities, false);
  const checkpoints = access.checkpointsOf(entities);
  const last = Math.min(access.count - 1, segment + lookahead);
  const reachesEnd = last === access.count - 1;
  let births = 0;
  const window = await access.window();
  try {
    for (let index = first; index <= last; index++) {
      await turns.next();
      const loaded = await window.load(index);
      if (index === segment) {
        tracker.unfollow();
        births = tracker.births;
      }
      const isFirst = index === first;
      const state = isFirst
        ? await access.catalogBefore(loaded, entities, checkpoints)
        : checkpoints?.at(loaded);
      if (state) tracker.listed(state, loaded.header.timeStartPs, isFirst);
      // In flight where the trace begins: they belong to its first block. Those of a later segment belong to an earlier one.
      if (isFirst && first > 0) tracker.unfollow();
      tracker.begin(loaded);
      if (index > segment) tracker.watch(tracker.rows);
      for (let result: Result = Result.SLICE; result === Result.SLICE; await turns.next()) {
        result = followSlice(trace, tracker, loaded);
      }
      if (index < segment) continue;
      tracker.stopBirths();
      if (tracker.inFlight === 0) break;
    }
  } finally {
    window.close();
  }
  return tracker.takeFirst(tracker.rows, { segment, reachesEnd, base, births });
}
