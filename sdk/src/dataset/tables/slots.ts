/** The table `slots`, divided by storage: one row for each value that a slot held, from when it was set until it changed or was cleared. */
import type { FrameCursor } from '../../format/frame.js';
import { Action, isCounterStorage, type StorageDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { StorageState } from '../../state/storage-state.js';
import type { Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn } from '../parquet/columns.js';
import { createFieldFiles, type PayloadField, setField } from '../raw/payload-columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { type CountedUnit, PartitionNames } from '../raw/units.js';

/** The slots of one storage. */
class SlotTable {
  /** What each slot held after the last instant that changed it. */
  private readonly held: Uint32Array;
  private readonly taken: Uint8Array;
  /** The cycle since when; NaN: not known. */
  private readonly since: Float64Array;
  private readonly changed: Uint32Array;
  private readonly isChanged: Uint8Array;
  private changes = 0;
  readonly files: PartFiles;
  private readonly slot = new NumberColumn('slot');
  private readonly from = new NumberColumn('from_cycle');
  private readonly to = new NumberColumn('to_cycle');
  private readonly fields: readonly PayloadField[];

  constructor(
    to: Destination,
    trace: Trace,
    core: string,
    readonly def: StorageDef,
    private readonly cycles: Cycles,
  ) {
    const of = { table: 'slots', core, key: def.name };
    const made = createFieldFiles(to, trace, of, def.fields, [this.slot, this.from, this.to]);
    this.files = made.files;
    this.fields = made.fields;
    const { numSlots, fields } = def;
    this.held = new Uint32Array(numSlots * fields.length * 2);
    this.taken = new Uint8Array(numSlots);
    this.since = new Float64Array(numSlots).fill(Number.NaN);
    this.changed = new Uint32Array(numSlots);
    this.isChanged = new Uint8Array(numSlots);
  }

  begin(state: StorageState, isResumed: boolean): void {
    const { def, taken } = this;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (isResumed) {
        this.hold(state, slot, Number.NaN);
        // A slot that is taken at cycle 0 has been taken since then.
        if (taken[slot] && this.cycles.now === 0) this.since[slot] = 0;
      } else if (this.differs(state, slot)) this.mark(slot);
    }
  }

  settle(state: StorageState): void {
    const { changed, cycles } = this;
    for (let index = 0; index < this.changes; index++) {
      const slot = changed[index];
      this.isChanged[slot] = 0;
      if (!this.differs(state, slot)) continue;
      if (this.taken[slot]) this.row(slot, cycles.now);
      this.hold(state, slot, cycles.now);
    }
    this.changes = 0;
  }

  closeAll(): void {
    const { taken } = this;
    for (let slot = 0; slot < taken.length; slot++) {
      if (taken[slot]) this.row(slot, Number.NaN);
      taken[slot] = 0;
    }
  }

  mark(slot: number): void {
    if (this.isChanged[slot]) return;
    this.isChanged[slot] = 1;
    this.changed[this.changes++] = slot;
  }

  private differs(state: StorageState, slot: number): boolean {
    const { def, held } = this;
    const isTaken = state.slotValid(def.storageId, slot) ? 1 : 0;
    if (isTaken !== this.taken[slot]) return true;
    if (!isTaken) return false;
    const words = def.fields.length * 2;
    const first = state.layout.cellBase[def.storageId] * 2 + slot * words;
    for (let word = 0; word < words; word++) {
      if (state.cells[first + word] !== held[slot * words + word]) return true;
    }
    return false;
  }

  private hold(state: StorageState, slot: number, since: number): void {
    const { def, held } = this;
    const words = def.fields.length * 2;
    const first = state.layout.cellBase[def.storageId] * 2 + slot * words;
    for (let word = 0; word < words; word++) held[slot * words + word] = state.cells[first + word];
    this.taken[slot] = state.slotValid(def.storageId, slot) ? 1 : 0;
    this.since[slot] = since;
  }

  /** @param to NaN: not known */
  private row(slot: number, to: number): void {
    const { fields, held, since } = this;
    const { rows } = this.files;
    const row = rows.begin();
    this.slot.set(row, slot);
    this.from.set(row, since[slot]);
    this.to.set(row, to);
    for (let index = 0; index < fields.length; index++) {
      const word = (slot * fields.length + index) * 2;
      setField(fields[index], row, held[word], held[word + 1]);
    }
    rows.endRow();
  }
}

/** The storages of all units. */
export class SlotsSink implements RawSink {
  private constructor(private readonly tables: ReadonlyMap<number, SlotTable>) {}

  static create(to: Destination, trace: Trace, units: readonly CountedUnit[]): SlotsSink {
    const tables = new Map<number, SlotTable>();
    for (const { unit, cycles } of units) {
      const cores = new PartitionNames(unit.name);
      for (const def of unit.storages) {
        // Each step of a counter would be a row: they have a table.
        if (isCounterStorage(def)) continue;
        const core = cores.of(def);
        tables.set(def.storageId, new SlotTable(to, trace, core, def, cycles));
      }
    }
    return new SlotsSink(tables);
  }

  begin(state: StorageState, isResumed: boolean): void {
    for (const table of this.tables.values()) table.begin(state, isResumed);
  }

  op(cursor: FrameCursor): void {
    if (cursor.action !== Action.PROP_SET) this.tables.get(cursor.storageId)?.mark(cursor.slot);
  }

  settle(state: StorageState): void {
    for (const table of this.tables.values()) table.settle(state);
  }

  gap(): void {
    for (const table of this.tables.values()) table.closeAll();
  }

  async rotate(): Promise<void> {
    for (const { files } of this.tables.values()) await files.rotate();
  }

  async finish(): Promise<void> {
    for (const table of this.tables.values()) {
      table.closeAll();
      await table.files.finish();
    }
  }
}
