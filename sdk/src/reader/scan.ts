/**
 * The hot loop over a segment's frames: range, checks against the schema, callbacks. The cursor itself is handed to the visitor, so that
 * nothing is allocated per item.
 */
import { UscopeError } from '../base/errors.js';
import {
  CursorItem,
  type FrameCursor,
  type ItemLimits,
  type ItemVisitor,
  itemLimits,
} from '../format/frame.js';
import { Action, packedSize, type Schema } from '../format/types.js';
import { type LoadedSegment, placeInSegment } from './segment-loader.js';
import type { Warnings } from './warnings.js';

/**
 * Called in file order. The cursor is the same object every time and moves on after the call. Returning `false` ends the scan.
 */
export interface ScanVisitor {
  /**
   * Before the frames of a segment; may return a promise, which is waited for (to load strings, for instance). The segment's deltas, and
   * payloads of its events, are overwritten by those of the next.
   */
  segment?(segment: LoadedSegment): unknown;
  /** At each frame in range, empty ones too: `timePs`, `numItems`. */
  frame?(cursor: FrameCursor): unknown;
  /** `action`, `storageId`, `slot`, `field`, `lo`, `hi`. Storage and field exist; the slot may lie beyond (see `Trace.scan`). */
  op?(cursor: FrameCursor): unknown;
  /** `eventType`, `payload…`. The type exists and the payload has its size. */
  event?(cursor: FrameCursor): unknown;
}

/** A range of time, start inclusive, end exclusive, as u32 halves for comparison without bigint. */
export interface ScanRange {
  readonly fromLo: number;
  readonly fromHi: number;
  readonly toLo: number;
  readonly toHi: number;
}

/** Frames outside the range are walked over. */
const NOBODY: ItemVisitor = {};

const TWO_32 = 2 ** 32;
const MAX_U64 = (1n << 64n) - 1n;

/** `to` null: to the end. A range that reaches past 2^64 - 1 ends there. */
export function scanRange(from: bigint, to: bigint | null): ScanRange {
  const start = from < 0n ? 0n : from > MAX_U64 ? MAX_U64 : from;
  const end = to === null || to > MAX_U64 ? null : to < 0n ? 0n : to;
  return {
    fromLo: Number(start & 0xffff_ffffn),
    fromHi: Number(start >> 32n),
    toLo: end === null ? 0 : Number(end & 0xffff_ffffn),
    toHi: end === null ? TWO_32 : Number(end >> 32n),
  };
}

/** What ops and events are checked against, as flat tables. */
export class SchemaChecks {
  private readonly numSlots: Uint32Array;
  private readonly numFields: Uint32Array;
  private readonly numProperties: Uint32Array;
  private readonly payloadSizes: Uint32Array;
  private knownLimits: ItemLimits | null = null;

  constructor(
    private readonly schema: Schema,
    /** Slots beyond a storage's end are damage in files of ours; another writer emits them, and its readers ignore them. */
    private readonly strictSlots: boolean,
    private readonly warnings: Warnings,
  ) {
    this.numSlots = Uint32Array.from(schema.storages, (storage) => storage.numSlots);
    this.numFields = Uint32Array.from(schema.storages, (storage) => storage.fields.length);
    this.numProperties = Uint32Array.from(schema.storages, (storage) => storage.properties.length);
    this.payloadSizes = Uint32Array.from(schema.events, (event) => packedSize(event.fields));
  }

  /** The same for code that must not look whether an id exists: large tables, made when first needed. */
  get limits(): ItemLimits {
    this.knownLimits ??= itemLimits(this.schema);
    return this.knownLimits;
  }

  /** False: the op names a slot that does not exist and changes no state. @throws UscopeError FORMAT_ID */
  op(cursor: FrameCursor): boolean {
    const { storageId } = cursor;
    // Nearly every op: read straight through, without a branch taken.
    if (
      storageId < this.numSlots.length &&
      cursor.action !== Action.PROP_SET &&
      cursor.slot < this.numSlots[storageId] &&
      cursor.field < this.numFields[storageId]
    ) {
      return true;
    }
    return this.rareOp(cursor);
  }

