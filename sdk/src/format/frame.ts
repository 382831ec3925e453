/** Interleaved cycle frames, v0.2 (docs/reference/format.md#interleaved-frames), from values; `FrameCursor` decodes them. */
import { ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { writeLeb128 } from '../base/leb128.js';
import { ItemTag } from './frame-cursor.js';
import { MAX_ITEMS_PER_FRAME } from './record.js';
import { Action, type Frame, type Item } from './types.js';

export * from './frame-cursor.js';
export * from './item-limits.js';

type OpItem = Extract<Item, { kind: 'op' }>;

/**
 * The delta blob of a segment that starts at `startPs`. A frame's ops are all compact when every one fits, else all wide.
 * Errors: FORMAT_VALUE when time runs backwards, FORMAT_LENGTH for more than 65,535 items in a frame.
 */
export function encodeFrames(frames: readonly Frame[], startPs: bigint): Uint8Array {
  const writer = new ByteWriter(1024);
  let before = startPs;
  for (const frame of frames) {
    writeLeb128(writer, frameDelta(frame, before));
    before = frame.timePs;
    if (frame.items.length > MAX_ITEMS_PER_FRAME) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `a frame of ${frame.items.length} items; split it into frames of equal time`,
      );
    }
    writer.u16(frame.items.length);
    const isCompact = fitsCompact(frame.items);
    for (const item of frame.items) writeItem(writer, item, isCompact);
  }
  return writer.finish();
}

/** Time of a frame since the one before. */
export function frameDelta(frame: Frame, before: bigint): bigint {
  if (frame.timePs < before) {
    throw new UscopeError('FORMAT_VALUE', `frame at ${frame.timePs} ps comes after one at ${before} ps`);
  }
  return frame.timePs - before;
}

/** True if every op of a frame has a compact form: storage id below 256, value below 65,536 (docs/reference/format.md#compact-ops). */
export function fitsCompact(items: readonly Item[]): boolean {
  return items.every(
    (item) =>
      item.kind === 'event' ||
      (item.storageId <= 0xff && (item.action === Action.CLEAR || item.value <= 0xffffn)),
  );
}

/** CLEAR ignores field and value: both are written as 0. */
export function canonicalOp(op: OpItem): OpItem {
  return op.action === Action.CLEAR ? { ...op, field: 0, value: 0n } : op;
}

function writeItem(writer: ByteWriter, item: Item, isCompact: boolean): void {
  if (item.kind === 'event') {
    writer.u8(ItemTag.EVENT).u8(0).u16(item.eventTypeId).u32(item.payload.length).bytes(item.payload);
    return;
  }
  const { action, storageId, slot, field, value } = canonicalOp(item);
  if (isCompact) {
    writer.u8(ItemTag.COMPACT).u8(action).u8(storageId).u16(slot).u16(field).u16(Number(value));
  } else {
    writer.u8(ItemTag.WIDE).u8(action).u16(storageId).u16(slot).u16(field).u64(value);
  }
}
