/** A state as arrays, which can be moved between threads. */
import type { TraceState } from './trace-state.js';

export interface StateColumns {
  readonly timePs: bigint;
  readonly storages: readonly StorageColumns[];
}

export interface StorageColumns {
  readonly storageId: number;
  /** The occupied slots, rising; of a dense storage all. */
  readonly slots: Uint32Array;
  /** One array for each field of the schema: its value in each of `slots`, as the raw u64 (see `interpret`). */
  readonly fields: readonly BigUint64Array[];
  readonly properties: BigUint64Array;
}

/** @param ids of the storages wanted; default: all. @throws UscopeError READER_NAME */
export function stateColumns(state: TraceState, ids?: readonly number[]): StateColumns {
  const wanted = ids ?? state.raw.layout.numSlots.keys();
  const storages = Array.from(wanted, (storageId) => storageColumns(state, storageId));
  return { timePs: state.timePs, storages };
}

/** One storage. @throws UscopeError READER_NAME */
export function storageColumns(state: TraceState, storageId: number): StorageColumns {
  const view = state.storage(storageId);
  const slots = Uint32Array.from(view.slots());
  const { raw } = state;
  return {
    storageId,
    slots,
    fields: view.def.fields.map((_, field) =>
      BigUint64Array.from(slots, (slot) => raw.value(storageId, slot, field)),
    ),
    properties: BigUint64Array.from(view.def.properties, (_, index) => raw.property(storageId, index)),
  };
}
