/** Frames, items and events of a range of time, in file order; the next segment is loaded while the present one is looked at. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import type { Action, Frame, Item } from '../format/types.js';
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

  async scan(range: TimeRange, visitor: ScanVisitor): Promise<void> {
    const scan = this.begin(range);
    for await (const segment of this.segments(range)) {
      if (visitor.segment && (await visitor.segment(segment)) === false) return;
      scan.begin(segment);
      if (!scan.visit(visitor)) return;
    }
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
  async *segments(range: TimeRange): AsyncGenerator<LoadedSegment> {
    const [from, to] = bounds(range);
    yield* this.segmentsFrom(await this.list.firstReaching(from), to);
  }

  /** Segments in file order from `first` on, as long as they start before `to`. */
  async *segmentsFrom(first: number, to: bigint | null): AsyncGenerator<LoadedSegment> {
    let index = first;
    let coming = this.load(index, to);
    for (let segment = await coming; segment !== null; segment = await coming) {
      index++;
      coming = this.load(index, to);
      yield segment;
    }
  }

  private begin(range: TimeRange): SegmentScan {
    return new SegmentScan(scanRange(...bounds(range)), this.checks);
  }

  private load(index: number, to: bigint | null): Promise<LoadedSegment | null> {
    const loading = this.loadWithin(index, to);
    // A consumer that stops early never awaits what was loaded ahead for it; its failure is then nobody's.
    loading.catch(() => undefined);
    return loading;
  }

  private async loadWithin(index: number, to: bigint | null): Promise<LoadedSegment | null> {
    if (index >= this.list.count) return null;
    if (to === null || (await this.list.entry(index)).timeStartPs < to) return this.loader.load(index);
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
    );
  }
}

function bounds({ from, to }: TimeRange): [from: bigint, to: bigint | null] {
  return [BigInt(from ?? 0), to === undefined ? null : BigInt(to)];
}

function itemOf(cursor: FrameCursor): Item {
  if (cursor.kind === CursorItem.EVENT) {
    return { kind: 'event', eventTypeId: cursor.eventType, payload: cursor.payload };
  }
  const { storageId, slot, field, value } = cursor;
  return { kind: 'op', action: cursor.action as Action, storageId, slot, field, value };
}
