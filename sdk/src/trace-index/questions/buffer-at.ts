/** What a buffer holds at a time, with the instructions that its slots name. */
import type { TraceState } from '../../reader/index.js';
import type { CoreEntities } from '../../semantics/cpu/cores.js';

/** Arrays, which can be moved between threads. */
export interface BufferContents {
  readonly storageId: number;
  /** The occupied slots, rising; of a dense storage all. */
  readonly slots: Uint32Array;
  /** One array for each field of the schema: its value in each of `slots`, as the raw u64 (see `interpret`). */
  readonly fields: readonly BigUint64Array[];
  readonly properties: BigUint64Array;
  /** Start of the cycle asked for; frames at that very time are in it. */
  readonly timePs: bigint;
  readonly numSlots: number;
  /** Of each of `slots` the instruction it names: entity id, -1 where the buffer names none. */
  readonly ids: Float64Array;
  /** The number of that instruction in the trace; -1: it is not in flight, or was born too far back. */
  readonly rows: Float64Array;
  /** Its address and machine code; 0 where it is not in flight. */
  readonly pcs: BigUint64Array;
  readonly bits: Uint32Array;
}

/** The slots of a catalog by the ids of what is in them. */
class CatalogSlots {
  private readonly byId = new Map<number, number>();

  constructor(
    private readonly state: TraceState,
    private readonly catalog: CoreEntities,
  ) {
    const { def, idField } = catalog;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.raw.slotOccupied(def.storageId, slot)) continue;
      this.byId.set(idField < 0 ? slot : Number(state.raw.value(def.storageId, slot, idField)), slot);
    }
  }

  /** -1: nothing of that id is in flight. */
  of(id: number): number {
    return this.byId.get(id) ?? -1;
  }

  value(slot: number, field: number): bigint {
    return slot < 0 || field < 0 ? 0n : this.state.raw.value(this.catalog.def.storageId, slot, field);
  }
}

/**
 * @param idField of the buffer: names the instruction in a slot; -1: it has none
 * @param rowsIn the rows in slots of the catalog at the time of the state
 */
export async function bufferContents(
  state: TraceState,
  storageId: number,
  idField: number,
  catalog: CoreEntities | null,
  rowsIn: (slots: readonly number[]) => Promise<Float64Array>,
): Promise<BufferContents> {
  const { raw } = state;
  const view = state.storage(storageId);
  const slots = Uint32Array.from(view.slots());
  const fields = view.def.fields.map((_, field) =>
    BigUint64Array.from(slots, (slot) => raw.value(storageId, slot, field)),
  );
  const ids = fields[idField]
    ? Float64Array.from(fields[idField], Number)
    : new Float64Array(slots.length).fill(-1);
  const entities = catalog && new CatalogSlots(state, catalog);
  const named = Array.from(ids, (id) => entities?.of(id) ?? -1);
  const held = [...new Set(named.filter((slot) => slot >= 0))];
  const known = await rowsIn(held);
  const rowOf = new Map(held.map((slot, index) => [slot, known[index]!] as const));
  const { pcField = -1, bitsField = -1 } = catalog ?? {};
  return {
    storageId,
    slots,
    fields,
    properties: BigUint64Array.from(view.def.properties, (_, index) => raw.property(storageId, index)),
    timePs: state.timePs,
    numSlots: raw.layout.numSlots[storageId]!,
    ids,
    rows: Float64Array.from(named, (slot) => rowOf.get(slot) ?? -1),
    pcs: BigUint64Array.from(named, (slot) => entities?.value(slot, pcField) ?? 0n),
    bits: Uint32Array.from(named, (slot) => Number(entities?.value(slot, bitsField) ?? 0n)),
  };
}
