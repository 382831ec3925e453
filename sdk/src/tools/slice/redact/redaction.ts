/** A redaction of one trace: its new schema, and what happens to its items and states on their way into the copy. */
import { UscopeError } from '../../../base/errors.js';
import type { FrameCursor } from '../../../format/frame.js';
import { Action, type DutProperties, type Schema } from '../../../format/types.js';
import { StorageState } from '../../../state/storage-state.js';
import type { IdMap, ItemEdits } from '../../../stream/frame-copier.js';
import { placeKeptState } from '../../../stream/place-state.js';
import { type FieldEdit, type FieldEdits, fieldEdits } from './field-edits.js';
import { Pseudonyms } from './pseudonyms.js';
import type { RedactionRules } from './rules.js';
import { DROPPED, editSchema, type SchemaEdits } from './schema-edits.js';
import { TextEdits } from './texts.js';

const U64 = (1n << 64n) - 1n;

export class Redaction implements ItemEdits {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly ids: IdMap;
  private readonly texts: TextEdits;
  private readonly fields: FieldEdits;
  /** Values that were changed. */
  changedValues = 0;

  /** @throws UscopeError READER_NAME, SCHEMA_NAME, SCHEMA_TYPE for rules that do not fit the trace */
  constructor(
    private readonly original: Schema,
    dut: DutProperties,
    rules: RedactionRules,
  ) {
    const pseudonyms = new Pseudonyms(rules.key);
    this.texts = new TextEdits(rules, pseudonyms);
    const edits: SchemaEdits = editSchema(original, dut, rules, this.texts);
    this.schema = edits.schema;
    this.dut = edits.dut;
    this.ids = { storages: edits.storages, events: edits.events };
    this.fields = fieldEdits(original, rules, this.texts, pseudonyms);
    this.texts.changed = 0;
  }

  /** Strings that were changed. */
  get changedTexts(): number {
    return this.texts.changed;
  }

  text(text: string): string {
    return this.texts.edit(text);
  }

  keepsStorage(id: number): boolean {
    return this.ids.storages[id] !== DROPPED;
  }

  keepsEvent(id: number): boolean {
    return this.ids.events[id] !== DROPPED;
  }

  ofOp({ action, storageId, field }: FrameCursor): FieldEdit | null {
    if (action === Action.CLEAR) return null;
    const { name, fields } = this.original.storages[storageId];
    const edit =
      this.fields.storages[storageId][action === Action.PROP_SET ? fields.length + field : field] ?? null;
    if (!edit) return null;
    this.changedValues++;
    if (action === Action.ADD && edit.kind !== 'zero')
      throw new UscopeError(
        'SCHEMA_TYPE',
        `field "${fields[field].name}" of "${name}" counts (ADD): a rule can only make it zero`,
      );
    return edit;
  }

  ofEvent(id: number): FieldEdits['events'][number] {
    const edits = this.fields.events[id];
    this.changedValues += edits.length;
    return edits;
  }

  /** In place, before its strings are renumbered: dropped storages become empty, values are replaced. */
  editState(state: StorageState): void {
    const { layout, cells } = state;
    for (const [id, edits] of this.fields.storages.entries()) {
      if (!this.keepsStorage(id)) {
        state.emptyStorage(id);
        continue;
      }
      const fields = layout.numFields[id];
      for (const [at, edit] of edits.entries()) {
        if (!edit) continue;
        if (at >= fields) editCell(cells, layout.propertyCellBase[id] + at - fields, edit);
        else
          for (let slot = 0; slot < layout.numSlots[id]; slot++)
            editCell(cells, layout.cellBase[id] + slot * fields + at, edit);
      }
    }
  }

  /** The state in the storages that are left. */
  placed(state: StorageState): StorageState {
    const left = new StorageState(this.schema);
    placeKeptState(state, left, this.ids.storages, DROPPED);
    return left;
  }
}

function editCell(cells: Uint32Array, cell: number, edit: FieldEdit): void {
  const at = 2 * cell;
  const value = (BigInt(cells[at + 1]) << 32n) | BigInt(cells[at]);
  // What was never set stays so.
  if (value === 0n) return;
  const edited = edit.edit(value) & U64;
  cells[at] = Number(edited & 0xffff_ffffn);
  cells[at + 1] = Number(edited >> 32n);
}
