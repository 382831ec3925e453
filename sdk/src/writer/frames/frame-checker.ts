/**
 * The plain path of the writer, first step. With FrameEncoder it is the reference for the fast path (FrameKernel), which property tests
 * compare with it, and it does all the work where there is no WebAssembly. Everything about a frame's records is checked before anything is applied or encoded, so that
 * a frame is in the file whole or not at all.
 */
import { UscopeError } from '../../base/errors.js';
import {
  eventExtraRecords,
  MAX_EVENT_PAYLOAD,
  MAX_ITEMS_PER_FRAME,
  MAX_STRING_BYTES,
  payloadRecords,
  RECORD_WORDS,
  RecordKind,
} from '../../format/record.js';
import { Action, packedSize, type Schema } from '../../format/types.js';
import type { StateLayout } from '../../state/layout.js';

/** Most client bytes one frame may take: the client splits larger cycles, so this bounds the writer's memory. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export class FrameChecker {
  /** Results of the last `scan`. */
  /** Word index of END, or -1 when the records end before it. */
  endWord = -1;
  numItems = 0;
  /** Every op fits the compact form (docs/reference/format.md#interleaved-frames). */
  compact = true;
  /** Bytes of the frame's event payloads. */
  eventBytes = 0;
  numEvents = 0;
  hasStrings = false;

  /** Payload bytes per event type. */
  readonly payloadSizes: Uint32Array;

  constructor(private readonly layout: StateLayout) {
    this.payloadSizes = eventPayloadSizes(layout.schema);
  }

  /**
   * Walks the records of one frame from the word after its BEGIN record.
   * @throws UscopeError OP_* for a record that violates the schema, BRIDGE_RECORD for one that violates the record grammar.
   */
  scan(words: Uint32Array, first: number, end: number): void {
    const { numSlots, numFields, numStorages } = this.layout;
    let compact = true;
    let items = 0;
    let eventBytes = 0;
    let events = 0;
    let i = first;
    this.endWord = -1;
    this.hasStrings = false;
    while (i < end) {
      const word0 = words[i];
      const kind = word0 & 0xff;
      if (kind === RecordKind.OP) {
        const storage = word0 >>> 16;
        const action = (word0 >>> 8) & 0xff;
        const word1 = words[i + 1];
        const slot = word1 & 0xffff;
        const field = word1 >>> 16;
        if (
          storage >= numStorages ||
          (action === Action.SET || action === Action.ADD
            ? slot >= numSlots[storage] || field >= numFields[storage]
            : action === Action.CLEAR
              ? slot >= numSlots[storage]
              : action !== Action.PROP_SET || field >= this.layout.numProperties[storage])
        ) {
          throw this.opError(action, storage, slot, field);
        }
        if (storage > 0xff || words[i + 2] > 0xffff || words[i + 3] !== 0) compact = false;
        items++;
        i += RECORD_WORDS;
      } else if (kind === RecordKind.EVENT) {
        const type = word0 >>> 16;
        const size = words[i + 1];
        if (type >= this.payloadSizes.length || size !== this.payloadSizes[type])
          throw this.eventError(type, size);
        eventBytes += size;
        events++;
        items++;
        i += RECORD_WORDS * (1 + eventExtraRecords(size));
      } else if (kind === RecordKind.END) {
        this.endWord = i;
        if (words[i + 1] !== items)
          throw recordError(`END counts ${words[i + 1]} items, the frame has ${items}`);
        break;
      } else if (kind === RecordKind.STRING) {
        checkStringLength(words[i + 1]);
        this.hasStrings = true;
        i += RECORD_WORDS * (1 + payloadRecords(words[i + 1]));
      } else {
        throw recordError(`record kind 0x${kind.toString(16)} inside a frame`);
      }
      if (i > end) throw recordError('a record and its payload do not end inside their message');
    }
    if (items > MAX_ITEMS_PER_FRAME)
      throw recordError(`a frame of ${items} items; at most ${MAX_ITEMS_PER_FRAME} are allowed`);
    this.compact = compact;
    this.numItems = items;
    this.eventBytes = eventBytes;
    this.numEvents = events;
  }

  private opError(action: number, storage: number, slot: number, field: number): UscopeError {
    const def = this.layout.schema.storages[storage];
    if (!def)
      return new UscopeError('OP_STORAGE', `storage id ${storage} is not below ${this.layout.numStorages}`);
    if (action < Action.SET || action > Action.PROP_SET) return recordError(`op action ${action} is unknown`);
    if (action === Action.PROP_SET) {
      return new UscopeError(
        'OP_PROPERTY',
        `property ${field} of "${def.name}" is not below ${def.properties.length}`,
      );
    }
    if (slot >= def.numSlots)
      return new UscopeError('OP_SLOT', `slot ${slot} of "${def.name}" is not below ${def.numSlots}`);
    return new UscopeError('OP_FIELD', `field ${field} of "${def.name}" is not below ${def.fields.length}`);
  }

  private eventError(type: number, size: number): UscopeError {
    const def = this.layout.schema.events[type];
    if (!def)
      return new UscopeError('OP_EVENT', `event type ${type} is not below ${this.payloadSizes.length}`);
    return new UscopeError(
      'OP_PAYLOAD',
      `event "${def.name}" has a payload of ${size} bytes, the schema says ${this.payloadSizes[type]}`,
    );
  }
}

export function recordError(detail: string): UscopeError {
  return new UscopeError('BRIDGE_RECORD', detail);
}

export function checkStringLength(length: number): void {
  if (length > MAX_STRING_BYTES)
    throw recordError(`a string of ${length} bytes; at most ${MAX_STRING_BYTES} are allowed`);
}

function eventPayloadSizes(schema: Schema): Uint32Array {
  return Uint32Array.from(schema.events, (event) => {
    const size = packedSize(event.fields);
    if (size > MAX_EVENT_PAYLOAD) {
      throw new UscopeError(
        'SCHEMA_LIMIT',
        `event "${event.name}" has ${size} payload bytes; at most ${MAX_EVENT_PAYLOAD} are allowed`,
      );
    }
    return size;
  });
}
