/** The instructions in flight, as columns by catalog slot: nothing is allocated per instruction. */
import { NO_STAGE } from './stages.js';

/** An op names a slot with 16 bits. */
const MAX_SLOTS = 65_536;

/** What is known of a slot. */
export const SlotFlag = {
  /** Fields have been set since it was free. */
  TAKEN: 1,
  /** Its id has been set: an instruction is in it. */
  BORN: 2,
  /** That instruction has been squashed. */
  FLUSHED: 4,
} as const;

export class SlotTable {
  readonly flags: Uint8Array;
  readonly ids: Uint32Array;
  readonly bits: Uint32Array;
  /** Cycle of the birth; NaN: before what is looked at. */
  readonly born: Float64Array;
  readonly stage: Int32Array;
  /** Cycle in which the stage was entered. */
  readonly entered: Float64Array;
  /** Ids that are not their slot's number. */
  private readonly bySpecialId = new Map<number, number>();

  /** @param isBounded false: slots beyond the catalog's may occur */
  constructor(numSlots: number, isBounded: boolean) {
    const size = isBounded ? numSlots : MAX_SLOTS;
    this.flags = new Uint8Array(size);
    this.ids = new Uint32Array(size);
    this.bits = new Uint32Array(size);
    this.born = new Float64Array(size).fill(Number.NaN);
    this.stage = new Int32Array(size).fill(NO_STAGE);
    this.entered = new Float64Array(size).fill(Number.NaN);
  }

  get size(): number {
    return this.flags.length;
  }

  /** Slot of the instruction in flight with this id; -1: none. */
  find(id: number): number {
    if (id < this.size && (this.flags[id] & SlotFlag.BORN) !== 0 && this.ids[id] === id) return id;
    return this.bySpecialId.size > 0 ? (this.bySpecialId.get(id) ?? -1) : -1;
  }

  isBorn(slot: number): boolean {
    return (this.flags[slot] & SlotFlag.BORN) !== 0;
  }

  isFlushed(slot: number): boolean {
    return (this.flags[slot] & SlotFlag.FLUSHED) !== 0;
  }

  /** An instruction takes the slot; `cycle` NaN: nobody knows when. */
  bear(slot: number, id: number, cycle: number): void {
    this.flags[slot] = SlotFlag.TAKEN | SlotFlag.BORN;
    this.ids[slot] = id;
    this.born[slot] = cycle;
    this.stage[slot] = NO_STAGE;
    this.entered[slot] = Number.NaN;
    if (id !== slot) this.bySpecialId.set(id, slot);
  }

  free(slot: number): void {
    const id = this.ids[slot];
    if (id !== slot && this.isBorn(slot) && this.bySpecialId.get(id) === slot) this.bySpecialId.delete(id);
    this.flags[slot] = 0;
    this.bits[slot] = 0;
  }
}
