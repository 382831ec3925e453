/** Leads a tracker of things that are born and end (instructions, transactions) through the frames of a range and around it. */
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor, type ItemLimits, type ItemVisitor } from '../../format/frame.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';

/** Ended things handed out at a time. */
const BATCH = 1024;
const TWO_32 = 2 ** 32;

export interface LifecycleTracker {
  /** Followed and not ended. */
  readonly inFlight: number;
  /** Ended since this was last set to 0. */
  ended: number;
  /** A frame begins. */
  frame(): void;
  op(cursor: FrameCursor): void;
  /** The payload has the size that the schema says. */
  event(cursor: FrameCursor): void;
  /** From here on nobody new is followed: the range has ended, only those in flight matter. */
  stopBirths(): void;
}

/** Leads a tracker through segments. */
export class LifecycleWalk {
  /** The range has ended, and everything in flight then. */
  isDone = false;
  private segment!: LoadedSegment;
  private cursor!: FrameCursor;
  private isPast = false;
  private readonly limits: ItemLimits;
  private readonly visitor: ItemVisitor;
  /** The end of the range in u32 halves; -1: there is none. */
  private readonly toLo: number;
  private readonly toHi: number;

  constructor(
    private readonly trace: Trace,
    readonly tracker: LifecycleTracker,
    private readonly to: bigint | null,
    /** At a frame: nothing that follows matters. */
    private readonly isOver: () => boolean = () => false,
  ) {
    this.limits = trace.itemLimits;
    this.toLo = to === null ? -1 : Number(to & 0xffff_ffffn);
    this.toHi = to === null ? -1 : Number(to >> 32n);
    this.visitor = {
      frame: () => this.entered(),
      op: (cursor) => tracker.op(cursor),
      event: (cursor) => tracker.event(cursor),
    };
  }

  /** Something that counts is in flight. */
  get hasMore(): boolean {
    return this.tracker.inFlight > 0 && !this.isDone;
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

  /** Ordinary frames and items in one loop, the others one by one. */
  private step(): boolean {
    const { cursor, tracker } = this;
    while (cursor.next()) {
      if (cursor.kind === CursorItem.OP) tracker.op(cursor);
      else if (cursor.kind === CursorItem.EVENT) this.event(cursor);
      else {
        this.pass(cursor);
        if (!this.entered()) return this.pause();
      }
      if (!cursor.run(this.limits, this.visitor, this.runEnd(cursor))) return this.pause();
    }
    return false;
  }

  /** The tracker says nothing by what it returns from ops and events: only frames end a run. */
  private pause(): boolean {
    this.tracker.ended = 0;
    return !this.isDone;
  }

  /** Frames from here on (low half of their time) are for `pass` to look at. */
  private runEnd({ timeHi }: FrameCursor): number {
    return !this.isPast && timeHi === this.toHi ? this.toLo : TWO_32;
  }

  /** The end of the range is passed. */
  private pass({ timePs }: FrameCursor): void {
    if (this.to === null || this.isPast || timePs < this.to) return;
    this.isPast = true;
    this.tracker.stopBirths();
  }

  /** At a frame: false where nothing that follows matters any more, or a batch has ended. */
  private entered(): boolean {
    const { tracker } = this;
    tracker.frame();
    // No condition is skipped: code that V8 has never seen run would be compiled anew, all that it was inlined into too, in mid-range.
    const [isEmpty, isBatch, isOver] = [tracker.inFlight === 0, tracker.ended >= BATCH, this.isOver()];
    this.isDone = (this.isPast && isEmpty) || isOver;
    return !this.isDone && !isBatch;
  }

  private event(cursor: FrameCursor): void {
    const size = this.limits.payloadSizes[cursor.eventType];
    if (size === cursor.payloadSize) this.tracker.event(cursor);
    else if (hasWrongSize(this.trace, cursor)) throw wrongSize(this.trace, cursor);
  }
}

/** True if the item is an event that the schema knows, with a payload that does not have the size that its fields take. */
export function hasWrongSize({ itemLimits, schema }: Trace, { kind, eventType, payloadSize }: FrameCursor) {
  const isKnown = kind === CursorItem.EVENT && eventType < schema.events.length;
  return isKnown && payloadSize !== itemLimits.payloadSizes[eventType];
}

/** Of an event whose payload does not have the size that its fields take. */
export function wrongSize(
  trace: Trace,
  { eventType, timePs, payloadSize, itemOffset }: FrameCursor,
): UscopeError {
  const name = trace.names.eventNames[eventType];
  const size = trace.itemLimits.payloadSizes[eventType];
  return new UscopeError(
    'FORMAT_LENGTH',
    `event "${name}" at ${timePs} ps has ${payloadSize} bytes, its fields take ${size}`,
    { offset: itemOffset },
  );
}
