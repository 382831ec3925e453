/** Finds string references (FT_STRING_REF, docs/reference/format.md#string-table): in the cells of a state, and in the payloads of events. */
import { type FieldDef, FieldType, fieldSize } from '../format/types.js';
import { finish, type Steps } from './steps.js';
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

/** As `StringCellSteps`, at once. */
export function forEachStringCell(...of: ConstructorParameters<typeof StringCellSteps>): void {
  finish(new StringCellSteps(...of));
}

/**
 * Calls back with the place (word in `cells`) of every reference a state holds: those of slots that have data, and properties.
 * @param ofStorage per storage: one flag per field, then one per property; null where none is set
 */
export class StringCellSteps implements Steps {
  private id = 0;
  private slot = 0;

  constructor(
    private readonly state: StorageState,
    private readonly ofStorage: readonly (Uint8Array | null)[],
    private readonly visit: (word: number) => void,
  ) {}

  get isDone(): boolean {
    return this.id >= this.ofStorage.length;
  }

  step(cells: number): void {
    for (let rest = cells; rest > 0 && !this.isDone; ) rest -= this.part(rest);
  }

  /** Slots of one storage; returns how many cells they amount to. */
  private part(cells: number): number {
    const { state, id, visit, slot: first } = this;
    const { layout } = state;
    const flags = this.ofStorage[id];
    if (!flags) {
      this.id++;
      return 1;
    }
    const fields = layout.numFields[id];
    const end = Math.min(layout.numSlots[id], first + Math.max(1, Math.floor(cells / (fields + 1))));
    for (let slot = first; slot < end; slot++) {
      if (!state.slotOccupied(id, slot)) continue;
      const base = layout.cellBase[id] + slot * fields;
      for (let field = 0; field < fields; field++) if (flags[field]) visit((base + field) * 2);
    }
    this.slot = end;
    if (end === layout.numSlots[id]) {
      for (let property = 0; property < layout.numProperties[id]; property++) {
        if (flags[fields + property]) visit((layout.propertyCellBase[id] + property) * 2);
      }
      this.id++;
      this.slot = 0;
    }
    return (end - first) * (fields + 1) + 1;
  }
}
