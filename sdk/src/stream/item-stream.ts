/** Frames, ops and events of a range one after the other, to be pulled: what compares or joins several traces moves each at its own pace. */
import { isUscopeError } from '../base/errors.js';
import { CursorItem, type FrameCursor } from '../format/frame.js';
import type { LoadedSegment, TimeRange, Trace } from '../reader/index.js';
import { SchemaChecks, SegmentScan, scanRange } from '../reader/scan.js';
import { Warnings } from '../reader/warnings.js';

/**
 * `nextSegment()` waits for data, `next()` does not: nothing is awaited or allocated per item. Memory is that of one segment and the one
 * loaded ahead.
 *
 *   while (await stream.nextSegment()) while (stream.next()) use(stream.cursor);
 */
export class ItemStream {
  /** At the present frame, op or event. Another object after `nextSegment`. */
  cursor!: FrameCursor;
  segment!: LoadedSegment;
  /** Segments begun. */
  segmentsRead = 0;
  private readonly scan: SegmentScan;
  private readonly segments: AsyncGenerator<LoadedSegment>;

  constructor(
    readonly trace: Trace,
    range: TimeRange = {},
  ) {
    const from = BigInt(range.from ?? 0);
    const to = range.to === undefined ? null : BigInt(range.to);
    // The trace itself has reported what is odd in it before its content is copied or compared.
    const checks = new SchemaChecks(trace.schema, trace.session !== null, new Warnings());
    this.scan = new SegmentScan(scanRange(from, to), checks);
    this.segments = trace.loadedSegments(range);
  }

  /** False at the end of the range. @throws UscopeError FORMAT_* */
  async nextSegment(): Promise<boolean> {
    if (this.scan.isDone) return false;
    const { value, done } = await this.segments.next();
    if (done) return false;
    this.segment = value;
    this.cursor = this.scan.begin(value);
    this.segmentsRead++;
    return true;
  }

  /**
   * To the next frame, op or event of the segment that is in range; false after the last. Ids have been checked, but in files of other
   * writers an op may name a slot beyond its storage.
   * @throws UscopeError FORMAT_*
   */
  next(): boolean {
    return this.scan.next();
  }

  /** Discards what is loaded ahead. */
  async close(): Promise<void> {
    await this.segments.return(undefined);
  }
}

/** A stream of whole frames: `cursor` is at a frame's start, or `isDone`. */
export class FrameStream {
  isDone = false;

  constructor(
    readonly items: ItemStream,
    /** Awaited before the frames of a segment. */
    private readonly prepare: (segment: LoadedSegment) => Promise<unknown>,
    /** Named in errors. */
    private readonly file?: string,
  ) {}

  get cursor(): FrameCursor {
    return this.items.cursor;
  }

  /** To the first frame. */
  async open(): Promise<void> {
    await this.advance();
  }

  /** To the first frame of the next segment that has one in range. */
  async advance(): Promise<void> {
    try {
      while (await this.items.nextSegment()) {
        await this.prepare(this.items.segment);
        if (this.items.next()) return;
      }
    } catch (error) {
      throw errorIn(error, this.file);
    }
    this.isDone = true;
  }

  /**
   * Hands out the items of the present frame and moves to the next one; false when the segment has no more: then `advance`.
   */
  takeFrame(take: (cursor: FrameCursor) => void): boolean {
    const { items } = this;
    try {
      while (items.next()) {
        if (items.cursor.kind === CursorItem.FRAME) return true;
        take(items.cursor);
      }
      return false;
    } catch (error) {
      throw errorIn(error, this.file);
    }
  }
}

/** An error of one of several files, with its name. */
export function errorIn(error: unknown, file: string | undefined): unknown {
  return isUscopeError(error) ? error.at({ file }) : error;
}
