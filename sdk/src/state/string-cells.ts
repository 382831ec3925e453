/** Where string references (FT_STRING_REF, docs/format.md#string-table) are: in the cells of a state, and in the payloads of events. */
import { type FieldDef, FieldType, fieldSize } from '../format/types.js';
import type { StorageState } from './storage-state.js';

/** One flag per field: whether it is a reference; null where none is. */
export function stringFlags(fields: readonly FieldDef[]): Uint8Array | null {
  const flags = Uint8Array.from(fields, ({ type }) => (type === FieldType.STRING_REF ? 1 : 0));
  return flags.includes(1) ? flags : null;
}

/** Offsets of an event's references in its payload. */
export function stringOffsets(fields: readonly FieldDef[]): number[] {
  const offsets: number[] = [];
  let at = 0;
  for (const { type } of fields) {
    if (type === FieldType.STRING_REF) offsets.push(at);
    at += fieldSize(type);
  }
  return offsets;
}

/**
 * Calls back with the place (word in `cells`) of every reference a state holds: those of slots that have data, and properties.
 * @param ofStorage per storage: one flag per field, then one per property; null where none is set
 */
export function forEachStringCell(
  state: StorageState,
  ofStorage: readonly (Uint8Array | null)[],
  visit: (word: number) => void,
): void {
  const { layout } = state;
  ofStorage.forEach((flags, id) => {
    if (!flags) return;
    const fields = layout.numFields[id];
    for (let slot = 0; slot < layout.numSlots[id]; slot++) {
      if (!state.slotOccupied(id, slot)) continue;
      const base = layout.cellBase[id] + slot * fields;
      for (let field = 0; field < fields; field++) if (flags[field]) visit((base + field) * 2);
    }
    for (let property = 0; property < layout.numProperties[id]; property++) {
      if (flags[fields + property]) visit((layout.propertyCellBase[id] + property) * 2);
    }
  });
}