  /** Properties, CLEAR with any field, and what is wrong. */
  private rareOp(cursor: FrameCursor): boolean {
    const { storageId, action, field } = cursor;
    if (storageId >= this.numSlots.length) this.failId(cursor, `storage ${storageId}`, this.numSlots.length);
    if (action === Action.PROP_SET) {
      if (field >= this.numProperties[storageId])
        this.failField(cursor, 'property', this.numProperties[storageId]);
      return true;
    }
    if (action !== Action.CLEAR && field >= this.numFields[storageId]) {
      this.failField(cursor, 'field', this.numFields[storageId]);
    }
    return cursor.slot < this.numSlots[storageId] || this.outsideSlot(cursor);
  }

  /** False: an event type the schema does not define, to be skipped. @throws UscopeError FORMAT_LENGTH */
  event(cursor: FrameCursor): boolean {
    const { eventType, payloadSize } = cursor;
    if (eventType < this.payloadSizes.length) {
      if (payloadSize !== this.payloadSizes[eventType]) this.failPayload(cursor);
      return true;
    }
    this.warnings.add(
      'unknown-event',
      `events of type ${eventType} are not defined by the schema and skipped (first at ${cursor.timePs} ps)`,
    );
    return false;
  }

  private outsideSlot(cursor: FrameCursor): false {
    const { name, numSlots } = this.schema.storages[cursor.storageId];
    if (this.strictSlots) this.failId(cursor, `slot ${cursor.slot} of "${name}"`, numSlots);
    this.warnings.add(
      'slot-out-of-range',
      `ops on slots beyond the ${numSlots} of "${name}" do not change its state (first: slot ${cursor.slot} at ${cursor.timePs} ps)`,
    );
    return false;
  }

  private failField(cursor: FrameCursor, kind: string, count: number): never {
    this.failId(cursor, `${kind} ${cursor.field} of "${this.schema.storages[cursor.storageId].name}"`, count);
  }

  private failId(cursor: FrameCursor, what: string, count: number): never {
    throw new UscopeError(
      'FORMAT_ID',
      `an op at ${cursor.timePs} ps names ${what}, but there are only ${count} (byte ${cursor.itemOffset} of the deltas)`,
      { offset: cursor.itemOffset },
    );
  }

  private failPayload(cursor: FrameCursor): never {
    const def = this.schema.events[cursor.eventType];
    throw new UscopeError(
      'FORMAT_LENGTH',
      `event "${def.name}" at ${cursor.timePs} ps has ${cursor.payloadSize} bytes, its fields take ${packedSize(def.fields)}`,
      { offset: cursor.itemOffset },
    );
  }
}

/**
 * Walks segment after segment: `begin` a segment, then `next` moves its cursor to each frame, op and event that is in range and passes the
 * checks.
 */
export class SegmentScan {
  /** The range has been left: later segments hold nothing of it. */
  isDone = false;
  private segment!: LoadedSegment;
  private cursor!: FrameCursor;
  private inRange = false;
  private lastLo = 0;
  private lastHi = 0;

  constructor(
    private readonly range: ScanRange,
    private readonly checks: SchemaChecks,
  ) {}

  begin(segment: LoadedSegment): FrameCursor {
    this.segment = segment;
    this.inRange = false;
    this.cursor = segment.cursor();
    return this.cursor;
  }

  /** False at the end of the segment or range. @throws UscopeError FORMAT_* with the place in the file */
  next(): boolean {
    try {
      if (this.step(this.cursor)) return true;
    } catch (error) {
      throw placeInSegment(error, this.segment);
    }
    if (!this.isDone) this.checkFrameCount();
    return false;
  }

