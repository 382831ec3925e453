/** The instructions of a core, each with its whole life, streamed. */

import { UscopeError } from '../../base/errors.js';
import { Action } from '../../format/types.js';
import type { TimePs, Trace } from '../../reader/index.js';
import { controlEventOf } from '../../schema/control.js';
import { CatalogueCheckpoints } from '../common/catalogue-checkpoint.js';
import { segmentToBeginWith } from '../lifecycle/history.js';
import { LifecycleWalk, segmentsToWalk } from '../lifecycle/lifecycle-walk.js';
import { SegmentAccess } from '../lifecycle/segments.js';
import { type CpuCore, requireEntities, requirePeriod } from './cores.js';
import { Finishing } from './finishing.js';
import type { Instruction } from './lifecycle.js';
import { birthsBefore, type Numbering } from './numbering.js';
import { labelOf, Tracker } from './tracker.js';

/** Start inclusive, end exclusive; by default the whole trace. */
export interface CoreRange {
  readonly from?: TimePs | undefined;
  readonly to?: TimePs | undefined;
  /** What `from` and `to` count: picoseconds (default) or cycles of the core's clock. */
  readonly unit?: 'ps' | 'cycles' | undefined;
}

export interface InstructionOptions {
  /** Segments read before the range to find the birth of those in flight at its start. Default 16. */
  readonly lookback?: number | undefined;
  /** Segments read after the range to find the end of those in flight at its end. Default 16; 0 stops at the end of the range. */
  readonly lookahead?: number | undefined;
  /** Whether `seq` is found out: always, where it is quick (default), or never. */
  readonly numbering?: Numbering | undefined;
  /** Which stages are reported: all of an instruction's life (default), or those of the range, the last one before it and the last one after it. */
  readonly stages?: 'all' | 'range' | undefined;
}

const DEFAULT_SEGMENTS = 16;
/** Ended instructions that may wait for an older one in flight. */
const MAX_HELD = 65_536;

/**
 * The instructions in flight at some time of a range, in order of birth; one that ends when the range begins is among them. Memory is
 * bounded: an instruction for which 65,536 younger ones, already ended, would have to wait comes after those.
 * @throws UscopeError READER_NAME (the core records no instructions), READER_NO_CYCLES (cycles asked of a clock without period),
 *   READER_RANGE (the range ends before it begins), FORMAT_* for damage
 */
export async function* instructions(
  trace: Trace,
  core: CpuCore,
  range: CoreRange = {},
  options: InstructionOptions = {},
): AsyncGenerator<Instruction> {
  const entities = requireEntities(core);
  const { from, to } = rangeInPs(core, range);
  const { lookback = DEFAULT_SEGMENTS, lookahead = DEFAULT_SEGMENTS, numbering = 'cheap' } = options;
  const access = await SegmentAccess.of(trace);
  if (access.count === 0 || from === to) return;
  const first = await segmentToBeginWith(access, entities, from, lookback);
  const tracker = new Tracker(core, entities, trace.isInterleaved, first > 0, controlEventOf(trace.schema));
  if (options.stages === 'range') tracker.keepStagesOf(from, to);
  const walk = new LifecycleWalk(trace, tracker, to ?? null);
  const checkpoints = CatalogueCheckpoints.of(trace, entities.def);
  const counting = () => birthsBefore(trace, core, entities, access, first, numbering);
  const finishing = new Finishing(trace, core, from, counting);
  const toInstructions = (all: boolean): Promise<Instruction[]> =>
    finishing.finish(tracker.take(all, MAX_HELD));
  for await (const segment of segmentsToWalk(access, walk, first, to, lookahead)) {
    if (segment.index === first) tracker.begin(await access.catalogueBefore(segment, entities, checkpoints));
    else if (checkpoints) tracker.continueFrom(checkpoints.at(segment), segment.header.timeStartPs);
    walk.begin(segment);
    while (walk.run()) yield* await toInstructions(false);
    if (walk.isDone) break;
    yield* await toInstructions(false);
  }
  yield* await toInstructions(true);
}

/** Range in ps; `to` undefined: to the end. */
export function rangeInPs(
  core: Parameters<typeof requirePeriod>[0],
  range: CoreRange,
): { from: bigint; to: bigint | undefined } {
  const scale = range.unit === 'cycles' ? requirePeriod(core) : 1n;
  const from = BigInt(range.from ?? 0) * scale;
  const to = range.to === undefined ? undefined : BigInt(range.to) * scale;
  if (to !== undefined && to < from) {
    throw new UscopeError('READER_RANGE', `the range ends at ${to} ps, before it begins at ${from} ps`);
  }
  return { from: from < 0n ? 0n : from, to: to !== undefined && to < 0n ? 0n : to };
}

/**
 * When an instruction at an address is fetched for the first time in a range; null when none is.
 * @throws UscopeError READER_NAME (the core records no instructions or no addresses), FORMAT_* for damage
 */
export async function firstAt(
  trace: Trace,
  core: CpuCore,
  pc: bigint,
  range: CoreRange = {},
): Promise<bigint | null> {
  const { def, pcField } = requireEntities(core);
  if (pcField < 0) {
    throw new UscopeError('READER_NAME', `the instructions of ${core.name} have no field "pc"`);
  }
  const [lo, hi] = [Number(pc & 0xffff_ffffn), Number(pc >> 32n)];
  let found: bigint | null = null;
  await trace.scan(rangeInPs(core, range), {
    op: (cursor) => {
      if (cursor.storageId !== def.storageId || cursor.field !== pcField) return true;
      if (cursor.action !== Action.SET || cursor.lo !== lo || cursor.hi !== hi) return true;
      found = cursor.timePs;
      return false;
    },
  });
  return found;
}

export interface CoreStall {
  readonly timePs: bigint;
  /** Label of the reason; the number where it has none. */
  readonly reason: string;
}

/** The stall events of a core in a range, in file order. */
export async function* stalls(trace: Trace, core: CpuCore, range: CoreRange = {}): AsyncGenerator<CoreStall> {
  const { from, to } = rangeInPs(core, range);
  const event = core.events.get('stall');
  if (!event || from === to) return;
  const labels = event.fields.get('reason')?.labels ?? null;
  for await (const stall of trace.events(from, to, [event.def.eventTypeId])) {
    yield { timePs: stall.timePs, reason: labelOf(labels, Number(stall.field('reason') ?? 0n)) };
  }
}
