/** The instructions in flight of one core, as far as needed to distinguish those that retire from those that are squashed: see `PipelineStats`. */

import type { Life, RowWalk } from './row-walk.js';
import type { StatsWalk } from './stats-walk.js';
import type { InFlight } from './time-carry.js';

/** Where what becomes of the instructions is counted. */
interface Followed {
  readonly rows: RowWalk;
  readonly stats: StatsWalk;
  /** Slots of the catalog. */
  readonly numSlots: number;
}

interface Slot {
  /** null: fields have been set, but not the id. */
  id: number | null;
  isFlushed: boolean;
  readonly life: Life | null;
}

interface Closing {
  readonly id: number;
  /** Machine code; 0: not known. */
  readonly bits: number;
  isFlushed: boolean;
  readonly life: Life | null;
}

/** An instruction in flight. */
export interface Flying extends InFlight {
  readonly life: Life | null;
}

export class CoreSlots {
  private readonly slots = new Map<number, Slot>();
  /** Ids that are not their slot's number. */
  private readonly special = new Map<number, number>();
  /** Cleared in the present frame. */
  private closing: Closing[] = [];

  /** @param idField -1: the slot's number is the id @param followed null: rows are not followed */
  constructor(
    private readonly idField: number,
    private readonly followed: Followed | null = null,
  ) {}

  private get rows(): RowWalk | null {
    return this.followed?.rows ?? null;
  }

  private get stats(): StatsWalk | null {
    return this.followed?.stats ?? null;
  }

  /** In flight at the start of the segment. */
  bear(slot: number, id: number, isFlushed = false, life: Life | null = null): void {
    this.slots.set(slot, { id, isFlushed, life });
    if (id !== slot) this.special.set(id, slot);
  }

  /** What is in flight at the start gets its history. */
  attach(slot: number, id: number, life: Life): boolean {
    const taken = this.slots.get(slot);
    if (!taken || taken.id !== id) return false;
    this.slots.set(slot, { ...taken, life });
    return true;
  }

  set(slot: number, field: number, value: number): void {
    let taken = this.slots.get(slot);
    if (!taken) {
      taken = { id: null, isFlushed: false, life: null };
      this.slots.set(slot, taken);
      if (this.idField < 0) this.birth(slot, slot);
      else this.addUnborn(1);
    }
    if (field !== this.idField || (taken.id === value && !taken.isFlushed)) return;
    if (taken.id === null) this.addUnborn(-1);
    else if (!taken.isFlushed && this.stats) this.stats.lost++;
    if (taken.life) this.rows?.end(taken.life, false);
    this.free(slot);
    this.birth(slot, value);
  }

  private birth(slot: number, id: number): void {
    this.bear(slot, id, false, this.rows?.birth(id) ?? null);
    const { stats, followed } = this;
    if (!stats || !followed) return;
    stats.births++;
    if (slot >= followed.numSlots) stats.isExact = false;
  }

  private addUnborn(by: number): void {
    if (this.stats) this.stats.unborn += by;
  }

  /** @param bits machine code that the slot holds; 0: not known */
  clear(slot: number, bits: number): void {
    const taken = this.slots.get(slot);
    if (taken && taken.id !== null) {
      const { id, isFlushed, life } = taken;
      this.closing.push({ id, isFlushed, life, bits });
    } else if (taken) this.addUnborn(-1);
    this.free(slot);
  }

  private free(slot: number): void {
    const id = this.slots.get(slot)?.id;
    if (id !== undefined && id !== null && this.special.get(id) === slot) this.special.delete(id);
    this.slots.delete(slot);
  }

  /** The instruction that an event is about: in flight, or cleared in this frame. */
  private subject(id: number, interleaved: boolean): Slot | Closing | null {
    const closed = this.closing.findLast((one) => one.id === id);
    const found = this.slots.get(this.find(id)) ?? null;
    // In v0.1 frames, ops come before events: the event is about the one that was cleared.
    return (!interleaved && closed ? closed : (found ?? closed)) ?? null;
  }

  /** False: it has been squashed before, which counts once. */
  flush(id: number, interleaved: boolean): boolean {
    const subject = this.subject(id, interleaved);
    if (!subject) return true;
    if (subject.isFlushed) return false;
    subject.isFlushed = true;
    if (subject.life) this.rows?.flush(subject.life);
    return true;
  }

  enterStage(id: number, value: number): void {
    const subject = this.subject(id, true);
    if (!subject) this.rows?.postpone(id, value);
    else if (subject.life && !subject.isFlushed) this.rows?.enter(subject.life, value);
  }

  stall(id: number): void {
    const life = this.subject(id, true)?.life;
    if (life) this.rows?.stall(life);
  }

  private find(id: number): number {
    return this.slots.get(id)?.id === id ? id : (this.special.get(id) ?? -1);
  }

  /** The frame is over: what was cleared in it and not squashed has retired. Returns how many. */
  settle(): number {
    const retired = this.closing.filter(({ isFlushed }) => !isFlushed);
    const { rows, stats } = this;
    if (rows && stats) for (const { bits } of retired) stats.retire(rows.cycle, bits);
    stats?.settle();
    for (const { life, isFlushed } of this.closing) if (life) this.rows?.end(life, !isFlushed);
    this.closing = [];
    return retired.length;
  }

  /** Of all that is in flight it is known since when. */
  get isFollowed(): boolean {
    return [...this.slots.values()].every(({ id, life }) => id === null || life !== null);
  }

  /** By slot. */
  inFlight(): Flying[] {
    return [...this.slots]
      .flatMap(([slot, { id, isFlushed, life }]) => (id === null ? [] : [{ slot, id, isFlushed, life }]))
      .sort((a, b) => a.slot - b.slot);
  }

  /** Of which the next checkpoint does not say everything, by slot. @param numSlots those beyond are in no checkpoint */
  carried(numSlots: number): InFlight[] {
    return this.inFlight()
      .filter(({ slot, isFlushed }) => isFlushed || slot >= numSlots)
      .map(({ slot, id, isFlushed }) => ({ slot, id, isFlushed }));
  }
}