  /**
   * Hands the rest of the segment to a visitor; false when it or the range ended the scan. The same walk as with `next`, in one loop: this is
   * where the time of a scan goes.
   */
  visit(visitor: ScanVisitor): boolean {
    const { cursor, checks } = this;
    const { limits } = checks;
    const [wantsOps, wantsEvents] = [visitor.op !== undefined, visitor.event !== undefined];
    // What a visitor throws is its own business, and stays as it is.
    let isVisiting = false;
    let { inRange } = this;
    try {
      // The first frame is not left to `run`: it might lie before the segment's predecessor.
      while (cursor.next()) {
        if (cursor.kind === CursorItem.OP) {
          checks.op(cursor);
          if (wantsOps && inRange) {
            isVisiting = true;
            if (visitor.op!(cursor) === false) return false;
          }
        } else if (cursor.kind === CursorItem.EVENT) {
          if (checks.event(cursor) && wantsEvents && inRange) {
            isVisiting = true;
            if (visitor.event!(cursor) === false) return false;
          }
        } else {
          inRange = this.enterFrame(cursor);
          if (this.isDone) return false;
          if (visitor.frame && inRange) {
            isVisiting = true;
            if (visitor.frame(cursor) === false) return false;
          }
        }
        isVisiting = true;
        if (!cursor.run(limits, inRange ? visitor : NOBODY, this.runEnd(cursor, inRange))) return false;
        isVisiting = false;
      }
    } catch (error) {
      throw isVisiting ? error : placeInSegment(error, this.segment);
    }
    this.lastLo = cursor.timeLo;
    this.lastHi = cursor.timeHi;
    this.checkFrameCount();
    return true;
  }

  /** Frames up to here (low half) are like the present one: in range, or before it. */
  private runEnd({ timeHi }: FrameCursor, inRange: boolean): number {
    const { fromHi, fromLo, toHi, toLo } = this.range;
    const end = toHi === timeHi ? toLo : TWO_32;
    return !inRange && fromHi === timeHi ? Math.min(fromLo, end) : end;
  }

  private step(cursor: FrameCursor): boolean {
    const { checks } = this;
    while (cursor.next()) {
      if (cursor.kind === CursorItem.OP) {
        checks.op(cursor);
        if (this.inRange) return true;
      } else if (cursor.kind === CursorItem.EVENT) {
        if (checks.event(cursor) && this.inRange) return true;
      } else {
        this.inRange = this.enterFrame(cursor);
        if (this.isDone) return false;
        if (this.inRange) return true;
      }
    }
    return false;
  }

  /** At the start of a frame: whether it is in range; `isDone` where it is after it. */
  private enterFrame(cursor: FrameCursor): boolean {
    this.advance(cursor);
    this.isDone = this.isPast(cursor);
    return !this.isDone && this.hasBegun(cursor);
  }

  private advance(cursor: FrameCursor): void {
    const { timeLo, timeHi } = cursor;
    if (timeHi < this.lastHi || (timeHi === this.lastHi && timeLo < this.lastLo)) {
      const last = (BigInt(this.lastHi) << 32n) | BigInt(this.lastLo);
      throw new UscopeError(
        'FORMAT_VALUE',
        `time runs backwards: a frame at ${cursor.timePs} ps follows one at ${last} ps`,
        {
          offset: cursor.itemOffset,
        },
      );
    }
    this.lastLo = timeLo;
    this.lastHi = timeHi;
  }

  private hasBegun({ timeHi, timeLo }: FrameCursor): boolean {
    const { fromHi, fromLo } = this.range;
    return timeHi > fromHi || (timeHi === fromHi && timeLo >= fromLo);
  }

  private isPast({ timeHi, timeLo }: FrameCursor): boolean {
    const { toHi, toLo } = this.range;
    return timeHi > toHi || (timeHi === toHi && timeLo >= toLo);
  }

  private checkFrameCount(): void {
    const { header, offset } = this.segment;
    if (this.cursor.frames === header.numFrames) return;
    throw new UscopeError(
      'FORMAT_LENGTH',
      `the segment holds ${this.cursor.frames} frames, its header says ${header.numFrames}`,
      { offset },
    );
  }
}
