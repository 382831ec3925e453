/**
 * Who is in flight where a segment begins, by its checkpoint. Mostly that is who the frames before have left there; where a scope was switched off, or
 * a model sent snapshots, it is not, and no op shows the difference.
 */
import { SF_SPARSE, type StorageDef } from '../../format/types.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { StorageState } from '../../state/storage-state.js';

const BLOCK_HEADER_BYTES = 8;

/** One storage of a state. */
export interface CatalogState {
  isTaken(slot: number): boolean;
  value(slot: number, field: number): bigint;
}

/** @param storage of the state: its number there */
export function catalogIn(state: StorageState, storage: number): CatalogState {
  return {
    isTaken: (slot) => state.slotOccupied(storage, slot),
    value: (slot, field) => state.value(storage, slot, field),
  };
}

export class CatalogCheckpoints {
  private readonly state: StorageState;
  private readonly found: CatalogState;

  private constructor(
    trace: Trace,
    private readonly def: StorageDef,
  ) {
    this.state = new StorageState({ ...trace.schema, storages: [def] });
    this.found = catalogIn(this.state, 0);
  }

  /** null: of a dense storage nobody leaves without an op, and checkpoints of other writers may follow their frames. */
  static of(trace: Trace, def: StorageDef): CatalogCheckpoints | null {
    const isSparse = (def.flags & SF_SPARSE) !== 0;
    return isSparse && trace.session !== null ? new CatalogCheckpoints(trace, def) : null;
  }

  /** Valid until the next call. @throws UscopeError FORMAT_* */
  at({ checkpoint, checkpointOffset }: LoadedSegment): CatalogState {
    const view = new DataView(checkpoint.buffer, checkpoint.byteOffset, checkpoint.byteLength);
    this.state.reset();
    for (let at = 0; at + BLOCK_HEADER_BYTES <= checkpoint.length; ) {
      const end = at + BLOCK_HEADER_BYTES + view.getUint32(at + 4, true);
      if (view.getUint16(at, true) === this.def.storageId) {
        this.state.loadCheckpoint(checkpoint.subarray(at, end), checkpointOffset + at);
        break;
      }
      at = end;
    }
    return this.found;
  }
}
