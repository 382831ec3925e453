/** Storage state -> checkpoint bytes (docs/reference/format.md#checkpoints), straight from the cells: no intermediate values. checkpoint-load.ts is the way back. */
import type { StateLayout } from './layout.js';
import type { Steps } from './steps.js';
import type { StorageState } from './storage-state.js';

export const BLOCK_HEADER_BYTES = 8;
export const CELL_BYTES = 8;
export const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
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
export class CheckpointSteps implements Steps {
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

  /** Encodes about this number of cells more. */
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

/** Size in bytes of a snapshot of one storage with `valid` valid slots; dense storages ignore `valid`. */
export function snapshotSize(layout: StateLayout, id: number, valid: number): number {
  const slots = layout.sparse[id] === 1 ? valid : layout.numSlots[id];
  return (layout.sparse[id] === 1 ? (layout.numSlots[id] + 7) >>> 3 : 0) + slots * layout.slotBytes[id];
}
