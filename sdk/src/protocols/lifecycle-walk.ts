/** Leads a tracker of things that are born and end (instructions, transactions) through the frames of a range and around it. */
import { UscopeError } from '../base/errors.js';
import { CursorItem, type FrameCursor } from '../format/frame.js';
import { packedSize } from '../format/types.js';
import type { LoadedSegment, Trace } from '../reader/index.js';
import { placeInSegment } from '../reader/segment-loader.js';
import type { SegmentAccess } from './cpu/segments.js';

/** Ended things handed out at a time. */
const BATCH = 1024;

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

/** The segments of the range, then one by one those in which what is in flight at its end may end. */
export async function* segmentsToWalk(
  access: SegmentAccess,
  walk: LifecycleWalk,
  first: number,
  to: bigint | undefined,
  lookahead: number,
): AsyncGenerator<LoadedSegment> {
  let next = first;
  // A range in front of the first segment is empty, but that segment is where to find that out.
  const start = await access.start(first);
  const end = to !== undefined && to <= start ? start + 1n : to;
  for await (const segment of access.from(first, end)) {
    next = segment.index + 1;
    yield segment;
  }
  const last = Math.min(access.count, next + lookahead);
  for (; next < last && walk.tracker.inFlight > 0 && !walk.isDone; next++) yield access.load(next);
}

/** Leads a tracker through segments. */
export class LifecycleWalk {
  /** The range has ended, and everything in flight then. */
  isDone = false;
  private segment!: LoadedSegment;
  private cursor!: FrameCursor;
  private isPast = false;
  private readonly payloadSizes: Uint32Array;

  constructor(
    private readonly trace: Trace,
    readonly tracker: LifecycleTracker,
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
      const name = this.trace.names.eventNames[cursor.eventType];
      throw new UscopeError(
        'FORMAT_LENGTH',
        `event "${name}" at ${cursor.timePs} ps has ${cursor.payloadSize} bytes, its fields take ${size}`,
        { offset: cursor.itemOffset },
      );
    }
  }
}
