/** Storage state <-> checkpoint bytes (docs/format.md#checkpoints), straight from and into the cells: no intermediate values. */
import { UscopeError } from '../base/errors.js';
import type { StateLayout } from './layout.js';
import type { StorageState } from './storage-state.js';

const BLOCK_HEADER_BYTES = 8;
const CELL_BYTES = 8;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
/** A packer may write so far past the end: CHECKPOINT_SLACK of sdk/kernel/frame_run.h. */
const PACKER_SLACK = 8;

/** Packed size of one storage's block payload: mask (sparse), slot data, properties. */
function blockPayloadSize(state: StorageState, storageId: number): number {
  const { layout } = state;
  const sparse = layout.sparse[storageId] === 1;
  const slots = sparse ? state.occupied[storageId] : layout.numSlots[storageId];
  const mask = sparse ? (layout.numSlots[storageId] + 7) >>> 3 : 0;
  return mask + slots * layout.slotBytes[storageId] + layout.propertyBytes[storageId];
}

/** Of `encodeCheckpoint`. */
export function checkpointSize(state: StorageState): number {
  let size = 0;
  for (let id = 0; id < state.layout.numStorages; id++)
    size += BLOCK_HEADER_BYTES + blockPayloadSize(state, id);
  return size;
}

/**
 * @param allocate at least this number of bytes, of any content, in the memory of the state's packer if it has one; by default its own array,
 *   which is packed here
 */
export function encodeCheckpoint(state: StorageState, allocate?: (size: number) => Uint8Array): Uint8Array {
  const { packer } = state;
  const size = checkpointSize(state);
  if (allocate && packer) {
    const bytes = allocate(size + PACKER_SLACK).subarray(0, size);
    packer(bytes.byteOffset);
    return bytes;
  }
  const bytes = allocate ? allocate(size).subarray(0, size) : new Uint8Array(size);
  new CheckpointSteps(state, bytes).step(Number.POSITIVE_INFINITY);
  return bytes;
}

/** The checkpoint of a state in which nothing is set. @param zeros `checkpointSize` bytes of zeros */
export function encodeBlankCheckpoint(state: StorageState, zeros: Uint8Array): void {
  const view = new DataView(zeros.buffer, zeros.byteOffset, zeros.length);
  for (let id = 0, at = 0; id < state.layout.numStorages; id++)
    at = putHeader(state, id, view, at) + blockPayloadSize(state, id);
}

/** A checkpoint that is encoded a part at a time. The state must not change before it is done. */
export class CheckpointSteps {
  private readonly view: DataView;
  /** The storage that is being encoded, the next one of its slots, and the place in the bytes. */
  private id = 0;
  private slot = 0;
  private at = 0;

  /** @param bytes `checkpointSize` of them, of any content */
  constructor(
    private readonly state: StorageState,
    private readonly bytes: Uint8Array,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isDone(): boolean {
    return this.id === this.state.layout.numStorages;
  }

  /** Encodes about so many cells more. */
  step(cells: number): void {
    for (let rest = cells; rest > 0 && !this.isDone; ) rest -= this.part(rest);
  }

  /** Slots of one storage; returns how many cells they, and the rest of what was encoded, amount to. */
  private part(cells: number): number {
    const { state, bytes, view, id } = this;
    const { layout } = state;
    const slots = layout.numSlots[id];
    const fields = layout.numFields[id];
    if (this.slot === 0) this.at = putMask(state, id, bytes, putHeader(state, id, view, this.at));
    const end = Math.min(slots, this.slot + Math.max(1, Math.floor(cells / (fields + 1))));
    const done = (end - this.slot) * (fields + 1);
    this.at = packSlots(state, id, bytes, view, this.at, this.slot, end);
    this.slot = end;
    if (end < slots) return done;
    const properties = layout.numProperties[id];
    this.at = packCells(
      state,
      layout.propertyCellBase[id],
      layout.fieldBase[id] + fields,
      properties,
      view,
      this.at,
    );
    this.slot = 0;
    this.id++;
    return done + properties + 1;
  }
}

function putHeader(state: StorageState, id: number, view: DataView, at: number): number {
  view.setUint16(at, state.layout.schema.storages[id].storageId, true);
  view.setUint16(at + 2, 0, true);
  view.setUint32(at + 4, blockPayloadSize(state, id), true);
  return at + BLOCK_HEADER_BYTES;
}

function putMask({ layout, mask }: StorageState, id: number, bytes: Uint8Array, at: number): number {
  if (layout.sparse[id] === 0) return at;
  const size = (layout.numSlots[id] + 7) >>> 3;
  const base = layout.maskBase[id];
  bytes.set(mask.subarray(base, base + size), at);
  return at + size;
}

/** Slots `first` up to `end`. */
function packSlots(
  state: StorageState,
  id: number,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  first: number,
  end: number,
): number {
  const { layout, mask, cells } = state;
  const fields = layout.numFields[id];
  const sparse = layout.sparse[id] === 1;
  const firstCell = layout.cellBase[id] + first * fields;
  if (IS_LITTLE_ENDIAN && !sparse && layout.slotBytes[id] === fields * CELL_BYTES) {
    // Cells as they are: large states are mostly of this kind.
    const size = (end - first) * fields * CELL_BYTES;
    bytes.set(new Uint8Array(cells.buffer, cells.byteOffset + firstCell * CELL_BYTES, size), start);
    return start + size;
  }
  const maskBase = layout.maskBase[id];
  let at = start;
  for (let slot = first; slot < end; slot++) {
    if (sparse && (mask[maskBase + (slot >>> 3)] & (1 << (slot & 7))) === 0) continue;
    at = packCells(state, layout.cellBase[id] + slot * fields, layout.fieldBase[id], fields, view, at);
  }
  return at;
}

function packCells(
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
    if (size === 1) view.setUint8(at, cells[word]);
    else if (size === 2) view.setUint16(at, cells[word], true);
    else {
      view.setUint32(at, cells[word], true);
      if (size === 8) view.setUint32(at + 4, cells[word + 1], true);
    }
    at += size;
  }
  return at;
}

