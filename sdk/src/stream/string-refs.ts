/** Which fields of a schema are string references (FT_STRING_REF, docs/reference/format.md#string-table), and which strings a segment or a state refers to. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import { Action, type Schema } from '../format/types.js';
import type { LoadedSegment } from '../reader/index.js';
import type { StorageState } from '../state/storage-state.js';
import { forEachStringCell, stringFlags, stringOffsets } from '../state/string-cells.js';

export class StringRefs {
  /** Whether any storage, and whether anything at all can refer to strings. */
  readonly inStorages: boolean;
  readonly any: boolean;
  /** Per storage: one flag per field, then one per property; null where none is set. */
  private readonly ofStorage: readonly (Uint8Array | null)[];
  /** Per event type: payload offsets of its references. */
  readonly ofEvent: readonly (readonly number[])[];

  constructor(private readonly schema: Schema) {
    this.ofStorage = schema.storages.map(({ fields, properties }) => stringFlags([...fields, ...properties]));
    this.ofEvent = schema.events.map(({ fields }) => stringOffsets(fields));
    this.inStorages = this.ofStorage.some((flags) => flags !== null);
    this.any = this.inStorages || this.ofEvent.some((offsets) => offsets.length > 0);
  }

  /** Whether the value of the present op is a string's index: a SET of a reference within 32 bits. */
  isRefOp(cursor: FrameCursor): boolean {
    const flags = this.ofStorage[cursor.storageId];
    if (!flags || cursor.hi !== 0) return false;
    if (cursor.action === Action.SET) return flags[cursor.field] === 1;
    if (cursor.action !== Action.PROP_SET) return false;
    return flags[this.schema.storages[cursor.storageId].fields.length + cursor.field] === 1;
  }

  /** Adds the strings that a segment's items refer to. Ids are not checked here: what is not defined refers to nothing. */
  collect(segment: LoadedSegment, wanted: Set<number>): void {
    if (!this.any) return;
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.OP) {
          if (this.isRefOp(cursor)) wanted.add(cursor.lo);
        } else if (cursor.kind === CursorItem.EVENT) this.collectEvent(cursor, wanted);
      }
    } catch {
      // Damage is reported, with its place, by the code that reads the segment for its content.
    }
  }

  private collectEvent({ bytes, eventType, payloadOffset, payloadSize }: FrameCursor, wanted: Set<number>) {
    const offsets = this.ofEvent[eventType];
    if (!offsets) return;
    for (const offset of offsets) {
      if (offset + 4 <= payloadSize) wanted.add(readU32(bytes, payloadOffset + offset));
    }
  }

  /** Calls back with the place (word in `cells`) of every reference a state holds: those of slots that have data, and properties. */
  forEachInState(state: StorageState, visit: (word: number) => void): void {
    forEachStringCell(state, this.ofStorage, visit);
  }
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
