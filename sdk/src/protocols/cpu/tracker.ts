/** Follows the instructions of one core through ops and events, in file order. */
import type { FrameCursor } from '../../format/frame.js';
import { Action, type EnumDef, FieldType, fieldSize } from '../../format/types.js';
import type { CatalogueState } from '../catalogue-checkpoint.js';
import type { CoreEntities, CoreEvent, CoreEventName, CpuCore, EventField } from './cores.js';
import { InstructionEnd, MAX_ENTRIES, type StageEntry } from './lifecycle.js';

/** An instruction while it is followed. */
export class Tracked {
  pcLo = 0;
  pcHi = 0;
  hasPc = false;
  bits = 0;
  hasBits = false;
  isCompressed: boolean | null = null;
  thread: number | null = null;
  /** Null: before what is looked at. */
  birthPs: bigint | null = null;
  /** Births before it since tracking began; -1 when it was there already. */
  ordinal = -1;
  stages: StageEntry[] = [];
  stalls: { timePs: bigint; reason: string }[] = [];
  annotations: { timePs: bigint; string: number }[] = [];
  dependencies: { timePs: bigint; on: number; producer: Tracked | null; type: string | null }[] = [];
  flush: { timePs: bigint; reason: string | null } | null = null;
  trap: { timePs: bigint; cause: bigint | null; tval: bigint | null; target: bigint | null } | null = null;
  end: InstructionEnd = InstructionEnd.IN_FLIGHT;
  endPs: bigint | null = null;
  isAbridged = false;
  /** False until its id has been set: other fields may come first. */
  isBorn = false;
  /** It will be handed out. */
  isFollowed = false;

  constructor(
    readonly slot: number,
    public id: number,
  ) {}
}

/** Value of the control event's `action`. */
const PAUSE = 0;

type Handler = (cursor: FrameCursor, event: CoreEvent) => void;

export class Tracker {
  /** Born (or found at the start) and not yet handed out, in order of birth. */
  queue: Tracked[] = [];
  /** Instructions in flight that are followed. */
  inFlight = 0;
  /** Ended since this was last set to 0. */
  ended = 0;
  births = 0;

  private readonly bySlot = new Map<number, Tracked>();
  private readonly byId = new Map<number, Tracked>();
  /** Ended in the present frame: v0.1 frames list ops before events, so a flush comes behind its CLEAR. */
  private readonly closing = new Map<number, Tracked>();
  private readonly handlers: (readonly [CoreEvent, Handler] | undefined)[] = [];
  /** Events of the present frame about ids that nobody has: some writers put them in front of the birth. */
  private early: { readonly id: number; apply(tracked: Tracked): void }[] = [];
  private readonly storageId: number;
  private acceptsBirths = true;
  private stageRange: readonly [from: bigint, to: bigint | undefined] | null = null;

  constructor(
    private readonly core: CpuCore,
    private readonly entities: CoreEntities,
    private readonly interleaved: boolean,
    /** Follow ids beyond the catalogue's slots (some writers use them) that are first met in flight. */
    private readonly adoptsStrangers: boolean,
    /** Type of the event `uscope/control`; -1: the trace has none. */
    private readonly controlType = -1,
  ) {
    this.storageId = entities.def.storageId;
    const handle = (name: CoreEventName, handler: Handler): void => {
      const event = core.events.get(name);
      if (event) this.handlers[event.def.eventTypeId] = [event, handler];
    };
    handle('stage_transition', (cursor, event) => this.onStage(cursor, event));
    handle('annotate', (cursor, event) => this.onAnnotate(cursor, event));
    handle('dependency', (cursor, event) => this.onDependency(cursor, event));
    handle('flush', (cursor, event) => this.onFlush(cursor, event));
    handle('stall', (cursor, event) => this.onStall(cursor, event));
    handle('trap', (cursor, event) => this.onTrap(cursor, event));
  }

  /** Of the stages entered before and behind a range only the last ones are kept. */
  keepStagesOf(from: bigint, to: bigint | undefined): void {
    this.stageRange = [from, to];
  }

