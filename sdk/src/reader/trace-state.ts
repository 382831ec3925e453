/** The state of a trace at one time, to be asked by id or by name. It stays as it is while a live trace continues. */

import type { StorageDef } from '../format/types.js';
import type { StorageState } from '../state/storage-state.js';
import type { NameIndex } from './names.js';
import { interpret } from './payload.js';

export class TraceState {
  constructor(
    /** All frames at or before this time are in it. */
    readonly timePs: bigint,
    /** The cells themselves, for code that reads many of them. */
    readonly raw: StorageState,
    private readonly names: NameIndex,
  ) {}

  /** `uscope_slot_valid`. Slots of dense storages are always valid. @throws UscopeError READER_NAME, OP_SLOT */
  slotValid(storage: string | number, slot: number): boolean {
    return this.raw.slotValid(this.id(storage), slot);
  }

  /**
   * `uscope_slot_field`: the value as stored, unsigned, as wide as the field's type.
   * @throws UscopeError READER_NAME, OP_SLOT
   */
  slotField(storage: string | number, slot: number, field: string | number): bigint {
    const def = this.names.storage(storage);
    return this.raw.value(def.storageId, slot, this.names.field(def, field));
  }

  /** Value of a storage property (docs/reference/format.md#storage-properties) as stored. @throws UscopeError READER_NAME */
  property(storage: string | number, property: string | number): bigint {
    const def = this.names.storage(storage);
    return this.raw.property(def.storageId, this.names.property(def, property));
  }

  /**
   * `uscope_storage_occupancy`: valid slots of a sparse storage, slots set and not cleared of a buffer stored dense, all slots of
   * any other.
   */
  occupancy(storage: string | number): number {
    return this.raw.occupancy(this.id(storage));
  }

  /** A view of one storage. @throws UscopeError READER_NAME */
  storage(storage: string | number): StorageView {
    return new StorageView(this.names.storage(storage), this.raw, this.names);
  }

  private id(storage: string | number): number {
    return this.names.storage(storage).storageId;
  }
}

export class StorageView {
  constructor(
    readonly def: StorageDef,
    private readonly raw: StorageState,
    private readonly names: NameIndex,
  ) {}

  /** Scope path without the root, then the storage's name. */
  get name(): string {
    return this.names.storageNames[this.def.storageId];
  }

  get occupancy(): number {
    return this.raw.occupancy(this.def.storageId);
  }

  /** True for a slot that counts in `occupancy`. */
  occupied(slot: number): boolean {
    const { storageId } = this.def;
    const { layout } = this.raw;
    if (!this.raw.slotValid(storageId, slot)) return false;
    return layout.buffer[storageId] === 0 || this.raw.slotOccupied(storageId, slot);
  }

  /** The slots that count in `occupancy`, rising. */
  *slots(): Generator<number> {
    for (let slot = 0; slot < this.def.numSlots; slot++) if (this.occupied(slot)) yield slot;
  }

  /** Value of a field; fields of signed types as signed numbers. @throws UscopeError READER_NAME, OP_SLOT */
  field(slot: number, field: string | number): bigint {
    const index = this.names.field(this.def, field);
    return interpret(this.def.fields[index].type, this.raw.value(this.def.storageId, slot, index));
  }

  /** Value of a property; signed types as signed numbers. @throws UscopeError READER_NAME */
  property(property: string | number): bigint {
    const index = this.names.property(this.def, property);
    return interpret(this.def.properties[index].type, this.raw.property(this.def.storageId, index));
  }
}
