/** The tables that the compiled inner loop looks up: `struct storage`, `struct op` and events of sdk/kernel/frame_run.h. */
import { RecordKind } from '../../format/record.js';
import { Action } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import type { KernelSums } from './kernel-sums.js';

/** Words of a `struct storage`. */
export const STORAGE_WORDS = 10;
/** Words of a `struct op`. */
export const OP_WORDS = 14;
/** SET and ADD. */
export const OPS_PER_FIELD = 2;
/** First half of an event's record. */
export const EVENT_WORDS = 2;
/** Bits of an op that does more than to write a value. */
const ADDS = 1;
const SUMMED = 2;
/** Words of an op. */
const APART = 4;
const SOURCE = 5;
const CELL_BYTES = 8;

/** Addresses of what the storages have in common, each its part. */
export interface Places {
  readonly cells: number;
  readonly mask: number;
  readonly occupied: number;
  readonly ops: number;
}

/** `struct storage`, in its order. */
export function storageRows({ layout }: StorageState, { cells, mask, occupied, ops }: Places): Uint32Array {
  const rows = new Uint32Array(layout.numStorages * STORAGE_WORDS);
  for (let id = 0; id < layout.numStorages; id++) {
    const counts = [layout.numSlots[id], layout.numFields[id], layout.numProperties[id]];
    const addresses = [
      occupied + id * 4,
      cells + layout.cellBase[id] * CELL_BYTES,
      cells + layout.propertyCellBase[id] * CELL_BYTES,
      mask + layout.maskBase[id],
      ops + layout.fieldBase[id] * OPS_PER_FIELD * OP_WORDS * 4,
    ];
    const block = [layout.schema.storages[id].storageId, layout.sparse[id]];
    rows.set([...counts, ...block, ...addresses], id * STORAGE_WORDS);
  }
  return rows;
}

/** Addresses to which the ops refer: those of the storages, of the cells of their slots, and of the op that no record is. */
export interface OpPlaces {
  readonly storages: number;
  readonly cells: number;
  readonly none: number;
}

/**
 * `struct op`s in the order of the fields, and after them the one that no record is. Only SET and ADD of slot fields can be watched:
 * properties and CLEAR are not part of any summary.
 */
export function opRows({ layout }: StorageState, sums: KernelSums | null, places: OpPlaces): Uint32Array {
  const { maskLo, maskHi, sizes, fieldBase, numFields, numStorages } = layout;
  const { storages, cells, none } = places;
  const rows = new Uint32Array((sizes.length * OPS_PER_FIELD + 1) * OP_WORDS);
  const learned = [0, 0, 0, none, none];
  const put = (id: number, field: number, action: Action): void => {
    const index = fieldBase[id] + field;
    const cell = cells + (layout.cellBase[id] + field) * CELL_BYTES;
    const head = [RecordKind.OP | (action << 8) | (id << 16), field << 16];
    const apart = action === Action.ADD ? ADDS : 0;
    const row = (index * OPS_PER_FIELD + (action === Action.ADD ? 1 : 0)) * OP_WORDS;
    const storage = storages + id * STORAGE_WORDS * 4;
    rows.set([maskLo[index], maskHi[index], ...head, apart, 0, storage, cell, ...learned], row);
    if (sums?.watchedAction(id, field) !== action || field >= numFields[id]) return;
    rows[row + APART] |= SUMMED;
    rows[row + SOURCE] = sums.source(index);
  };
  for (let id = 0; id < numStorages; id++) {
    for (let field = 0; field < numFields[id] + layout.numProperties[id]; field++) {
      put(id, field, Action.SET);
      put(id, field, Action.ADD);
    }
  }
  const noStorage = storages + numStorages * STORAGE_WORDS * 4;
  rows.set([0, 0, 0, 0, ADDS, 0, noStorage, cells, ...learned], sizes.length * OPS_PER_FIELD * OP_WORDS);
  return rows;
}

export function eventRows(payloadSizes: Uint32Array): Uint32Array {
  const rows = new Uint32Array(payloadSizes.length * EVENT_WORDS);
  payloadSizes.forEach((size, type) => {
    rows.set([RecordKind.EVENT | (type << 16), size], type * EVENT_WORDS);
  });
  return rows;
}
