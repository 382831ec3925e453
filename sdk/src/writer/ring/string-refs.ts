/** Which strings the kept segments refer to (FT_STRING_REF, docs/reference/format.md#string-table), and their new numbers. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { ItemTag } from '../../format/frame-cursor.js';
import { Action, type Schema } from '../../format/types.js';
import { LoadSteps } from '../../state/checkpoint-load.js';
import { CheckpointSteps, checkpointSize } from '../../state/checkpoint-state.js';
import { stateLayout } from '../../state/layout.js';
import { StepSequence, type Steps } from '../../state/steps.js';
import { StorageState } from '../../state/storage-state.js';
import { StringCellSteps, stringFlags, stringOffsets } from '../../state/string-cells.js';
import { inTurns, WalkSteps } from '../frames/turns.js';

export class StringRefs {
  /** Strings referred to. */
  readonly used = new Set<number>();
  /** References are computed by ADD: then every string keeps its number. */
  isFixed = false;
  private readonly ofStorage: readonly (Uint8Array | null)[];
  private readonly ofEvent: readonly (readonly number[])[];
  private readonly state: StorageState | null;

  constructor(
    private readonly schema: Schema,
    maxStateBytes?: number,
  ) {
    this.ofStorage = schema.storages.map(({ fields, properties }) => stringFlags([...fields, ...properties]));
    this.ofEvent = schema.events.map(({ fields }) => stringOffsets(fields));
    const inStorages = this.ofStorage.some((flags) => flags !== null);
    this.state = inStorages ? new StorageState(stateLayout(schema, maxStateBytes)) : null;
  }

  /** Whether anything at all can refer to strings. */
  get any(): boolean {
    return this.state !== null || this.ofEvent.some((offsets) => offsets.length > 0);
  }

  /** The references of a checkpoint. What was never set holds 0: string 0 is referred to wherever there is a field for it. */
  collectCheckpoint(checkpoint: Uint8Array): Steps {
    const { state, used, ofStorage } = this;
    if (!state) return new StepSequence([]);
    used.add(0);
    return new StepSequence([
      () => new LoadSteps(state, checkpoint),
      () => new StringCellSteps(state, ofStorage, (word) => used.add(state.cells[word])),
    ]);
  }

  /** The reference of the cursor's present item. */
  collect(cursor: FrameCursor): void {
    if (cursor.kind === CursorItem.OP) {
      const flags = this.ofStorage[cursor.storageId];
      if (!flags) return;
      if (this.isRef(cursor, flags)) this.used.add(cursor.lo);
      else if (cursor.action === Action.ADD && flags[cursor.field] === 1) this.isFixed = true;
    } else if (cursor.kind === CursorItem.EVENT) {
      for (const offset of this.ofEvent[cursor.eventType] ?? []) {
        if (offset + 4 <= cursor.payloadSize)
          this.used.add(viewOf(cursor.bytes).getUint32(cursor.payloadOffset + offset, true));
      }
    }
  }

  /** The checkpoint with other numbers. */
  async renumberCheckpoint(checkpoint: Uint8Array, map: ReadonlyMap<number, number>): Promise<Uint8Array> {
    const { state } = this;
    if (!state) return checkpoint;
    const renumber = (word: number): void => {
      state.cells[word] = map.get(state.cells[word]) ?? state.cells[word];
    };
    await inTurns(new LoadSteps(state, checkpoint));
    await inTurns(new StringCellSteps(state, this.ofStorage, renumber));
    const bytes = new Uint8Array(checkpointSize(state));
    await inTurns(new CheckpointSteps(state, bytes));
    return bytes;
  }

  /** Puts other numbers into a delta blob. They are never larger than those before, so that they fit wherever those did. */
  renumber(frames: FrameCursor, map: ReadonlyMap<number, number>): Steps {
    const { bytes } = frames;
    const view = viewOf(bytes);
    return new WalkSteps(frames, (cursor) => {
      if (cursor.kind === CursorItem.OP) this.renumberOp(cursor, view, map);
      else if (cursor.kind === CursorItem.EVENT) this.renumberEvent(cursor, view, map);
    });
  }

  private renumberOp(cursor: FrameCursor, view: DataView, map: ReadonlyMap<number, number>): void {
    const flags = this.ofStorage[cursor.storageId];
    const mapped = flags && this.isRef(cursor, flags) ? map.get(cursor.lo) : undefined;
    if (mapped === undefined) return;
    const at = cursor.itemOffset;
    if (cursor.bytes[at] === ItemTag.COMPACT) view.setUint16(at + 7, mapped, true);
    else view.setUint32(at + 8, mapped, true);
  }

  private renumberEvent(cursor: FrameCursor, view: DataView, map: ReadonlyMap<number, number>): void {
    for (const offset of this.ofEvent[cursor.eventType] ?? []) {
      const at = cursor.payloadOffset + offset;
      if (offset + 4 > cursor.payloadSize) continue;
      const mapped = map.get(view.getUint32(at, true));
      if (mapped !== undefined) view.setUint32(at, mapped, true);
    }
  }

  private isRef({ action, storageId, field, hi }: FrameCursor, flags: Uint8Array): boolean {
    if (hi !== 0) return false;
    if (action === Action.SET) return flags[field] === 1;
    return action === Action.PROP_SET && flags[this.schema.storages[storageId].fields.length + field] === 1;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