/** Fills a freshly reset state from checkpoint bytes; every size is checked before it is used. */
export function decodeCheckpointInto(state: StorageState, bytes: Uint8Array, baseOffset: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const byStorageId = new Map(
    state.layout.schema.storages.map((storage, index) => [storage.storageId, index]),
  );
  let at = 0;
  while (at < bytes.byteLength) {
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
    const id = byStorageId.get(storageId);
    if (id === undefined) {
      throw new UscopeError(
        'FORMAT_ID',
        `checkpoint block of storage ${storageId}, which the schema does not define`,
        { offset: baseOffset + at },
      );
    }
    loadBlock(state, id, bytes, view, payload, size, baseOffset);
    at = payload + size;
  }
}

/**
 * Loads mask and slot data of one storage (a checkpoint block's payload, or a snapshot, which has no properties).
 * @throws UscopeError FORMAT_LENGTH when `size` does not fit the storage.
 */
export function loadBlock(
  state: StorageState,
  id: number,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  size: number,
  baseOffset: number,
  withProperties = true,
): void {
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
  clearStorage(state, id);
  const at = unpackSlots(state, id, bytes, view, start, maskBytes);
  if (withProperties) {
    const fields = layout.fieldBase[id] + layout.numFields[id];
    unpackCells(state, layout.propertyCellBase[id], fields, layout.numProperties[id], view, at);
  }
}

function clearStorage(state: StorageState, id: number): void {
  const { layout } = state;
  const first = layout.cellBase[id] * 2;
  state.cells.fill(0, first, first + layout.numSlots[id] * layout.numFields[id] * 2);
  const maskBase = layout.maskBase[id];
  state.mask.fill(0, maskBase, maskBase + ((layout.numSlots[id] + 7) >>> 3));
  state.occupied[id] = 0;
}

function unpackSlots(
  state: StorageState,
  id: number,
  bytes: Uint8Array,
  view: DataView,
  start: number,
  maskBytes: number,
): number {
  const { layout } = state;
  const sparse = layout.sparse[id] === 1;
  let at = start + maskBytes;
  for (let slot = 0; slot < layout.numSlots[id]; slot++) {
    if (sparse && (bytes[start + (slot >>> 3)] & (1 << (slot & 7))) === 0) continue;
    const cell = layout.cellBase[id] + slot * layout.numFields[id];
    const next = unpackCells(state, cell, layout.fieldBase[id], layout.numFields[id], view, at);
    if (sparse || slotHasData(bytes, at, next)) {
      state.mask[layout.maskBase[id] + (slot >>> 3)] |= 1 << (slot & 7);
      state.occupied[id]++;
    }
    at = next;
  }
  return at;
}

/** A dense checkpoint has no mask: a slot with any nonzero byte counts as occupied. */
function slotHasData(bytes: Uint8Array, from: number, to: number): boolean {
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

/** Size in bytes of a snapshot of one storage with `valid` valid slots; dense storages ignore `valid`. */
export function snapshotSize(layout: StateLayout, id: number, valid: number): number {
  const slots = layout.sparse[id] === 1 ? valid : layout.numSlots[id];
  return (layout.sparse[id] === 1 ? (layout.numSlots[id] + 7) >>> 3 : 0) + slots * layout.slotBytes[id];
}
