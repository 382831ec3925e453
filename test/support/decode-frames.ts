/** The frames of a segment as values, of which the library has a cursor. */
import { UscopeError } from '../../sdk/src/base/errors.js';
import { CursorItem, FrameCursor } from '../../sdk/src/format/frame.js';
import { Action, type Frame, type Item, packedSize, type Schema } from '../../sdk/src/format/types.js';

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
