/**
 * Some writers emit ops on slots beyond the size they gave a storage, and viewers show what these represent (instructions with ever new ids).
 * Our writer refuses such ops, so a trace made from such a file gets storages as large as they are used.
 */
import type { FrameCursor } from '../format/frame.js';
import { Action, type Schema } from '../format/types.js';
import type { Trace } from '../reader/index.js';
import { StorageState } from '../state/storage-state.js';
import { placeState } from './place-state.js';

const MAX_SLOTS = 0xffff;

/** Storages as large as they are used, and what is in the additional slots at the begin of the range. */
export class SlotOverflow {
  /** The trace's schema with the slots it uses. */
  readonly schema: Schema;
  /** One sentence per storage that grew. */
  readonly notes: readonly string[];

  constructor(
    original: Schema,
    slots: Uint32Array,
    private readonly contents: readonly (readonly [storage: number, slot: number, fields: Uint32Array])[],
  ) {
    const grown = original.storages.filter(({ storageId, numSlots }) => slots[storageId] > numSlots);
    this.schema =
      grown.length === 0
        ? original
        : { ...original, storages: original.storages.map((s) => ({ ...s, numSlots: slots[s.storageId] })) };
    this.notes = grown.map(
      ({ name, numSlots, storageId }) =>
        `"${name}" has ${numSlots} slots and uses ${slots[storageId]}: it gets as many`,
    );
  }

  /** A state of the trace in the larger storages. */
  widen(state: StorageState): StorageState {
    if (this.schema === state.layout.schema) return state;
    const wide = new StorageState(this.schema);
    placeState(
      state,
      wide,
      Uint16Array.from(this.schema.storages, (_, id) => id),
    );
    for (const [storage, slot, fields] of this.contents) {
      for (let field = 0; field < fields.length / 2; field++) {
        wide.apply(Action.SET, storage, slot, field, fields[field * 2], fields[field * 2 + 1]);
      }
    }
    return wide;
  }
}

/** Looks through a file of another writer up to `to`; files of ours have no such ops. @throws UscopeError FORMAT_* */
export async function findOverflow(trace: Trace, from?: bigint, to?: bigint): Promise<SlotOverflow> {
  const { schema } = trace;
  const slots = Uint32Array.from(schema.storages, ({ numSlots }) => numSlots);
  if (trace.session !== null) return new SlotOverflow(schema, slots, []);
  const tracker = new OverflowTracker(schema, slots);
  if (from !== undefined) await trace.scan({ to: from }, { op: (cursor) => tracker.op(cursor) });
  const contents = tracker.contents();
  await trace.scan({ from, to }, { op: (cursor) => tracker.size(cursor) });
  return new SlotOverflow(schema, slots, contents);
}

class OverflowTracker {
  private readonly declared: Uint32Array;
  private readonly values = new Map<number, Uint32Array>();
  private readonly scratch: StorageState;

  constructor(
    private readonly schema: Schema,
    private readonly slots: Uint32Array,
  ) {
    this.declared = slots.slice();
    // One slot per storage: wraps sums at the width of a field as a state does.
    this.scratch = new StorageState({
      ...schema,
      storages: schema.storages.map((s) => ({ ...s, numSlots: 1 })),
    });
  }

  size({ action, storageId, slot }: FrameCursor): boolean {
    const isBeyond = action !== Action.PROP_SET && slot >= this.declared[storageId];
    if (isBeyond && slot < MAX_SLOTS && slot >= this.slots[storageId]) this.slots[storageId] = slot + 1;
    return true;
  }

  op(cursor: FrameCursor): boolean {
    const { action, storageId, slot, field, lo, hi } = cursor;
    if (action === Action.PROP_SET || slot < this.declared[storageId] || slot >= MAX_SLOTS) return true;
    this.size(cursor);
    const key = storageId * 0x10000 + slot;
    if (action === Action.CLEAR) {
      this.values.delete(key);
      return true;
    }
    const { scratch } = this;
    const fields = this.schema.storages[storageId].fields.length;
    const base = scratch.layout.cellBase[storageId] * 2;
    const known = this.values.get(key) ?? new Uint32Array(fields * 2);
    scratch.cells.set(known, base);
    scratch.apply(action, storageId, 0, field, lo, hi);
    known.set(scratch.cells.subarray(base, base + fields * 2));
    this.values.set(key, known);
    return true;
  }

  contents(): [number, number, Uint32Array][] {
    return [...this.values].map(([key, fields]) => [key >>> 16, key & 0xffff, fields.slice()]);
  }
}
