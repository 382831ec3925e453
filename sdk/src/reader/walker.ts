/** Frames, items and events of a range of time, in file order; the next segment is loaded while the present one is looked at. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import type { Action, Frame, Item } from '../format/types.js';
import { rangeBounds } from './arguments.js';
import { giveBack, takeKernel } from './kernel/segment-kernel.js';
import type { NameIndex } from './names.js';
import { payloadLayout, TraceEvent } from './payload.js';
import { type ScanVisitor, type SchemaChecks, SegmentScan, scanRange } from './scan.js';
import type { SegmentList } from './segment-list.js';
import type { LoadedSegment, SegmentLoader } from './segment-loader.js';

export type TimePs = number | bigint;

/** Start inclusive, end exclusive; by default the whole trace. */
export interface TimeRange {
  readonly from?: TimePs | undefined;
  readonly to?: TimePs | undefined;
}

/** One op or event, with the time of its frame. `item.value` is the full u64 of the delta. */
export interface TimedItem {
  readonly timePs: bigint;
  readonly item: Item;
}

export class Walker {
  private readonly payloadOffsets: readonly (readonly number[])[];

  constructor(
    private readonly list: SegmentList,
    private readonly loader: SegmentLoader,
    private readonly checks: SchemaChecks,
    private readonly names: NameIndex,
  ) {
    this.payloadOffsets = names.schema.events.map((event) => payloadLayout(event.fields).offsets);
  }

  /** Decompresses one segment after the other into the same memory, just before it is looked at. */
  async scan(range: TimeRange, visitor: ScanVisitor): Promise<void> {
    const scan = this.begin(range);
    const kernel = takeKernel();
    try {
      for await (const packed of this.inRange(range, (index) => this.loader.packed(index))) {
        const segment = await this.loader.unpack(packed, kernel);
        if (visitor.segment && (await visitor.segment(segment)) === false) return;
        scan.begin(segment);
        if (!scan.visit(visitor)) return;
      }
    } finally {
      giveBack(kernel);
    }
  }

  /**
   * The same for one segment, whose bytes in the file are kept for the next question; nothing is read ahead. False: the visitor or the range ended it.
   */
  async scanSegment(index: number, range: TimeRange, visitor: ScanVisitor): Promise<boolean> {
    const scan = this.begin(range);
    return this.loader.inPlace(index, 0, async (segment) => {
      if (visitor.segment && (await visitor.segment(segment)) === false) return false;
      scan.begin(segment);
      return scan.visit(visitor);
    });
  }

  async *frames(range: TimeRange): AsyncGenerator<Frame> {
    const scan = this.begin(range);
    for await (const segment of this.segments(range)) {
      const cursor = scan.begin(segment);
      let frame: { timePs: bigint; items: Item[] } | null = null;
      while (scan.next()) {
        if (cursor.kind !== CursorItem.FRAME) {
          frame!.items.push(itemOf(cursor));
          continue;
        }
        if (frame) yield frame;
        frame = { timePs: cursor.timePs, items: [] };
      }
      if (frame) yield frame;
      if (scan.isDone) return;
    }
  }

  async *items(range: TimeRange): AsyncGenerator<TimedItem> {
    const scan = this.begin(range);
    for await (const segment of this.segments(range)) {
      const cursor = scan.begin(segment);
      while (scan.next()) {
        if (cursor.kind !== CursorItem.FRAME) yield { timePs: cursor.timePs, item: itemOf(cursor) };
      }
      if (scan.isDone) return;
    }
  }

  async *events(range: TimeRange, types?: readonly (string | number)[]): AsyncGenerator<TraceEvent> {
    const wanted = types && new Set(types.map((type) => this.names.event(type).eventTypeId));
    const scan = this.begin(range);
    for await (const segment of this.segments(range)) {
      const cursor = scan.begin(segment);
      while (scan.next()) {
        if (cursor.kind !== CursorItem.EVENT || (wanted && !wanted.has(cursor.eventType))) continue;
        yield this.event(cursor);
      }
      if (scan.isDone) return;
    }
  }

  /** The segments that may hold frames of the range. */
  segments(range: TimeRange): AsyncGenerator<LoadedSegment> {
    return this.inRange(range, (index) => this.loader.load(index));
  }

  /** Segments in file order from `first` on, as long as they start before `to`. */
  segmentsFrom(first: number, to: bigint | null): AsyncGenerator<LoadedSegment> {
    return this.ahead(first, to, (index) => this.loader.load(index));
  }

  /** The same, each decompressed over the one before. */
  async *segmentsInPlace(first: number, to: bigint | null): AsyncGenerator<LoadedSegment> {
    const kernel = takeKernel();
    try {
      for await (const packed of this.ahead(first, to, (index) => this.loader.packed(index))) {
        yield await this.loader.unpack(packed, kernel);
      }
    } finally {
      giveBack(kernel);
    }
  }

  private async *inRange<T>(range: TimeRange, load: (index: number) => Promise<T>): AsyncGenerator<T> {
    const [from, to] = bounds(range);
    yield* this.ahead(await this.list.firstReaching(from), to, load);
  }

  private async *ahead<T>(
    first: number,
    to: bigint | null,
    load: (index: number) => Promise<T>,
  ): AsyncGenerator<T> {
    let index = first;
    let coming = this.load(index, to, load);
    for (let segment = await coming; segment !== null; segment = await coming) {
      index++;
      coming = this.load(index, to, load);
      yield segment;
    }
  }

  private begin(range: TimeRange): SegmentScan {
    return new SegmentScan(scanRange(...bounds(range)), this.checks);
  }

  private load<T>(index: number, to: bigint | null, load: (index: number) => Promise<T>): Promise<T | null> {
    const loading = this.loadWithin(index, to, load);
    // A consumer that stops early never awaits what was loaded ahead for it; its failure is then nobody's.
    loading.catch(() => undefined);
    return loading;
  }

  private async loadWithin<T>(
    index: number,
    to: bigint | null,
    load: (index: number) => Promise<T>,
  ): Promise<T | null> {
    if (index >= this.list.count) return null;
    if (to === null || (await this.list.entry(index)).timeStartPs < to) return load(index);
    await this.loader.confirm(index);
    return null;
  }

  private event(cursor: FrameCursor): TraceEvent {
    const type = cursor.eventType;
    const def = this.names.schema.events[type];
    return new TraceEvent(
      cursor.timePs,
      def,
      this.names.eventNames[type],
      cursor.payload,
      this.payloadOffsets[type],
      this.names.schema.enums,
    );
  }
}

function bounds(range: TimeRange): [from: bigint, to: bigint | null] {
  const { from, to } = rangeBounds(range);
  return [from, to];
}

function itemOf(cursor: FrameCursor): Item {
  if (cursor.kind === CursorItem.EVENT) {
    return { kind: 'event', eventTypeId: cursor.eventType, payload: cursor.payload };
  }
  const { storageId, slot, field, value } = cursor;
  return { kind: 'op', action: cursor.action as Action, storageId, slot, field, value };
}
