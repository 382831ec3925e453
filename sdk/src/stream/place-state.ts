/** A state inside a larger one. */
import type { StorageState } from '../state/storage-state.js';

/** Puts every storage of `source` into its place in `target`, where it has at least as many slots; `ids`: new ids by old ones. */
export function placeState(source: StorageState, target: StorageState, ids: Uint16Array): void {
  placeKeptState(source, target, ids, Number.NaN);
}

/** The same, without the storages whose new id is `dropped`. */
export function placeKeptState(
  source: StorageState,
  target: StorageState,
  ids: Uint16Array,
  dropped: number,
): void {
  const from = source.layout;
  const to = target.layout;
  ids.forEach((id, old) => {
    if (id === dropped) return;
    const slots = from.numSlots[old];
    copyCells(source, from.cellBase[old], slots * from.numFields[old], target, to.cellBase[id]);
    const properties = from.numProperties[old];
    copyCells(source, from.propertyCellBase[old], properties, target, to.propertyCellBase[id]);
    const mask = source.mask.subarray(from.maskBase[old], from.maskBase[old] + ((slots + 7) >>> 3));
    target.mask.set(mask, to.maskBase[id]);
    target.occupied[id] = source.occupied[old];
  });
}

function copyCells(
  source: StorageState,
  first: number,
  count: number,
  target: StorageState,
  at: number,
): void {
  target.cells.set(source.cells.subarray(first * 2, (first + count) * 2), at * 2);
}
