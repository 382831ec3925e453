/** Walks the cycle frames of a delta blob (docs/reference/format.md#delta-blobs): the reader's hot loop. Nothing is allocated per item. */
import { EVENT_HEADER_SIZE, ItemTag, TAGGED_COMPACT_OP_SIZE, WIDE_OP_SIZE } from './constants.js';
import { FrameTime } from './frame-time.js';
import type { ItemLimits, ItemVisitor } from './item-limits.js';
import { Action } from './types.js';

/** What `FrameCursor.next()` stopped at. */
export const CursorItem = { FRAME: 0, OP: 1, EVENT: 2 } as const;

/** Of a frame of version 0.1. In an interleaved frame a compact op has a tag in front: 9 bytes, not the 8 the format text states. */
const COMPACT_OP_SIZE = TAGGED_COMPACT_OP_SIZE - 1;

export { EVENT_HEADER_SIZE, ItemTag, TAGGED_COMPACT_OP_SIZE, WIDE_OP_SIZE };

/**
 * The same once more for this module alone: V8 looks up what is exported or imported at each use, checks included, and takes a module's own
 * constants for what they are.
 */
const [OP, EVENT, FRAME] = [CursorItem.OP, CursorItem.EVENT, CursorItem.FRAME];
const [TAG_WIDE, TAG_COMPACT, TAG_EVENT] = [ItemTag.WIDE, ItemTag.COMPACT, ItemTag.EVENT];
const { SET, PROP_SET } = Action;
const [WIDE_SIZE, EVENT_SIZE, TAGGED_SIZE] = [WIDE_OP_SIZE, EVENT_HEADER_SIZE, TAGGED_COMPACT_OP_SIZE];
const [deltaSize, delta] = [shortDeltaSize, shortDelta];
/**
 * `FrameCursor.run` returns after this number of bytes: a loop that is entered once per segment is compiled by V8 while it runs, again and again
 * since that code knows nothing of the way out, and spends much of a scan in between in the interpreter.
 */
const RUN_BYTES = 8192;

/**
 * `next()` moves to the next frame start or item and says in `kind` which it is; the fields that belong to the kind are then valid.
 *
 *   const cursor = new FrameCursor(blob, header.timeStartPs, true);
 *   while (cursor.next()) {
 *     if (cursor.kind === CursorItem.OP) state.apply(cursor.action, cursor.storageId, cursor.slot, cursor.field, cursor.lo, cursor.hi);
 *   }
 *
 * Every frame is reported, empty ones too. Errors: FORMAT_TRUNCATED, FORMAT_VALUE (tag, action, op format, time past 64 bits), at
 * `blobOffset` + the offset in the blob. Ids are not checked against a schema.
 */
export class FrameCursor extends FrameTime {
  /** A `CursorItem`. */
  kind = 0;
  /** Items of this frame. */
  numItems = 0;
  /** Items of this frame that are still to come. */
  itemsLeft = 0;
  /** Frames begun so far: index of the present frame + 1. */
  frames = 0;

  /**
   * The first two words of the present item as a wide op and an event of v0.2 have them, whatever its form: the getters below take them apart. A
   * walk that asks for little then has little to store for each item.
   */
  private word = 0;
  private second = 0;
  /** The value is `compactValue`. */
  private hasCompactValue = false;
  private compactValue = 0;
  /** Reads a number of several bytes in one go, which is half as fast again as putting bytes together. */
  private readonly view: DataView;
  /** v0.1: ops come first, in the format named by the frame. */
  private opsLeft = 0;
  private isCompact = false;

