/** What the items of a stretch of time write to. */
import { Action } from 'uscope/format';
import type { Trace } from './library.js';

export class Changes {
  /** By storage and slot, the fields written. */
  private readonly fields = new Map<number, Map<number, Set<number>>>();
  private readonly properties = new Set<string>();

  add(storage: number, slot: number, field: number | null): void {
    const slots = this.fields.get(storage) ?? new Map<number, Set<number>>();
    const written = slots.get(slot) ?? new Set<number>();
    this.fields.set(storage, slots);
    slots.set(slot, written);
    if (field !== null) written.add(field);
  }

  addProperty(storage: number, property: number): void {
    this.properties.add(`${storage} ${property}`);
  }

  slotsOf(storage: number): number[] {
    return [...(this.fields.get(storage)?.keys() ?? [])];
  }

  hasSlot(storage: number, slot: number): boolean {
    return this.fields.get(storage)?.has(slot) ?? false;
  }

  hasField(storage: number, slot: number, field: number): boolean {
    return this.fields.get(storage)?.get(slot)?.has(field) ?? false;
  }

  hasProperty(storage: number, property: number): boolean {
    return this.properties.has(`${storage} ${property}`);
  }
}

/** Of `[from, to)`. */
export async function changesOf(trace: Trace, from: bigint, to: bigint): Promise<Changes> {
  const changes = new Changes();
  await trace.scan(
    { from, to },
    {
      op: ({ action, storageId, slot, field }) => {
        if (action === Action.PROP_SET) changes.addProperty(storageId, field);
        else changes.add(storageId, slot, action === Action.CLEAR ? null : field);
      },
    },
  );
  return changes;
}
