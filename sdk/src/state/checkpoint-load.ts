/** Checkpoint bytes -> storage state (docs/reference/format.md#checkpoints), straight into the cells. Every size is checked before it is used. */
import { UscopeError } from '../base/errors.js';
import { BLOCK_HEADER_BYTES, CELL_BYTES, IS_LITTLE_ENDIAN } from './checkpoint-state.js';
import type { Steps } from './steps.js';
import type { StorageState } from './storage-state.js';

/**
 * Replaces a state by a checkpoint's, a part at a time. Storages without a block become empty.
 * `step` throws UscopeError FORMAT_* with the offset of the damage (relative to `baseOffset`); the state is then undefined.
 */
export class LoadSteps implements Steps {
  private readonly view: DataView;
  private readonly byStorageId: ReadonlyMap<number, number>;
  /** Storages that have had a block. */
  private readonly loaded: Uint8Array;
  private block: BlockLoad | null = null;
  /** The next block; past the end when the storages without one have been emptied. */
  private at = 0;

  constructor(
    private readonly state: StorageState,
    private readonly bytes: Uint8Array,
    private readonly baseOffset = 0,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { storages } = state.layout.schema;
    this.byStorageId = new Map(storages.map(({ storageId }, index) => [storageId, index]));
    this.loaded = new Uint8Array(storages.length);
  }

  get isDone(): boolean {
    return this.at > this.bytes.byteLength;
  }

  step(cells: number): void {
    for (let rest = cells; rest > 0 && !this.isDone; ) rest -= this.part(rest);
  }

  private part(cells: number): number {
    if (this.block?.isDone) this.block = null;
    if (this.block) return this.block.part(cells);
    if (this.at < this.bytes.byteLength) this.block = this.nextBlock();
    else {
      for (const [id, isLoaded] of this.loaded.entries()) if (!isLoaded) this.state.emptyStorage(id);
      this.at = this.bytes.byteLength + 1;
    }
    return 1;
  }

  /** Leaves `at` behind the block. */
  private nextBlock(): BlockLoad {
    const { at, bytes, view, baseOffset } = this;
    if (bytes.byteLength - at < BLOCK_HEADER_BYTES) {
      throw new UscopeError('FORMAT_TRUNCATED', 'the checkpoint ends inside a block header', {
        offset: baseOffset + at,
      });
    }
    const storageId = view.getUint16(at, true);
    const size = view.getUint32(at + 4, true);
    const payload = at + BLOCK_HEADER_BYTES;
    if (size > bytes.byteLength - payload) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `checkpoint block of storage ${storageId} claims ${size} bytes of ${bytes.byteLength - payload}`,
        {
          offset: baseOffset + at + 4,
        },
      );
    }
    const id = this.byStorageId.get(storageId);
    if (id === undefined) {
      throw new UscopeError(
        'FORMAT_ID',
        `checkpoint block of storage ${storageId}, which the schema does not define`,
        { offset: baseOffset + at },
      );
    }
    this.loaded[id] = 1;
    this.at = payload + size;
    return new BlockLoad(this.state, id, bytes, view, payload, size, baseOffset);
  }
}

/** Mask, slots and properties of one storage: a checkpoint block's payload, or a snapshot, which has no properties. */
export class BlockLoad implements Steps {
  private slot = 0;
  private at: number;

