/** When slots of a storage are taken in a segment, or events of a type happen: ordinary frames by compiled code, where there is some. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import { Action, type Schema } from '../format/types.js';
import { type KernelWatch, type Watched, WatchPlan } from './kernel/watch.js';
import type { SchemaChecks } from './scan.js';
import { type LoadedSegment, placeInSegment, type SegmentLoader } from './segment-loader.js';

/** In the order of the file. */
export interface Found {
  /** In ps. */
  readonly times: Float64Array;
  /** Slots that were taken; of events zeros. */
  readonly slots: Uint16Array;
}

export class SegmentWatch {
  private readonly plan: WatchPlan;

  constructor(
    schema: Schema,
    private readonly loader: SegmentLoader,
    private readonly checks: SchemaChecks,
  ) {
    this.plan = new WatchPlan(schema);
  }

  /** @param watched made when the segment is known @throws UscopeError FORMAT_* for damage */
  async find(index: number, watched: (segment: LoadedSegment) => Watched | Promise<Watched>): Promise<Found> {
    return this.loader.inPlace(index, this.plan.space, async (segment, kernel) => {
      const wanted = await watched(segment);
      const isInterleaved = segment.cursor().interleaved;
      const compiled = kernel && isInterleaved ? this.plan.enter(kernel, segment.deltas, wanted) : null;
      return this.run(segment, wanted, compiled);
    });
  }

  private run(segment: LoadedSegment, watched: Watched, compiled: KernelWatch | null): Found {
    const found = new GrowingFound();
    const cursor = segment.cursor();
    const taken = compiled?.taken ?? watched.taken ?? new Uint8Array(0);
    const { untilPs = null } = watched;
    const goOn = (): void => compiled?.advance(cursor, (times, slots) => found.addAll(times, slots));
    try {
      goOn();
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME) {
          if (untilPs !== null && cursor.timePs > untilPs) break;
        } else if (this.isFound(cursor, watched, taken)) found.add(timeOf(cursor), slotOf(cursor));
        goOn();
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
    return found.finish();
  }

  /** One item, which is checked. */
  private isFound(cursor: FrameCursor, { storageId, eventType, label, fromPs }: Watched, taken: Uint8Array) {
    if (cursor.kind === CursorItem.EVENT) {
      if (!this.checks.event(cursor) || cursor.eventType !== eventType) return false;
      if (fromPs !== undefined && cursor.timePs < fromPs) return false;
      return !label || label.wanted[cursor.bytes[cursor.payloadOffset + label.offset]!] === 1;
    }
    if (!this.checks.op(cursor) || cursor.storageId !== storageId) return false;
    const { action, slot } = cursor;
    if (action === Action.PROP_SET || slot >= taken.length) return false;
    const isBirth = action !== Action.CLEAR && !taken[slot];
    taken[slot] = action === Action.CLEAR ? 0 : 1;
    return isBirth;
  }
}

function timeOf({ timeHi, timeLo }: FrameCursor): number {
  return timeHi * 2 ** 32 + timeLo;
}

function slotOf(cursor: FrameCursor): number {
  return cursor.kind === CursorItem.OP ? cursor.slot : 0;
}

class GrowingFound {
  private times = new Float64Array(1024);
  private slots = new Uint16Array(1024);
  private count = 0;

  add(time: number, slot: number): void {
    this.reserve(1);
    this.times[this.count] = time;
    this.slots[this.count++] = slot;
  }

  addAll(times: BigUint64Array, slots: Uint16Array): void {
    this.reserve(times.length);
    const words = new Uint32Array(times.buffer, times.byteOffset, times.length * 2);
    for (let index = 0; index < times.length; index++) {
      this.times[this.count + index] = words[2 * index + 1]! * 2 ** 32 + words[2 * index]!;
    }
    this.slots.set(slots, this.count);
    this.count += times.length;
  }

  finish(): Found {
    return { times: this.times.slice(0, this.count), slots: this.slots.slice(0, this.count) };
  }

  private reserve(more: number): void {
    if (this.count + more <= this.times.length) return;
    const length = Math.max(this.times.length * 2, this.count + more);
    const [times, slots] = [new Float64Array(length), new Uint16Array(length)];
    times.set(this.times);
    slots.set(this.slots);
    [this.times, this.slots] = [times, slots];
  }
}
