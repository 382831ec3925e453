/** Which storages are counters. */
import { FieldType, SF_BUFFER, SF_SPARSE, type StorageDef } from '../../format/types.js';

/** A counter by the conventions of the cpu protocol: one dense slot with exactly one U64 field. */
export function isCounterStorage(storage: StorageDef): boolean {
  const isDense = (storage.flags & (SF_SPARSE | SF_BUFFER)) === 0;
  return (
    isDense &&
    storage.numSlots === 1 &&
    storage.fields.length === 1 &&
    storage.fields[0]?.type === FieldType.U64
  );
}
