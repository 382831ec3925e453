/**
 * State of all storages at one instant: what checkpoints store (docs/reference/format.md#checkpoints) and deltas change (docs/reference/format.md#delta-ops).
 */
import { UscopeError } from '../base/errors.js';
import { Action, type Schema } from '../format/types.js';
import { LoadSteps } from './checkpoint-load.js';
import { encodeCheckpoint } from './checkpoint-state.js';
import { type StateLayout, stateLayout } from './layout.js';
import { finish } from './steps.js';

export class StorageState {
  readonly layout: StateLayout;
  /** Two u32 words (low, high) per cell; values are truncated to their field's width. */
  cells: Uint32Array;
  /**
   * One bit per slot, LSB first: valid (sparse storages) or set since it was last cleared (dense ones, from which the occupancy of
   * buffers stored dense is derived).
   */
  mask: Uint8Array;
  /** Per storage: number of set bits in its mask. */
  occupied: Uint32Array;

  /**
   * Packs a checkpoint of the state at an address of the memory to which its arrays have been moved, and may write some bytes
   * after it; null: there is none (see `encodeCheckpoint`).
   */
  packer: ((address: number) => void) | null = null;

  constructor(schemaOrLayout: Schema | StateLayout) {
    this.layout = 'cellBase' in schemaOrLayout ? schemaOrLayout : stateLayout(schemaOrLayout);
    this.cells = new Uint32Array(this.layout.totalCells * 2);
    this.mask = new Uint8Array(this.layout.totalMaskBytes);
    this.occupied = new Uint32Array(this.layout.numStorages);
  }

  /** True if the op's ids exist in the schema. For CLEAR the field is ignored, for PROP_SET the slot. */
  inRange(action: number, storageId: number, slot: number, field: number): boolean {
    const layout = this.layout;
    if (storageId >= layout.numStorages) return false;
    switch (action) {
      case Action.SET:
      case Action.ADD:
        return slot < layout.numSlots[storageId] && field < layout.numFields[storageId];
      case Action.CLEAR:
        return slot < layout.numSlots[storageId];
      case Action.PROP_SET:
        return field < layout.numProperties[storageId];
      default:
        return false;
    }
  }

  /**
   * Applies one op; `lo`/`hi` are the halves of its value as unsigned 32-bit numbers. The ids must be `inRange`.
   * SET and ADD mark the slot valid, ADD wraps at the field's width, CLEAR zeroes the slot.
   */
  apply(action: number, storageId: number, slot: number, field: number, lo: number, hi: number): void {
    const layout = this.layout;
    const cells = this.cells;
    if (action === Action.SET || action === Action.ADD) {
      const f = layout.fieldBase[storageId] + field;
      const cell = (layout.cellBase[storageId] + slot * layout.numFields[storageId] + field) * 2;
      if (action === Action.SET) {
        cells[cell] = lo & layout.maskLo[f];
        cells[cell + 1] = hi & layout.maskHi[f];
      } else {
        const sum = cells[cell] + lo;
        const carry = sum > 0xffffffff ? 1 : 0;
        cells[cell] = sum & layout.maskLo[f];
        cells[cell + 1] = (cells[cell + 1] + hi + carry) & layout.maskHi[f];
      }
      const byte = layout.maskBase[storageId] + (slot >>> 3);
      const bit = 1 << (slot & 7);
      const old = this.mask[byte];
      if ((old & bit) === 0) {
        this.mask[byte] = old | bit;
        this.occupied[storageId]++;
      }
    } else if (action === Action.CLEAR) {
      this.clear(storageId, slot);
    } else {
      const f = layout.fieldBase[storageId] + layout.numFields[storageId] + field;
      const cell = (layout.propertyCellBase[storageId] + field) * 2;
      cells[cell] = lo & layout.maskLo[f];
      cells[cell + 1] = hi & layout.maskHi[f];
    }
  }

  private clear(storageId: number, slot: number): void {
    const layout = this.layout;
    const fields = layout.numFields[storageId];
    const first = (layout.cellBase[storageId] + slot * fields) * 2;
    const end = first + fields * 2;
    for (let i = first; i < end; i++) this.cells[i] = 0;
    const byte = layout.maskBase[storageId] + (slot >>> 3);
    const bit = 1 << (slot & 7);
    const old = this.mask[byte];
    if ((old & bit) !== 0) {
      this.mask[byte] = old & ~bit;
      this.occupied[storageId]--;
    }
  }

  /** Slots of dense storages are always valid (docs/reference/format.md#storage-flags). */
  slotValid(storageId: number, slot: number): boolean {
    this.check(Action.CLEAR, storageId, slot, 0);
    return this.layout.sparse[storageId] === 0 || this.slotOccupied(storageId, slot);
  }

  /** Valid (sparse), or set since its last CLEAR (dense). */
  slotOccupied(storageId: number, slot: number): boolean {
    return (this.mask[this.layout.maskBase[storageId] + (slot >>> 3)] & (1 << (slot & 7))) !== 0;
  }

