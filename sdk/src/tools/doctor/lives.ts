/** Follows the instructions of one core: born, in stages, ended. Within a frame items may come in any order. */
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { CpuCore } from '../../semantics/cpu/cores.js';
import { payloadField, readField } from '../../semantics/cpu/payload-field.js';
import { Cases } from './finding.js';

export interface Life {
  readonly id: number;
  readonly serial: number;
  readonly bornPs: bigint;
  pc: bigint;
  bits: number;
  /** Name of the stage it is in; null: it entered none. */
  stage: string | null;
  isFlushed: boolean;
}

/** What is to happen with an instruction that ends. */
export type OnEnd = (life: Life, timePs: bigint) => void;

export class Lives {
  readonly alive = new Map<number, Life>();
  born = 0;
  /** The longest life that has ended. */
  longestPs = 0n;
  readonly reused = new Cases();
  readonly strangers = new Cases();
  readonly unknownEnds = new Cases();
  private readonly ending: Life[] = [];
  private early: { readonly id: number; readonly what: string; apply(life: Life): void }[] = [];
  private timePs = 0n;

  constructor(
    private readonly core: CpuCore,
    private readonly onEnd: OnEnd,
  ) {}

  /** A frame begins: what the one before has ended is handed out. */
  frame(timePs: bigint): void {
    this.settle();
    this.timePs = timePs;
  }

  settle(): void {
    for (const { id, what, apply } of this.early) {
      const life = this.find(id);
      if (life) apply(life);
      else this.strangers.add(this.timePs, `${what} names ${id}`);
    }
    this.early = [];
    for (const life of this.ending) {
      const lived = this.timePs - life.bornPs;
      if (lived > this.longestPs) this.longestPs = lived;
      this.onEnd(life, this.timePs);
    }
    this.ending.length = 0;
  }

  op({ action, slot, field, lo, value }: FrameCursor): void {
    const { entities } = this.core;
    if (!entities) return;
    if (action === Action.CLEAR) this.end(slot);
    else if (field === entities.idField) this.birth(slot, lo);
    else {
      const life = this.alive.get(slot);
      if (!life) return;
      if (field === entities.pcField) life.pc = value;
      else if (field === entities.bitsField) life.bits = lo;
    }
  }

  private birth(slot: number, id: number): void {
    const before = this.alive.get(slot);
    if (before) this.reused.add(this.timePs, `id ${id}, born before at ${before.bornPs} ps`);
    const fresh = { bornPs: this.timePs, pc: 0n, bits: 0, stage: null, isFlushed: false };
    this.alive.set(slot, { id, serial: this.born++, ...fresh });
  }

  private end(slot: number): void {
    const life = this.alive.get(slot);
    if (!life) {
      this.unknownEnds.add(this.timePs, `slot ${slot}`);
      return;
    }
    this.alive.delete(slot);
    this.ending.push(life);
  }

  /** Applies an event to its instruction, also to one that is born or ends in the same frame. */
  event(id: number, what: string, apply: (life: Life) => void): void {
    const life = this.find(id);
    if (life) apply(life);
    else this.early.push({ id, what, apply });
  }

  private find(id: number): Life | undefined {
    const life = this.alive.get(id);
    return life?.id === id ? life : this.ending.find((one) => one.id === id);
  }
}

/** The id that an event names; null where the event has no such field. */
export function idReader(
  core: CpuCore,
  name: 'stage_transition' | 'flush' | 'trap',
): ((cursor: FrameCursor) => number) | null {
  const event = core.events.get(name);
  const field = event && payloadField(event, 'entity_id');
  return field ? (cursor) => readField(cursor, field) : null;
}
