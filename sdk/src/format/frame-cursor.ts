/** Walks the cycle frames of a delta blob (§8.6): the reader's hot loop. Nothing is allocated per item. */
import { UscopeError } from '../base/errors.js';
import type { ItemLimits, ItemVisitor } from './item-limits.js';
import { shortDelta, shortDeltaSize } from './short-delta.js';
import { Action } from './types.js';

/** What `FrameCursor.next()` stopped at. */
export const CursorItem = { FRAME: 0, OP: 1, EVENT: 2 } as const;

/** Tags of interleaved items (§8.6.6). */
export const ItemTag = { WIDE: 0x01, COMPACT: 0x02, EVENT: 0x03 } as const;

/** Sizes on disk. The compact op of an interleaved frame has a tag in front: 9 bytes, not the 8 the format text states. */
export const WIDE_OP_SIZE = 16;
export const COMPACT_OP_SIZE = 8;
export const TAGGED_COMPACT_OP_SIZE = 9;
export const EVENT_HEADER_SIZE = 8;

const TWO_32 = 0x1_0000_0000;

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
export class FrameCursor {
  /** A `CursorItem`. */
  kind = 0;
  /** Frame time in ps, as u32 halves. */
  timeLo = 0;
  timeHi = 0;
  /** Items of this frame. */
  numItems = 0;
  /** Frames begun so far: index of the present frame + 1. */
  frames = 0;

  /** Offset in the blob of what comes next. */
  offset = 0;
  /** Offset in the blob of the present frame or item. */
  itemOffset = 0;

  /**
   * The first two words of the present item as a wide op and an event of v0.2 have them, whatever its form: the getters below take them apart. A
   * walk that asks for little then has little to store for each item.
   */
  private word = 0;
  private second = 0;
  /** The value is `compactValue`. */
  private hasCompactValue = false;
  private compactValue = 0;
  /** `timePs` as it was asked for last, and its halves. */
  private known = 0n;
  private knownLo = 0;
  private knownHi = 0;

  private readonly end: number;
  /** Reads a number of several bytes in one go, which is half as fast again as putting bytes together. */
  private readonly view: DataView;
  /** Items left in this frame. v0.1: ops come first, in the format named by the frame. */
  private itemsLeft = 0;
  private opsLeft = 0;
  private isCompact = false;

  /**
   * @param bytes the decompressed delta blob
   * @param timeStartPs base of the first frame's delta: the segment's time_start_ps
   * @param interleaved header flag F_INTERLEAVED_DELTAS: v0.2 frames, else v0.1
   * @param blobOffset added to offsets in errors; 0 for a compressed blob, which has no file offsets
   */
  constructor(
    readonly bytes: Uint8Array,
    timeStartPs: bigint,
    readonly interleaved: boolean,
    private readonly blobOffset = 0,
  ) {
    this.end = bytes.length;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.timeLo = Number(timeStartPs & 0xffff_ffffn);
    this.timeHi = Number(timeStartPs >> 32n);
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
    return this.kind === CursorItem.OP ? this.view.getUint32(this.itemOffset + 8, true) : 0;
  }

  get hi(): number {
    if (this.hasCompactValue || this.kind !== CursorItem.OP) return 0;
    return this.view.getUint32(this.itemOffset + 12, true);
  }

  get eventType(): number {
    return this.word >>> 16;
  }

  /** Event: where its payload lies in the blob. */
  get payloadOffset(): number {
    return this.itemOffset + EVENT_HEADER_SIZE;
  }

  get payloadSize(): number {
    return this.second >>> 0;
  }

  /** Frame time in ps, exact. */
  get timePs(): bigint {
    const { timeLo, timeHi } = this; // asked for again and again within a frame
    if (timeLo !== this.knownLo || timeHi !== this.knownHi) {
      this.known = (BigInt(timeHi) << 32n) | BigInt(timeLo);
      this.knownLo = timeLo;
      this.knownHi = timeHi;
    }
    return this.known;
  }