  /** The instructions in flight at the start, whose history is not known. */
  begin(state: CatalogueState): void {
    const { def, idField, pcField, bitsField, compressedField, threadField } = this.entities;
    const value = (slot: number, field: number): bigint => state.value(slot, field);
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.isTaken(slot) || this.bySlot.has(slot)) continue;
      const tracked = new Tracked(slot, idField >= 0 ? Number(value(slot, idField)) : slot);
      if (pcField >= 0) this.setPc(tracked, value(slot, pcField));
      if (bitsField >= 0) this.setBits(tracked, Number(value(slot, bitsField) & 0xffff_ffffn));
      if (compressedField >= 0) tracked.isCompressed = value(slot, compressedField) !== 0n;
      if (threadField >= 0) tracked.thread = Number(value(slot, threadField));
      this.enter(tracked);
    }
  }

  /**
   * A segment begins: those its checkpoint knows nothing of are lost (their scope was disabled), others may have come by a snapshot. In a trace
   * without snapshots this changes nothing.
   */
  continueFrom(state: CatalogueState, timePs: bigint): void {
    const { idField } = this.entities;
    for (const [slot, tracked] of this.bySlot) {
      if (state.isTaken(slot) && (idField < 0 || Number(state.value(slot, idField)) === tracked.id)) continue;
      this.bySlot.delete(slot);
      if (tracked.isBorn) this.lose(tracked, timePs);
    }
    this.begin(state);
  }

  /** From here on nobody new is followed: the range has ended, only those in flight matter. */
  stopBirths(): void {
    this.acceptsBirths = false;
  }

  frame(): void {
    if (this.closing.size > 0) this.closing.clear();
    if (this.early.length > 0) this.early = [];
  }

  op(cursor: FrameCursor): void {
    if (cursor.storageId !== this.storageId) return;
    if (cursor.action === Action.CLEAR) this.onClear(cursor);
    else if (cursor.action !== Action.PROP_SET) this.onSet(cursor);
  }

  event(cursor: FrameCursor): void {
    const entry = this.handlers[cursor.eventType];
    if (entry) entry[1](cursor, entry[0]);
    else if (cursor.eventType === this.controlType) this.onControl(cursor);
  }

  /** Takes those that may be handed out in order of birth; with `all`, everything that is left. */
  take(all: boolean, maxHeld: number): Tracked[] {
    let count = all ? this.queue.length : this.queue.findIndex((tracked) => !hasEnded(tracked));
    if (count < 0) count = this.queue.length;
    const taken = this.queue.splice(0, count);
    if (this.queue.length <= maxHeld) return taken;
    // One that never ends must not make the rest wait without bound.
    const rest = this.queue;
    this.queue = rest.filter((tracked) => !hasEnded(tracked));
    return [...taken, ...rest.filter(hasEnded)];
  }

  private onSet(cursor: FrameCursor): void {
    const { slot, field, lo, hi } = cursor;
    const { idField } = this.entities;
    let tracked = this.bySlot.get(slot);
    if (!tracked) {
      tracked = new Tracked(slot, slot);
      this.bySlot.set(slot, tracked);
      if (idField < 0) this.birth(tracked, slot, cursor);
    }
    if (field === idField) {
      if (tracked.isBorn && tracked.id !== lo) {
        this.leave(tracked, InstructionEnd.LOST, cursor.timePs);
        tracked = new Tracked(slot, lo);
        this.bySlot.set(slot, tracked);
      }
      if (!tracked.isBorn) this.birth(tracked, lo, cursor);
      return;
    }
    this.setField(tracked, field, lo, hi);
  }

  private setField(tracked: Tracked, field: number, lo: number, hi: number): void {
    const { pcField, bitsField, compressedField, threadField } = this.entities;
    if (field === pcField) {
      tracked.pcLo = lo;
      tracked.pcHi = hi;
      tracked.hasPc = true;
    } else if (field === bitsField) this.setBits(tracked, lo);
    else if (field === compressedField) tracked.isCompressed = lo !== 0;
    else if (field === threadField) tracked.thread = lo;
  }

  private setPc(tracked: Tracked, pc: bigint): void {
    tracked.pcLo = Number(pc & 0xffff_ffffn);
    tracked.pcHi = Number(pc >> 32n);
    tracked.hasPc = true;
  }

  private setBits(tracked: Tracked, bits: number): void {
    tracked.bits = bits;
    tracked.hasBits = true;
  }

  private onClear(cursor: FrameCursor): void {
    const tracked = this.bySlot.get(cursor.slot);
    if (!tracked) return;
    this.bySlot.delete(cursor.slot);
    if (!tracked.isBorn) return;
    const end = tracked.flush ? InstructionEnd.SQUASHED : InstructionEnd.RETIRED;
    this.leave(tracked, end, cursor.timePs);
    this.closing.set(tracked.id, tracked);
  }

  /** The trace is paused: nothing will say how those in flight end. */
  private onControl({ bytes, payloadOffset, timePs }: FrameCursor): void {
    if (bytes[payloadOffset] !== PAUSE) return;
    for (const tracked of new Set([...this.bySlot.values(), ...this.byId.values()])) {
      if (tracked.isBorn) this.lose(tracked, timePs);
    }
    this.bySlot.clear();
  }

  /** Nothing says how it ended. */
  private lose(tracked: Tracked, timePs: bigint): void {
    tracked.isAbridged = true;
    this.leave(tracked, InstructionEnd.LOST, timePs);
  }

  private birth(tracked: Tracked, id: number, cursor: FrameCursor): void {
    tracked.id = id;
    tracked.birthPs = cursor.timePs;
    tracked.ordinal = this.births++;
    this.enter(tracked);
  }

  private enter(tracked: Tracked): void {
    tracked.isBorn = true;
    this.bySlot.set(tracked.slot, tracked);
    this.byId.set(tracked.id, tracked);
    // Born behind the range it is not handed out, but events are about it, and others may depend on it.
    if (!this.acceptsBirths) return;
    tracked.isFollowed = true;
    this.queue.push(tracked);
    this.inFlight++;
    for (const { id, apply } of this.early) if (id === tracked.id) apply(tracked);
  }

  private leave(tracked: Tracked, end: InstructionEnd, timePs: bigint): void {
    tracked.end = end;
    tracked.endPs = timePs;
    if (this.byId.get(tracked.id) === tracked) this.byId.delete(tracked.id);
    if (!tracked.isFollowed) return;
    this.inFlight--;
    this.ended++;
  }

  /** The instruction an event is about. */
  private subject(cursor: FrameCursor, event: CoreEvent, name = 'entity_id'): Tracked | undefined {
    const field = event.fields.get(name);
    if (!field) return undefined;
    const id = readLow(cursor, field);
    return this.byId.get(id) ?? this.closing.get(id) ?? this.stranger(id);
  }

  private stranger(id: number): Tracked | undefined {
    if (!this.adoptsStrangers || !this.acceptsBirths || id < this.entities.def.numSlots) return undefined;
    const tracked = new Tracked(id, id);
    this.enter(tracked);
    return tracked;
  }

  private hasRoom(tracked: Tracked, list: readonly unknown[]): boolean {
    if (list.length < MAX_ENTRIES) return true;
    tracked.isAbridged = true;
    return false;
  }

  private onStage(cursor: FrameCursor, event: CoreEvent): void {
    const field = event.fields.get('stage');
    if (!field) return;
    const value = readLow(cursor, field);
    const stage = this.core.stageOf(value);
    const name = this.core.stages[stage] ?? labelOf(field.labels, value);
    const entry = { stage, name, timePs: cursor.timePs };
    // The most frequent event of all: no closure for it, unless it comes before its instruction.
    const tracked = this.subject(cursor, event);
    if (tracked) this.enterStage(tracked, entry);
    else this.postpone(cursor, event, (late) => this.enterStage(late, entry));
  }

  private enterStage(tracked: Tracked, entry: StageEntry): void {
    const { stages } = tracked;
    if (this.stageRange && stages.length > 0) {
      const [from, to] = this.stageRange;
      const last = stages[stages.length - 1];
      if (entry.timePs < from || (to !== undefined && last.timePs >= to)) {
        stages[stages.length - 1] = entry;
        return;
      }
    }
    if (this.hasRoom(tracked, stages)) stages.push(entry);
  }

  private onAnnotate(cursor: FrameCursor, event: CoreEvent): void {
    const field = event.fields.get('text');
    if (field?.type !== FieldType.STRING_REF) return;
    const annotation = { timePs: cursor.timePs, string: readLow(cursor, field) };
    this.attach(cursor, event, (tracked) => {
      if (this.hasRoom(tracked, tracked.annotations)) tracked.annotations.push(annotation);
    });
  }

  /** Gives an event to its instruction, now or when it is born in this frame. */
  private attach(cursor: FrameCursor, event: CoreEvent, apply: (tracked: Tracked) => void): void {
    const tracked = this.subject(cursor, event);
    if (tracked) apply(tracked);
    else this.postpone(cursor, event, apply);
  }

  /** Until the instruction that an event is about is born in this frame. */
  private postpone(cursor: FrameCursor, event: CoreEvent, apply: (tracked: Tracked) => void): void {
    const field = event.fields.get('entity_id');
    if (field && this.early.length < MAX_ENTRIES) this.early.push({ id: readLow(cursor, field), apply });
  }

  private onDependency(cursor: FrameCursor, event: CoreEvent): void {
    const consumer = this.subject(cursor, event, 'dst_id');
    const source = event.fields.get('src_id');
    if (!consumer || !source || !this.hasRoom(consumer, consumer.dependencies)) return;
    const type = event.fields.get('dep_type');
    const on = readLow(cursor, source);
    consumer.dependencies.push({
      timePs: cursor.timePs,
      on,
      producer: this.byId.get(on) ?? this.closing.get(on) ?? null,
      type: type ? labelOf(type.labels, readLow(cursor, type)) : null,
    });
  }

  private onFlush(cursor: FrameCursor, event: CoreEvent): void {
    const field = event.fields.get('entity_id');
    if (!field) return;
    const closed = this.closing.get(readLow(cursor, field));
    // Without interleaving the order within a frame is lost: the flush is about the one that went, not about its successor.
    const tracked = !this.interleaved && closed ? closed : this.subject(cursor, event);
    if (!tracked || tracked.flush) return;
    const reason = event.fields.get('reason');
    tracked.flush = {
      timePs: cursor.timePs,
      reason: reason ? labelOf(reason.labels, readLow(cursor, reason)) : null,
    };
    if (tracked.end === InstructionEnd.RETIRED) tracked.end = InstructionEnd.SQUASHED;
  }

  private onStall(cursor: FrameCursor, event: CoreEvent): void {
    if (!event.fields.has('entity_id')) return;
    const tracked = this.subject(cursor, event);
    const field = event.fields.get('reason');
    if (!tracked || !field || !this.hasRoom(tracked, tracked.stalls)) return;
    tracked.stalls.push({ timePs: cursor.timePs, reason: labelOf(field.labels, readLow(cursor, field)) });
  }

  private onTrap(cursor: FrameCursor, event: CoreEvent): void {
    const tracked = this.subject(cursor, event);
    if (!tracked) return;
    const value = (name: string): bigint | null => {
      const field = event.fields.get(name);
      return field ? readWide(cursor, field) : null;
    };
    const { timePs } = cursor;
    tracked.trap = { timePs, cause: value('cause'), tval: value('tval'), target: value('target') };
  }
}

function hasEnded(tracked: Tracked): boolean {
  return tracked.endPs !== null;
}

/** Label of an enum's value; the number where it has none. */
export function labelOf(labels: EnumDef | null, value: number): string {
  return labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value);
}

/** The lower 32 bits of a payload field. The payload has its size: see `instructions`. */
function readLow(cursor: FrameCursor, field: EventField): number {
  return readBytes(cursor, field.offset, Math.min(fieldSize(field.type), 4));
}

function readWide(cursor: FrameCursor, field: EventField): bigint {
  const low = BigInt(readLow(cursor, field));
  if (fieldSize(field.type) < 8) return low;
  return (BigInt(readBytes(cursor, field.offset + 4, 4)) << 32n) | low;
}

function readBytes({ bytes, payloadOffset }: FrameCursor, offset: number, size: number): number {
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + bytes[payloadOffset + offset + i];
  return value;
}
