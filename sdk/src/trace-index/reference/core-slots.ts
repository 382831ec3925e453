/** The instructions in flight of one core, as far as needed to distinguish those that retire from those that are squashed: see `PipelineStats`. */
import type { InFlight } from '../time-carry.js';

interface Slot {
  /** null: fields have been set, but not the id. */
  id: number | null;
  isFlushed: boolean;
}

interface Closing {
  readonly id: number;
  isFlushed: boolean;
}

export class CoreSlots {
  private readonly slots = new Map<number, Slot>();
  /** Ids that are not their slot's number. */
  private readonly special = new Map<number, number>();
  /** Cleared in the present frame. */
  private closing: Closing[] = [];

  /** @param idField -1: the slot's number is the id */
  constructor(private readonly idField: number) {}

  /** In flight at the start of the segment. */
  bear(slot: number, id: number, isFlushed = false): void {
    this.slots.set(slot, { id, isFlushed });
    if (id !== slot) this.special.set(id, slot);
  }

  set(slot: number, field: number, value: number): void {
    let taken = this.slots.get(slot);
    if (!taken) {
      taken = { id: null, isFlushed: false };
      this.slots.set(slot, taken);
      if (this.idField < 0) this.bear(slot, slot);
    }
    if (field !== this.idField || (taken.id === value && !taken.isFlushed)) return;
    this.free(slot);
    this.bear(slot, value);
  }

  clear(slot: number): void {
    const taken = this.slots.get(slot);
    if (taken && taken.id !== null) this.closing.push({ id: taken.id, isFlushed: taken.isFlushed });
    this.free(slot);
  }

  private free(slot: number): void {
    const id = this.slots.get(slot)?.id;
    if (id !== undefined && id !== null && this.special.get(id) === slot) this.special.delete(id);
    this.slots.delete(slot);
  }

  /** False: it has been squashed before, which counts once. */
  flush(id: number, interleaved: boolean): boolean {
    const closed = this.closing.findLast((one) => one.id === id);
    const found = this.slots.get(this.find(id)) ?? null;
    // In v0.1 frames, ops come before events: the flush is about the one that was cleared.
    const subject = !interleaved && closed ? closed : (found ?? closed);
    if (!subject) return true;
    if (subject.isFlushed) return false;
    subject.isFlushed = true;
    return true;
  }

  private find(id: number): number {
    return this.slots.get(id)?.id === id ? id : (this.special.get(id) ?? -1);
  }

  /** The frame is over: what was cleared in it and not squashed has retired. Returns how many. */
  settle(): number {
    const retired = this.closing.filter(({ isFlushed }) => !isFlushed).length;
    this.closing = [];
    return retired;
  }

  /** Of which the next checkpoint does not say everything, by slot. @param numSlots those beyond are in no checkpoint */
  carried(numSlots: number): InFlight[] {
    return [...this.slots]
      .flatMap(([slot, { id, isFlushed }]) => (id === null ? [] : [{ slot, id, isFlushed }]))
      .filter(({ slot, isFlushed }) => isFlushed || slot >= numSlots)
      .sort((a, b) => a.slot - b.slot);
  }
}
