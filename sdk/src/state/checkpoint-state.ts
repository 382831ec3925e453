/** Storage state <-> checkpoint bytes (docs/format.md#checkpoints), straight from and into the cells: no intermediate values. */
import { UscopeError } from '../base/errors.js';
import type { StateLayout } from './layout.js';
import type { StorageState } from './storage-state.js';

const BLOCK_HEADER_BYTES = 8;
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

/**
 * @param allocate at least this number of bytes, of any content, in the memory of the state's packer if it has one; by default its own array,
 *   which is packed here
 */
export function encodeCheckpoint(state: StorageState, allocate?: (size: number) => Uint8Array): Uint8Array {
  const { layout, packer } = state;
  let size = 0;
  for (let id = 0; id < layout.numStorages; id++) size += BLOCK_HEADER_BYTES + blockPayloadSize(state, id);
  if (allocate && packer) {
    const bytes = allocate(size + PACKER_SLACK).subarray(0, size);
    packer(bytes.byteOffset);
    return bytes;
  }
  const bytes = allocate ? allocate(size).subarray(0, size) : new Uint8Array(size);
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  let at = 0;
  for (let id = 0; id < layout.numStorages; id++) {
    view.setUint16(at, layout.schema.storages[id].storageId, true);
    view.setUint16(at + 2, 0, true);
    view.setUint32(at + 4, blockPayloadSize(state, id), true);
    at = packSlots(state, id, bytes, view, at + BLOCK_HEADER_BYTES);
    const fields = layout.fieldBase[id] + layout.numFields[id];
    at = packCells(state, layout.propertyCellBase[id], fields, layout.numProperties[id], view, at);
  }
  return bytes;
}

function packSlots(
  state: StorageState,
  id: number,
  bytes: Uint8Array,
  view: DataView,
  start: number,
): number {
  const { layout, mask } = state;
  const slots = layout.numSlots[id];
  const sparse = layout.sparse[id] === 1;
  const maskBase = layout.maskBase[id];
  let at = start;
  if (sparse) {
    const maskBytes = (slots + 7) >>> 3;
    bytes.set(mask.subarray(maskBase, maskBase + maskBytes), at);
    at += maskBytes;
  }
  for (let slot = 0; slot < slots; slot++) {
    if (sparse && (mask[maskBase + (slot >>> 3)] & (1 << (slot & 7))) === 0) continue;
    const cell = layout.cellBase[id] + slot * layout.numFields[id];
    at = packCells(state, cell, layout.fieldBase[id], layout.numFields[id], view, at);
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