  /** @throws UscopeError FORMAT_LENGTH when `size` does not fit the storage; the state is as it was then */
  constructor(
    private readonly state: StorageState,
    private readonly id: number,
    private readonly bytes: Uint8Array,
    private readonly view: DataView,
    private readonly start: number,
    size: number,
    baseOffset: number,
    private readonly withProperties = true,
  ) {
    const { layout } = state;
    const slots = layout.numSlots[id];
    const sparse = layout.sparse[id] === 1;
    const maskBytes = sparse ? (slots + 7) >>> 3 : 0;
    const valid = sparse && size >= maskBytes ? countBits(bytes, start, slots) : slots;
    const properties = withProperties ? layout.propertyBytes[id] : 0;
    const expected = maskBytes + valid * layout.slotBytes[id] + properties;
    if (size !== expected) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `checkpoint block of "${layout.schema.storages[id].name}" has ${size} bytes, its ${valid} slots need ${expected}`,
        { offset: baseOffset + start },
      );
    }
    this.at = start + maskBytes;
  }

  get isDone(): boolean {
    return this.slot > this.state.layout.numSlots[this.id];
  }

  step(cells: number): void {
    for (let rest = cells; rest > 0 && !this.isDone; ) rest -= this.part(rest);
  }

  /** Slots, or behind them the properties; returns how many cells they amount to. */
  part(cells: number): number {
    const { state, id, slot } = this;
    const { layout } = state;
    const slots = layout.numSlots[id];
    if (slot === 0) state.clearMask(id);
    if (slot === slots) {
      this.slot++;
      return 1 + this.takeProperties();
    }
    const perSlot = layout.numFields[id] + 1;
    const end = Math.min(slots, slot + Math.max(1, Math.floor(cells / perSlot)));
    this.at = layout.sparse[id] === 1 ? this.takeSparse(slot, end) : this.takeDense(slot, end);
    this.slot = end;
    return (end - slot) * perSlot;
  }

  private takeProperties(): number {
    const { state, id, view, at } = this;
    const { layout } = state;
    if (!this.withProperties) return 0;
    const fields = layout.fieldBase[id] + layout.numFields[id];
    unpackCells(state, layout.propertyCellBase[id], fields, layout.numProperties[id], view, at);
    return layout.numProperties[id];
  }

  private takeSparse(first: number, end: number): number {
    const { state, id, bytes, start, view } = this;
    const { layout, mask } = state;
    const fields = layout.numFields[id];
    const base = layout.cellBase[id];
    state.cells.fill(0, (base + first * fields) * 2, (base + end * fields) * 2);
    let { at } = this;
    for (let slot = first; slot < end; slot++) {
      if ((bytes[start + (slot >>> 3)] & (1 << (slot & 7))) === 0) continue;
      at = unpackCells(state, base + slot * fields, layout.fieldBase[id], fields, view, at);
      mask[layout.maskBase[id] + (slot >>> 3)] |= 1 << (slot & 7);
      state.occupied[id]++;
    }
    return at;
  }

  /** A dense storage has no mask: a slot with any nonzero byte counts as occupied. Every cell of it is in the bytes. */
  private takeDense(first: number, end: number): number {
    const { state, id, bytes, view } = this;
    const { layout, mask } = state;
    const fields = layout.numFields[id];
    const base = layout.cellBase[id];
    const isAsItIs = IS_LITTLE_ENDIAN && layout.slotBytes[id] === fields * CELL_BYTES;
    let { at } = this;
    if (isAsItIs) at = this.copyCells(base + first * fields, (end - first) * fields);
    for (let slot = first; slot < end; slot++) {
      const cell = base + slot * fields;
      const start = at;
      if (!isAsItIs) at = unpackCells(state, cell, layout.fieldBase[id], fields, view, at);
      if (!(isAsItIs ? hasCells(state.cells, cell * 2, fields * 2) : hasBytes(bytes, start, at))) continue;
      mask[layout.maskBase[id] + (slot >>> 3)] |= 1 << (slot & 7);
      state.occupied[id]++;
    }
    return at;
  }

  /** Returns the place behind them in the bytes. */
  private copyCells(first: number, count: number): number {
    const { cells } = this.state;
    const end = this.at + count * CELL_BYTES;
    const target = new Uint8Array(cells.buffer, cells.byteOffset + first * CELL_BYTES, count * CELL_BYTES);
    target.set(this.bytes.subarray(this.at, end));
    return end;
  }
}

function hasCells(cells: Uint32Array, first: number, count: number): boolean {
  for (let word = first; word < first + count; word++) if (cells[word] !== 0) return true;
  return false;
}

function hasBytes(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return true;
  return false;
}

function unpackCells(
  state: StorageState,
  firstCell: number,
  firstField: number,
  count: number,
  view: DataView,
  start: number,
): number {
  const { cells, layout } = state;
  let at = start;
  for (let i = 0; i < count; i++) {
    const word = (firstCell + i) * 2;
    const size = layout.sizes[firstField + i];
    cells[word] =
      size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
    if (size === 8) cells[word + 1] = view.getUint32(at + 4, true);
    at += size;
  }
  return at;
}

function countBits(bytes: Uint8Array, start: number, slots: number): number {
  let count = 0;
  for (let slot = 0; slot < slots; slot++)
    if ((bytes[start + (slot >>> 3)] & (1 << (slot & 7))) !== 0) count++;
  return count;
}