  /** Frame time in ps as a number: exact below 2^53 (2.5 hours). */
  get time(): number {
    return this.timeHi * TWO_32 + this.timeLo;
  }

  /** Value of the present op. */
  get value(): bigint {
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  /** Payload of the present event, a view. */
  get payload(): Uint8Array {
    return this.bytes.subarray(this.payloadOffset, this.payloadOffset + this.payloadSize);
  }

  /** Moves on; false behind the last item of the last frame. */
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
    if (tag === ItemTag.COMPACT) this.taggedCompactOp(at);
    else if (tag === ItemTag.WIDE) this.wideOp(at, this.bytes[at + 1]);
    else if (tag === ItemTag.EVENT) this.event(at, at + 2);
    else this.invalid(`item tag 0x${tag.toString(16)} is unknown`);
    return true;
  }

  /**
   * The ordinary frames and items that come next, in one loop: frames that begin soon after the one before and before `endLo` (low half; the high
   * one does not change), wide ops that set, clear or add, and events, within `limits`. It stops in front of anything else - later frames, other
   * forms, properties, damage, the blob's last bytes -, which `next` then moves to. False: the visitor ended it.
   * Only for interleaved frames; the visitor must not move the cursor.
   */
  run({ storages, payloadSizes }: ItemLimits, visitor: ItemVisitor, endLo: number): boolean {
    if (!this.interleaved) return true;
    const { view } = this;
    const wantsFrames = visitor.frame !== undefined;
    const wantsOps = visitor.op !== undefined;
    const wantsEvents = visitor.event !== undefined;
    const lastOp = this.end - WIDE_OP_SIZE;
    let at = this.offset;
    let left = this.itemsLeft;
    let goesOn = true;
    this.hasCompactValue = false;
    // No valid item but the last of a blob is too near its end for this.
    while (at <= lastOp && goesOn) {
      const word = view.getInt32(at, true);
      if (left === 0) {
        const size = shortDeltaSize(word);
        const timeLo = this.timeLo + shortDelta(word, size);
        if (size === 0 || timeLo >= endLo) break;
        left = view.getUint16(at + size, true);
        this.enter(at, timeLo, left);
        if (wantsFrames) goesOn = visitor.frame!(this) !== false;
        at += size + 2;
        continue;
      }
      const second = view.getInt32(at + 4, true);
      const tag = word & 0xff;
      if (tag === ItemTag.WIDE) {
        const limit = storages[word >>> 16];
        const action = (word >>> 8) & 0xff;
        if ((action - 1) >>> 0 >= 3 || second >>> 16 >= limit >>> 16 || (second & 0xffff) > (limit & 0xffff))
          break;
        left--;
        if (wantsOps) {
          this.kind = CursorItem.OP;
          this.itemOffset = at;
          this.word = word;
          this.second = second;
          goesOn = visitor.op!(this) !== false;
        }
        at += WIDE_OP_SIZE;
      } else {
        const size = second >>> 0;
        if (
          tag !== ItemTag.EVENT ||
          size !== payloadSizes[word >>> 16] ||
          size > this.end - at - EVENT_HEADER_SIZE
        )
          break;
        left--;
        if (wantsEvents) {
          this.kind = CursorItem.EVENT;
          this.itemOffset = at;
          this.word = word;
          this.second = second;
          goesOn = visitor.event!(this) !== false;
        }
        at += EVENT_HEADER_SIZE + size;
      }
    }
    this.offset = at;
    this.itemsLeft = left;
    return goesOn;
  }

  private enter(at: number, timeLo: number, numItems: number): void {
    this.kind = CursorItem.FRAME;
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
    this.kind = CursorItem.FRAME;
  }