  /**
   * @param bytes the decompressed delta blob
   * @param timeStartPs base of the first frame's delta: the segment's time_start_ps
   * @param interleaved header flag F_INTERLEAVED_DELTAS: v0.2 frames, else v0.1
   * @param blobOffset added to offsets in errors; 0 for a compressed blob, which has no file offsets
   */
  constructor(
    bytes: Uint8Array,
    timeStartPs: bigint,
    readonly interleaved: boolean,
    blobOffset = 0,
  ) {
    super(bytes, timeStartPs, blobOffset);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get action(): number {
    return (this.word >>> 8) & 0xff;
  }

  get storageId(): number {
    return this.word >>> 16;
  }

  get slot(): number {
    return this.second & 0xffff;
  }

  /** Op: the field; of PROP_SET the property's index. */
  get field(): number {
    return this.second >>> 16;
  }

  /** Op: the full u64 value as u32 halves. */
  get lo(): number {
    if (this.hasCompactValue) return this.compactValue;
    return this.kind === OP ? this.view.getUint32(this.itemOffset + 8, true) : 0;
  }

  get hi(): number {
    if (this.hasCompactValue || this.kind !== OP) return 0;
    return this.view.getUint32(this.itemOffset + 12, true);
  }

  get eventType(): number {
    return this.word >>> 16;
  }

  /** Event: where its payload lies in the blob. */
  get payloadOffset(): number {
    return this.itemOffset + EVENT_SIZE;
  }

  get payloadSize(): number {
    return this.second >>> 0;
  }

  /** Value of the present op. */
  get value(): bigint {
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  /** Payload of the present event, a view. */
  get payload(): Uint8Array {
    return this.bytes.subarray(this.payloadOffset, this.payloadOffset + this.payloadSize);
  }

  /** Moves on; false after the last item of the last frame. */
  next(): boolean {
    const at = this.offset;
    this.itemOffset = at;
    if (this.itemsLeft === 0) {
      if (at >= this.end) return false;
      this.beginFrame();
      return true;
    }
    this.itemsLeft--;
    if (!this.interleaved) {
      this.plainItem(at);
      return true;
    }
    if (at >= this.end) this.truncated('item');
    const tag = this.view.getUint8(at);
    if (tag === TAG_COMPACT) this.taggedCompactOp(at);
    else if (tag === TAG_WIDE) this.wideOp(at, this.bytes[at + 1]);
    else if (tag === TAG_EVENT) this.event(at, at + 2);
    else this.invalid(`item tag 0x${tag.toString(16)} is unknown`);
    return true;
  }

  /**
   * Ordinary frames and items that come next, in one loop: frames that begin soon after the one before and before `endLo` (low half; the high
   * one does not change), wide ops, and events, within `limits`. It stops in front of anything else - later frames, other forms, damage, the
   * blob's last bytes - and now and then, for `next` to move on. False: the visitor ended it.
   * Only for interleaved frames; the visitor must not move the cursor.
   */
  run({ storages, properties, payloadSizes }: ItemLimits, visitor: ItemVisitor, endLo: number): boolean {
    if (!this.interleaved) return true;
    const { view, end } = this;
    let at = this.offset;
    let left = this.itemsLeft;
    // No valid item but the last of a blob is too near its end for this.
    const last = Math.min(end - WIDE_SIZE, at + RUN_BYTES);
    this.hasCompactValue = false;
    while (at <= last) {
      const word = view.getInt32(at, true);
      if (left === 0) {
        const size = deltaSize(word);
        const timeLo = this.timeLo + delta(word, size);
        if (size === 0 || timeLo >= endLo) break;
        left = view.getUint16(at + size, true);
        this.enter(at, timeLo, left);
        at += size + 2;
        if (visitor.frame !== undefined && visitor.frame(this) === false) return this.leave(at, left);
        continue;
      }
      const second = view.getInt32(at + 4, true);
      const tag = word & 0xff;
      if (tag === TAG_WIDE) {
        const limit = storages[word >>> 16];
        const action = (word >>> 8) & 0xff;
        if (
          (action - 1) >>> 0 >= 3 ||
          second >>> 16 >= limit >>> 16 ||
          (second & 0xffff) > (limit & 0xffff)
        ) {
          if (action !== PROP_SET || second >>> 16 >= properties[word >>> 16]) break;
        }
        left--;
        this.itemOffset = at;
        at += WIDE_SIZE;
        if (visitor.op !== undefined) {
          this.kind = OP;
          this.word = word;
          this.second = second;
          if (visitor.op(this) === false) return this.leave(at, left);
        }
      } else {
        const size = second >>> 0;
        if (tag !== TAG_EVENT || size !== payloadSizes[word >>> 16] || size > end - at - EVENT_SIZE) break;
        left--;
        this.itemOffset = at;
        at += EVENT_SIZE + size;
        if (visitor.event !== undefined) {
          this.kind = EVENT;
          this.word = word;
          this.second = second;
          if (visitor.event(this) === false) return this.leave(at, left);
        }
      }
    }
    this.offset = at;
    this.itemsLeft = left;
    return true;
  }

  /** The visitor ended a run. */
  private leave(at: number, left: number): false {
    this.offset = at;
    this.itemsLeft = left;
    return false;
  }

  /** Interleaved frames: continues where other code, which has walked on from here, stopped. */
  continueAt(offset: number, itemsLeft: number, frames: number, timeLo: number, timeHi: number): void {
    this.offset = offset;
    this.itemsLeft = itemsLeft;
    this.frames = frames;
    this.timeLo = timeLo;
    this.timeHi = timeHi;
  }

  private enter(at: number, timeLo: number, numItems: number): void {
    this.kind = FRAME;
    this.itemOffset = at;
    this.timeLo = timeLo;
    this.numItems = numItems;
    this.frames++;
  }

  private beginFrame(): void {
    this.addTime();
    const { bytes } = this;
    const at = this.offset;
    if (this.interleaved) {
      if (at + 2 > this.end) this.truncated('frame header');
      this.itemsLeft = bytes[at] | (bytes[at + 1] << 8);
      this.offset = at + 2;
    } else {
      if (at + 6 > this.end) this.truncated('frame header');
      if (bytes[at] > 1) this.invalid(`op format ${bytes[at]} is unknown`);
      this.isCompact = bytes[at] === 1;
      this.opsLeft = bytes[at + 2] | (bytes[at + 3] << 8);
      this.itemsLeft = this.opsLeft + (bytes[at + 4] | (bytes[at + 5] << 8));
      this.offset = at + 6;
    }
    this.numItems = this.itemsLeft;
    this.frames++;
    this.kind = FRAME;
  }

  /** v0.1: the ops of the frame, then its events. */
  private plainItem(at: number): void {
    if (this.opsLeft === 0) {
      this.event(at, at);
      return;
    }
    this.opsLeft--;
    if (!this.isCompact) {
      this.wideOp(at, this.bytes[at]);
      return;
    }
    if (at + COMPACT_OP_SIZE > this.end) this.truncated('compact op');
    this.compactFields(at, this.bytes[at]);
    this.offset = at + COMPACT_OP_SIZE;
  }

  private taggedCompactOp(at: number): void {
    if (at + TAGGED_SIZE > this.end) this.truncated('compact op');
    this.compactFields(at + 1, this.bytes[at + 1]);
    this.offset = at + TAGGED_SIZE;
  }

  /** `at`: the action byte, after which both forms of compact op agree. */
  private compactFields(at: number, action: number): void {
    const { view } = this;
    this.checkAction(action);
    this.kind = OP;
    this.word = (action << 8) | (view.getUint8(at + 1) << 16);
    this.second = view.getInt32(at + 2, true);
    this.hasCompactValue = true;
    this.compactValue = view.getUint16(at + 6, true);
  }

  /** Wide ops of both versions have the same 16 bytes but for tag or action in front. */
  private wideOp(at: number, action: number): void {
    if (at + WIDE_SIZE > this.end) this.truncated('wide op');
    const { view } = this;
    this.checkAction(action);
    this.kind = OP;
    this.word = (action << 8) | (view.getUint16(at + 2, true) << 16);
    this.second = view.getInt32(at + 4, true);
    this.hasCompactValue = false;
    this.offset = at + WIDE_SIZE;
  }

  /** `typeAt`: u16 type; v0.2 has it behind tag and reserved byte, v0.1 in front. The size is at +4 in both. */
  private event(at: number, typeAt: number): void {
    if (at + EVENT_SIZE > this.end) this.truncated('event');
    const { view } = this;
    const size = view.getUint32(at + 4, true);
    const start = at + EVENT_SIZE;
    if (size > this.end - start) this.truncated(`event payload of ${size} bytes`);
    this.kind = EVENT;
    this.word = view.getUint16(typeAt, true) << 16;
    this.second = size | 0;
    this.offset = start + size;
  }

  private checkAction(action: number): void {
    if (action < SET || action > PROP_SET) this.invalid(`action ${action} of an op is unknown`);
  }
}

/** Nearly all frames have time deltas of up to three LEB128 bytes, taken from one word. Bytes of that number; 0 for more than three. */
export function shortDeltaSize(word: number): number {
  if ((word & 0x80) === 0) return 1;
  if ((word & 0x8000) === 0) return 2;
  return (word & 0x80_0000) === 0 ? 3 : 0;
}

export function shortDelta(word: number, size: number): number {
  const low = word & 0x7f;
  if (size === 1) return low;
  const two = low | ((word >>> 1) & 0x3f80);
  return size === 2 ? two : two | ((word >>> 2) & 0x1f_c000);
}
