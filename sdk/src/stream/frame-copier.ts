/** Copies frames of a trace into records of a writer: ids and string references translated, everything else bit by bit. */
import { CursorItem, type FrameCursor } from '../format/frame.js';
import { Action, type Schema } from '../format/types.js';
import type { LoadedSegment } from '../reader/index.js';
import type { StorageState } from '../state/storage-state.js';
import type { RecordBatch } from '../writer/records/record-batch.js';
import type { FrameStream } from './item-stream.js';
import type { FoundSnapshot, SnapshotFinder } from './snapshot-finder.js';
import { readU32 } from './string-refs.js';
import type { StringRemap } from './string-remap.js';

/** Ids of the output by ids of the input. */
export interface IdMap {
  readonly storages: Uint16Array;
  readonly events: Uint16Array;
}

/** What else happens to items on their way; the ids of what is left out are not looked at. */
export interface ItemEdits {
  keepsStorage(id: number): boolean;
  keepsEvent(id: number): boolean;
  /** Null: its value stays. A text becomes the empty one. */
  ofOp(cursor: FrameCursor): ValueEdit | null;
  /** Offsets in the payload. */
  ofEvent(id: number): readonly { readonly offset: number; readonly edit: ValueEdit }[];
  /** In place, before strings are renumbered. */
  editState(state: StorageState): void;
}

export interface ValueEdit {
  /** In bytes. */
  readonly size: number;
  readonly isText: boolean;
  edit(value: bigint): bigint;
}

/** Ids stay what they are. */
export function identityMap(schema: Schema): IdMap {
  return {
    storages: Uint16Array.from(schema.storages, (_, id) => id),
    events: Uint16Array.from(schema.events, (_, id) => id),
  };
}

export class FrameCopier {
  /** Items copied, and ops left out because their slot does not exist: they change no state. */
  copied = 0;
  outOfRange = 0;
  private readonly numSlots: Uint32Array;
  private readonly scratch: { readonly offset: number; readonly value: number }[] = [];
  private items = 0;
  /** To precede the next frame. */
  private snapshots: readonly FoundSnapshot[] = [];
  private readonly take = (cursor: FrameCursor): void => {
    if (cursor.kind === CursorItem.OP) this.op(cursor);
    else this.event(cursor);
  };

  constructor(
    schema: Schema,
    private readonly ids: IdMap,
    private readonly strings: StringRemap,
    private readonly batch: RecordBatch,
    /** null: no checkpoint of the input says more than its frames. */
    private readonly finder: SnapshotFinder | null = null,
    private readonly edits: ItemEdits | null = null,
  ) {
    this.numSlots = Uint32Array.from(schema.storages, (storage) => storage.numSlots);
  }

  /** To be awaited before the frames of a segment, whose strings are in memory then. */
  async prepare(segment: LoadedSegment): Promise<void> {
    await this.strings.prepare(segment);
    const state = this.finder?.begin(segment);
    if (!state) return;
    this.edits?.editState(state);
    await this.strings.mapState(state);
    this.snapshots = this.finder!.snapshots(state);
    await this.strings.prepare(segment);
  }

  /** Appends the frame the stream is at as frame `ordinal`; false when the stream's segment has no more. */
  copy(stream: FrameStream, ordinal: number): boolean {
    const { cursor } = stream;
    this.items = 0;
    if (this.snapshots.length > 0) this.putSnapshots();
    this.batch.begin(cursor.timePs);
    const more = stream.takeFrame(this.take);
    this.batch.end(this.items, ordinal);
    this.copied += this.items;
    return more;
  }

  private putSnapshots(): void {
    for (const { storageId, content } of this.snapshots) {
      if (this.edits && !this.edits.keepsStorage(storageId)) continue;
      this.batch.snapshot(this.ids.storages[storageId], content);
    }
    this.snapshots = [];
    this.finder!.taken();
  }

  private op(cursor: FrameCursor): void {
    this.finder?.op(cursor);
    const { action, storageId, slot, field, hi } = cursor;
    if (this.edits && !this.edits.keepsStorage(storageId)) return;
    if (action !== Action.PROP_SET && slot >= this.numSlots[storageId]) {
      this.outOfRange++;
      return;
    }
    const edit = this.edits?.ofOp(cursor);
    if (edit) {
      this.editedOp(cursor, edit);
      return;
    }
    const lo = this.strings.refs.isRefOp(cursor) ? this.strings.map(cursor.lo) : cursor.lo;
    this.batch.op(action as Action, this.ids.storages[storageId], slot, field, lo, hi);
    this.items++;
  }

  private editedOp({ action, storageId, slot, field, lo, hi }: FrameCursor, edit: ValueEdit): void {
    const value = edit.isText ? BigInt(this.strings.empty()) : edit.edit((BigInt(hi) << 32n) | BigInt(lo));
    const [low, high] = [Number(value & 0xffff_ffffn), Number(value >> 32n)];
    this.batch.op(action as Action, this.ids.storages[storageId], slot, field, low, high);
    this.items++;
  }

  private event(cursor: FrameCursor): void {
    const { bytes, payloadOffset, payloadSize, eventType } = cursor;
    if (this.edits && !this.edits.keepsEvent(eventType)) return;
    const edits = this.edits?.ofEvent(eventType) ?? [];
    const refs = this.strings.refs.ofEvent[eventType];
    // New strings become separate records, so they come first.
    for (const offset of refs) {
      const isHidden = edits.some((one) => one.edit.isText && one.offset === offset);
      if (isHidden) this.scratch.push({ offset, value: this.strings.empty() });
      else this.scratch.push({ offset, value: this.strings.map(readU32(bytes, payloadOffset + offset)) });
    }
    const { view, offset: at } = this.batch.event(this.ids.events[eventType], payloadSize);
    for (let i = 0; i < payloadSize; i++) view.setUint8(at + i, bytes[payloadOffset + i]);
    for (const { offset, value } of this.scratch) view.setUint32(at + offset, value, true);
    for (const { offset, edit } of edits) if (!edit.isText) editPayload(view, at + offset, edit);
    this.scratch.length = 0;
    this.items++;
  }
}

function editPayload(view: DataView, at: number, { size, edit }: ValueEdit): void {
  let value = 0n;
  for (let byte = size - 1; byte >= 0; byte--) value = (value << 8n) | BigInt(view.getUint8(at + byte));
  let edited = edit(value);
  for (let byte = 0; byte < size; byte++, edited >>= 8n) view.setUint8(at + byte, Number(edited & 0xffn));
}