  /** Adds the LEB128 delta at `offset` to the time; deltas below 2^28 take the short way. */
  private addTime(): void {
    const { bytes, end } = this;
    let at = this.offset;
    let delta = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) this.truncated('time delta');
      const byte = bytes[at++];
      delta |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.offset = at;
        this.advance(delta, 0);
        return;
      }
    }
    this.addLongTime(delta, at);
  }

  /** The delta's groups 5 to 10; `low` holds the first 28 bits. */
  private addLongTime(low: number, at: number): void {
    let middle = 0; // bits 28..55
    let high = 0; // bits 56..63
    for (let index = 4; index < 10; index++) {
      if (at >= this.end) this.truncated('time delta');
      const byte = this.bytes[at++];
      if (index < 8) middle |= (byte & 0x7f) << (7 * (index - 4));
      else high |= (byte & 0x7f) << (7 * (index - 8));
      if (byte < 0x80) {
        if (high > 0xff) break;
        this.offset = at;
        this.advance((low | (middle << 28)) >>> 0, ((middle >>> 4) | (high << 24)) >>> 0);
        return;
      }
    }
    this.invalid('time delta exceeds 64 bits');
  }

  private advance(lo: number, hi: number): void {
    let timeLo = this.timeLo + lo;
    let timeHi = this.timeHi + hi;
    if (timeLo >= TWO_32) {
      timeLo -= TWO_32;
      timeHi++;
    }
    if (timeHi >= TWO_32) this.invalid('frame time exceeds 64 bits');
    this.timeLo = timeLo;
    this.timeHi = timeHi;
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
    if (at + TAGGED_COMPACT_OP_SIZE > this.end) this.truncated('compact op');
    this.compactFields(at + 1, this.bytes[at + 1]);
    this.offset = at + TAGGED_COMPACT_OP_SIZE;
  }

  /** `at`: the action byte, after which both forms of compact op agree. */
  private compactFields(at: number, action: number): void {
    const { view } = this;
    this.checkAction(action);
    this.kind = CursorItem.OP;
    this.word = (action << 8) | (view.getUint8(at + 1) << 16);
    this.second = view.getInt32(at + 2, true);
    this.hasCompactValue = true;
    this.compactValue = view.getUint16(at + 6, true);
  }

  /** Wide ops of both versions have the same 16 bytes but for tag or action in front. */
  private wideOp(at: number, action: number): void {
    if (at + WIDE_OP_SIZE > this.end) this.truncated('wide op');
    const { view } = this;
    this.checkAction(action);
    this.kind = CursorItem.OP;
    this.word = (action << 8) | (view.getUint16(at + 2, true) << 16);
    this.second = view.getInt32(at + 4, true);
    this.hasCompactValue = false;
    this.offset = at + WIDE_OP_SIZE;
  }

  /** `typeAt`: u16 type; v0.2 has it behind tag and reserved byte, v0.1 in front. The size is at +4 in both. */
  private event(at: number, typeAt: number): void {
    if (at + EVENT_HEADER_SIZE > this.end) this.truncated('event');
    const { view } = this;
    const size = view.getUint32(at + 4, true);
    const start = at + EVENT_HEADER_SIZE;
    if (size > this.end - start) this.truncated(`event payload of ${size} bytes`);
    this.kind = CursorItem.EVENT;
    this.word = view.getUint16(typeAt, true) << 16;
    this.second = size | 0;
    this.offset = start + size;
  }

  private checkAction(action: number): void {
    if (action < Action.SET || action > Action.PROP_SET) this.invalid(`action ${action} of an op is unknown`);
  }

  private truncated(what: string): never {
    const detail = `${what} at byte ${this.itemOffset} of the deltas reaches past their end at ${this.end}`;
    throw new UscopeError('FORMAT_TRUNCATED', detail, { offset: this.blobOffset + this.itemOffset });
  }

  private invalid(detail: string): never {
    throw new UscopeError('FORMAT_VALUE', `${detail} (byte ${this.itemOffset} of the deltas)`, {
      offset: this.blobOffset + this.itemOffset,
    });
  }
}