  /** Value of a field as stored: unsigned, truncated to the field's width (no sign extension). */
  value(storageId: number, slot: number, field: number): bigint {
    this.check(Action.SET, storageId, slot, field);
    const layout = this.layout;
    return this.cell(layout.cellBase[storageId] + slot * layout.numFields[storageId] + field);
  }

  property(storageId: number, property: number): bigint {
    this.check(Action.PROP_SET, storageId, 0, property);
    return this.cell(this.layout.propertyCellBase[storageId] + property);
  }

  /** Valid slots of a sparse storage; occupied slots of a dense buffer; all slots of any other dense storage. */
  occupancy(storageId: number): number {
    const layout = this.layout;
    if (storageId >= layout.numStorages) this.check(Action.CLEAR, storageId, 0, 0);
    const counted = layout.sparse[storageId] === 1 || layout.buffer[storageId] === 1;
    return counted ? this.occupied[storageId] : layout.numSlots[storageId];
  }

  /** The checkpoint of this state: one block per storage, in schema order (docs/reference/format.md#checkpoints). `allocate` as in `encodeCheckpoint`. */
  encodeCheckpoint(allocate?: (size: number) => Uint8Array): Uint8Array {
    return encodeCheckpoint(this, allocate);
  }

  /**
   * Replaces the state by a checkpoint's. Storages without a block become empty.
   * @throws UscopeError FORMAT_* with the offset of the damage (relative to `baseOffset`); the state is then undefined.
   */
  loadCheckpoint(bytes: Uint8Array, baseOffset = 0): void {
    finish(new LoadSteps(this, bytes, baseOffset));
  }

  /** No slot of the storage is set any more. Their cells are the caller's matter. */
  clearMask(storageId: number): void {
    const { layout, mask, occupied } = this;
    const first = layout.maskBase[storageId];
    mask.fill(0, first, first + ((layout.numSlots[storageId] + 7) >>> 3));
    occupied[storageId] = 0;
  }

  emptyStorage(storageId: number): void {
    const { layout, cells } = this;
    const first = layout.cellBase[storageId] * 2;
    cells.fill(0, first, first + layout.numSlots[storageId] * layout.numFields[storageId] * 2);
    const properties = layout.propertyCellBase[storageId] * 2;
    cells.fill(0, properties, properties + layout.numProperties[storageId] * 2);
    this.clearMask(storageId);
  }

  reset(): void {
    this.cells.fill(0);
    this.mask.fill(0);
    this.occupied.fill(0);
  }

  /** Nothing is set: every cell is zero. */
  get isBlank(): boolean {
    const { layout, occupied, cells } = this;
    if (occupied.some((count) => count !== 0)) return false;
    for (let id = 0; id < layout.numStorages; id++) {
      const first = layout.propertyCellBase[id] * 2;
      const end = first + layout.numProperties[id] * 2;
      for (let word = first; word < end; word++) if (cells[word] !== 0) return false;
    }
    return true;
  }

  /**
   * Moves the arrays to these byte offsets of a memory, for compiled code that works on it; `cells` must be 8-aligned.
   * @param isZero the memory is all zeros there: nothing of a large state is touched before something is set
   */
  moveTo(
    memory: ArrayBufferLike,
    at: { readonly cells: number; readonly mask: number; readonly occupied: number },
    isZero = false,
  ): void {
    const { cells, mask, occupied, isBlank } = this;
    this.cells = new Uint32Array(memory, at.cells, cells.length);
    this.mask = new Uint8Array(memory, at.mask, mask.length);
    this.occupied = new Uint32Array(memory, at.occupied, occupied.length);
    if (isZero && isBlank) return;
    this.cells.set(cells);
    this.mask.set(mask);
    this.occupied.set(occupied);
  }

  clone(): StorageState {
    const copy = new StorageState(this.layout);
    copy.cells.set(this.cells);
    copy.mask.set(this.mask);
    copy.occupied.set(this.occupied);
    return copy;
  }

  private cell(index: number): bigint {
    return (BigInt(this.cells[index * 2 + 1]) << 32n) | BigInt(this.cells[index * 2]);
  }

  private check(action: number, storageId: number, slot: number, field: number): void {
    if (this.inRange(action, storageId, slot, field)) return;
    if (storageId >= this.layout.numStorages) {
      throw new UscopeError('OP_STORAGE', `storage id ${storageId} is not below ${this.layout.numStorages}`);
    }
    const { name, numSlots } = this.layout.schema.storages[storageId];
    if (action !== Action.PROP_SET && slot >= numSlots) {
      throw new UscopeError('OP_SLOT', `slot ${slot} of "${name}" is not below ${numSlots}`);
    }
    throw new UscopeError(
      action === Action.PROP_SET ? 'OP_PROPERTY' : 'OP_FIELD',
      `index ${field} is not defined in "${name}"`,
    );
  }
}
