/** Frames of v0.1 as interleaved ones, which is all that kernels read: docs/reference/format.md#plain-frames, #interleaved-frames. */
import { isDamage, UscopeError } from '../base/errors.js';
import { CursorItem, type FrameCursor, ItemTag, WIDE_OP_SIZE } from './frame-cursor.js';
import { MAX_ITEMS_PER_FRAME } from './record.js';

/** What a frame of v0.1 has after its time: format of the ops, a reserved byte, numbers of ops and of events. */
const PLAIN_COUNTS_SIZE = 6;
/** No frame ends with this byte, and no item begins with it. */
const DAMAGE = 0x80;

/**
 * The frames of a segment, interleaved. Where frames of v0.1 are damaged, what comes before the damage, and a byte that is damage in
 * an interleaved frame too.
 * @throws UscopeError FORMAT_LENGTH for a frame with more items than an interleaved one can have
 */
export function interleavedFrames({
  deltas,
  cursor,
}: {
  readonly deltas: Uint8Array;
  cursor(): FrameCursor;
}): Uint8Array {
  const walk = cursor();
  return walk.interleaved ? deltas : new Interleaving(walk).frames();
}

class Interleaving {
  private readonly out: Uint8Array;
  private length = 0;

  constructor(private readonly cursor: FrameCursor) {
    // A compact op, of nine bytes, had eight; nothing else becomes longer.
    this.out = new Uint8Array(Math.ceil((cursor.bytes.length * 9) / 8) + 1);
  }

  frames(): Uint8Array {
    const { cursor } = this;
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.FRAME) this.frame();
        else this.item(cursor.kind === CursorItem.EVENT ? ItemTag.EVENT : this.opTag());
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.out[this.length++] = DAMAGE;
    }
    return this.out.subarray(0, this.length);
  }

  private frame(): void {
    const { itemOffset, offset, numItems } = this.cursor;
    if (numItems > MAX_ITEMS_PER_FRAME) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `a frame of ${numItems} items; instructions are followed through frames of at most ${MAX_ITEMS_PER_FRAME}`,
      );
    }
    this.copy(itemOffset, offset - PLAIN_COUNTS_SIZE);
    this.out[this.length++] = numItems & 0xff;
    this.out[this.length++] = numItems >> 8;
  }

  private opTag(): number {
    const { itemOffset, offset } = this.cursor;
    return offset - itemOffset === WIDE_OP_SIZE ? ItemTag.WIDE : ItemTag.COMPACT;
  }

  /** A compact op gets a tag in front; in the others the reserved second byte makes room for it. */
  private item(tag: number): void {
    const { bytes, itemOffset, offset } = this.cursor;
    this.out[this.length++] = tag;
    if (tag === ItemTag.EVENT) {
      this.out[this.length++] = 0;
      this.copy(itemOffset, itemOffset + 2);
      this.copy(itemOffset + 4, offset);
    } else {
      this.out[this.length++] = bytes[itemOffset]!;
      this.copy(itemOffset + (tag === ItemTag.WIDE ? 2 : 1), offset);
    }
  }

  private copy(from: number, to: number): void {
    this.out.set(this.cursor.bytes.subarray(from, to), this.length);
    this.length += to - from;
  }
}
