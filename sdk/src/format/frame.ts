/** Interleaved cycle frames, v0.2 (docs/reference/format.md#interleaved-frames), and decoding of both versions into values. For big blobs use `FrameCursor`. */
import { ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { writeLeb128 } from '../base/leb128.js';
import { CursorItem, FrameCursor, ItemTag } from './frame-cursor.js';
import { MAX_ITEMS_PER_FRAME } from './record.js';
import { Action, type Frame, type Item, packedSize, type Schema } from './types.js';

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

/**
 * All frames of a delta blob, v0.2 or (with `interleaved` false) v0.1; payloads are copies. With a schema, ids and payload sizes are checked too.
 * Errors: those of `FrameCursor`; FORMAT_ID, FORMAT_LENGTH with a schema.
 */
export function decodeFrames(
  bytes: Uint8Array,
  startPs: bigint,
  schema?: Schema,
  interleaved = true,
  blobOffset = 0,
): Frame[] {
  const cursor = new FrameCursor(bytes, startPs, interleaved, blobOffset);
  const frames: Frame[] = [];
  let items: Item[] = [];
  while (cursor.next()) {
    if (cursor.kind === CursorItem.FRAME) {
      items = [];
      frames.push({ timePs: cursor.timePs, items });
    } else {
      if (schema) checkItem(cursor, schema, blobOffset);
      items.push(cursor.kind === CursorItem.OP ? opItem(cursor) : eventItem(cursor));
    }
  }
  return frames;
}

function opItem(cursor: FrameCursor): Item {
  const { storageId, slot, field, value } = cursor;
  return { kind: 'op', action: cursor.action as Action, storageId, slot, field, value };
}

function eventItem(cursor: FrameCursor): Item {
  return { kind: 'event', eventTypeId: cursor.eventType, payload: cursor.payload.slice() };
}

function checkItem(cursor: FrameCursor, schema: Schema, blobOffset: number): void {
  const place = { offset: blobOffset + cursor.itemOffset };
  if (cursor.kind === CursorItem.OP) {
    checkOp(cursor, schema, place);
    return;
  }
  const event = schema.events[cursor.eventType];
  if (!event) throw new UscopeError('FORMAT_ID', `event type ${cursor.eventType} is not defined`, place);
  const size = packedSize(event.fields);
  if (size !== cursor.payloadSize) {
    const detail = `event '${event.name}' has a payload of ${cursor.payloadSize} bytes, its fields take ${size}`;
    throw new UscopeError('FORMAT_LENGTH', detail, place);
  }
}

function checkOp(cursor: FrameCursor, schema: Schema, place: { offset: number }): void {
  const storage = schema.storages[cursor.storageId];
  if (!storage) throw new UscopeError('FORMAT_ID', `storage ${cursor.storageId} is not defined`, place);
  if (cursor.action === Action.PROP_SET) {
    if (cursor.field < storage.properties.length) return;
    throw new UscopeError('FORMAT_ID', `storage '${storage.name}' has no property ${cursor.field}`, place);
  }
  if (cursor.slot >= storage.numSlots) {
    throw new UscopeError('FORMAT_ID', `storage '${storage.name}' has no slot ${cursor.slot}`, place);
  }
  if (cursor.action !== Action.CLEAR && cursor.field >= storage.fields.length) {
    throw new UscopeError('FORMAT_ID', `storage '${storage.name}' has no field ${cursor.field}`, place);
  }
}
