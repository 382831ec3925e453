/** The instructions of a core, each with its whole life, streamed. */
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, packedSize } from '../../format/types.js';
import type { LoadedSegment, TimePs, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import { type CpuCore, requireEntities, requirePeriod } from './cores.js';
import { segmentToBeginWith } from './history.js';
import { type Instruction, InstructionEnd } from './lifecycle.js';
import { birthsBefore, type Numbering } from './numbering.js';
import { SegmentAccess } from './segments.js';
import { labelOf, type Tracked, Tracker } from './tracker.js';

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
  /** Segments read behind the range to find the end of those in flight at its end. Default 16; 0 stops at the end of the range. */
  readonly lookahead?: number | undefined;
  /** Whether `seq` is found out: always, where it is quick (default), or never. */
  readonly numbering?: Numbering | undefined;
}

const DEFAULT_SEGMENTS = 16;
/** Ended instructions handed out at a time. */
const BATCH = 1024;
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
  if (access.entries.length === 0 || from === to) return;
  const first = await segmentToBeginWith(access, entities, from, lookback);
  const base = await birthsBefore(trace, core, entities, access, first, numbering);
  const walk = new LifecycleWalk(
    trace,
    core,
    new Tracker(core, entities, trace.isInterleaved, first > 0),
    to ?? null,
  );
  const toInstructions = (all: boolean): Promise<Instruction[]> =>
    finish(trace, walk.tracker.take(all, MAX_HELD), from, base);
  for await (const segment of segmentsOf(access, walk, first, to, lookahead)) {
    if (segment.index === first) walk.tracker.begin(await access.stateBefore(segment));
    walk.begin(segment);
    while (walk.run()) yield* await toInstructions(false);
    if (walk.isDone) break;
    yield* await toInstructions(false);
  }
  yield* await toInstructions(true);
}

/** Range in ps; `to` undefined: to the end. */
export function rangeInPs(core: CpuCore, range: CoreRange): { from: bigint; to: bigint | undefined } {
  const scale = range.unit === 'cycles' ? requirePeriod(core) : 1n;
  const from = BigInt(range.from ?? 0) * scale;
  const to = range.to === undefined ? undefined : BigInt(range.to) * scale;
  if (to !== undefined && to < from) {
    throw new UscopeError('READER_RANGE', `the range ends at ${to} ps, before it begins at ${from} ps`);
  }
  return { from: from < 0n ? 0n : from, to: to !== undefined && to < 0n ? 0n : to };
}

/** Those of the range, then one by one those in which its instructions in flight may end. */
async function* segmentsOf(
  access: SegmentAccess,
  walk: LifecycleWalk,
  first: number,
  to: bigint | undefined,
  lookahead: number,
): AsyncGenerator<LoadedSegment> {
  let next = first;
  // A range in front of the first segment is empty, but that segment is where to find that out.
  const start = access.entries[first].timeStartPs;
  const end = to !== undefined && to <= start ? start + 1n : to;
  for await (const segment of access.from(first, end)) {
    next = segment.index + 1;
    yield segment;
  }
  const last = Math.min(access.entries.length, next + lookahead);
  for (; next < last && walk.tracker.inFlight > 0 && !walk.isDone; next++) yield access.load(next);
}

/** Leads a tracker through segments. */
class LifecycleWalk {
  /** The range has ended, and everything in flight then. */
  isDone = false;
  private segment!: LoadedSegment;
  private cursor!: FrameCursor;
  private isPast = false;
  private readonly payloadSizes: Uint32Array;

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    readonly tracker: Tracker,
    private readonly to: bigint | null,
  ) {
    this.payloadSizes = Uint32Array.from(trace.schema.events, (event) => packedSize(event.fields));
  }

  begin(segment: LoadedSegment): void {
    this.segment = segment;
    this.cursor = segment.cursor();
  }

  /** True when a batch has ended and there is more in the segment; false at the end of segment or range. */
  run(): boolean {
    try {
      return this.step();
    } catch (error) {
      throw placeInSegment(error, this.segment);
    }
  }

  private step(): boolean {
    const { cursor, tracker } = this;
    while (cursor.next()) {
      if (cursor.kind === CursorItem.OP) tracker.op(cursor);
      else if (cursor.kind === CursorItem.EVENT) this.event(cursor);
      else {
        tracker.frame();
        if (this.hasLeft(cursor)) return false;
        if (tracker.ended >= BATCH) {
          tracker.ended = 0;
          return true;
        }
      }
    }
    return false;
  }

  /** At a frame: whether nothing that follows matters any more. */
  private hasLeft(cursor: FrameCursor): boolean {
    if (this.to === null) return false;
    if (!this.isPast && cursor.time >= Number(this.to) && cursor.timePs >= this.to) {
      this.isPast = true;
      this.tracker.stopBirths();
    }
    this.isDone = this.isPast && this.tracker.inFlight === 0;
    return this.isDone;
  }

  private event(cursor: FrameCursor): void {
    const size = this.payloadSizes[cursor.eventType];
    if (size === cursor.payloadSize) this.tracker.event(cursor);
    else if (size !== undefined) {
      const { name } = this.trace.schema.events[cursor.eventType];
      throw new UscopeError(
        'FORMAT_LENGTH',
        `event "${name}" of ${this.core.name} at ${cursor.timePs} ps has ${cursor.payloadSize} bytes, its fields take ${size}`,
        { offset: cursor.itemOffset },
      );
    }
  }
}

/** What was tracked as instructions, without those that ended before the range. */
async function finish(
  trace: Trace,
  tracked: readonly Tracked[],
  from: bigint,
  base: bigint | null,
): Promise<Instruction[]> {
  // Some writers flush without ever clearing: what was flushed before the range is no longer in flight either.
  const wanted = tracked.filter(({ endPs, flush }) => {
    const until = endPs ?? flush?.timePs;
    return until === undefined || until >= from;
  });
  await trace.strings.load(new Set(wanted.flatMap(({ annotations }) => annotations.map((a) => a.string))));
  const result = wanted.map((one) => toInstruction(trace, one, base));
  // The producers must not be kept alive by those who waited for them.
  for (const one of tracked) one.dependencies = [];
  return result;
}

function toInstruction(trace: Trace, tracked: Tracked, base: bigint | null): Instruction {
  const { id, bits, hasBits, isCompressed, thread, birthPs, stages, stalls, flush, trap } = tracked;
  const { end, endPs, isAbridged } = tracked;
  return {
    id,
    seq: seqOf(tracked, base),
    pc: pcOf(tracked),
    bits: hasBits ? bits : null,
    isCompressed,
    thread,
    birthPs,
    stages,
    stalls,
    annotations: tracked.annotations.map(({ timePs, string }) => ({
      timePs,
      text: trace.strings.peek(string) ?? `#${string}`,
    })),
    dependencies: tracked.dependencies.map(({ timePs, on, producer, type }) => ({
      timePs,
      on,
      seq: producer && seqOf(producer, base),
      pc: producer && pcOf(producer),
      type,
    })),
    flush,
    trap,
    end: endPs === null ? InstructionEnd.IN_FLIGHT : end,
    endPs,
    isAbridged,
  };
}

function seqOf({ ordinal }: Tracked, base: bigint | null): bigint | null {
  return base === null || ordinal < 0 ? null : base + BigInt(ordinal);
}

function pcOf({ hasPc, pcLo, pcHi }: Tracked): bigint | null {
  return hasPc ? (BigInt(pcHi) << 32n) | BigInt(pcLo) : null;
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
