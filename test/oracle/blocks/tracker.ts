/** Follows the instructions of one core through ops and events, in file order. */
import type { FrameCursor } from '../../../sdk/src/format/frame.js';
import { Action, FieldType } from '../../../sdk/src/format/types.js';
import { readRaw } from '../../../sdk/src/reader/payload.js';
import { type ScanRange, scanRange } from '../../../sdk/src/reader/scan.js';
import type { CatalogState } from '../../../sdk/src/semantics/common/catalog-checkpoint.js';
import type {
  CoreEntities,
  CoreEvent,
  CoreEventName,
  CpuCore,
  EventField,
} from '../../../sdk/src/semantics/cpu/cores.js';
import { InstructionEnd, MAX_ENTRIES } from '../../../sdk/src/semantics/cpu/lifecycle.js';
import { type PayloadField, payloadField, readField } from '../../../sdk/src/semantics/cpu/payload-field.js';
import { Tracked } from './tracked.js';

// This module's own constants: see `FrameCursor`.
const { CLEAR, PROP_SET } = Action;
const TWO_32 = 2 ** 32;

/** Slots that an op can name. */
const MAX_SLOTS = 0x1_0000;

/** Value of the control event's `action`. */
const PAUSE = 0;

type Handler = (cursor: FrameCursor) => void;

export class Tracker {
  /** Born (or found at the start) and not yet handed out, in order of birth. */
  queue: Tracked[] = [];
  /** Instructions in flight that are followed. */
  inFlight = 0;
  /** Ended since this was last set to 0. */
  ended = 0;
  births = 0;

  private readonly bySlot: (Tracked | undefined)[];
  private readonly byId = new Map<number, Tracked>();
  /** Ended in the present frame: v0.1 frames list ops before events, so a flush comes after its CLEAR. */
  private readonly closing = new Map<number, Tracked>();
  /** By event type. */
  private readonly handlers: (Handler | undefined)[] = [];
  /** Events of the present frame about ids that nobody has: some writers put them in front of the birth. */
  private early: { readonly id: number; apply(tracked: Tracked): void }[] = [];
  private readonly storageId: number;
  private acceptsBirths = true;
  private stageRange: ScanRange | null = null;

  constructor(
    private readonly core: CpuCore,
    private readonly entities: CoreEntities,
    private readonly interleaved: boolean,
    /** Follow ids beyond the catalog's slots (some writers use them) that are first met in flight. */
    private readonly adoptsStrangers: boolean,
    /** Type of the event `uscope/control`; -1: the trace has none. */
    controlType = -1,
  ) {
    this.storageId = entities.def.storageId;
    this.bySlot = new Array(entities.def.numSlots).fill(undefined);
    if (controlType >= 0) this.handlers[controlType] = (cursor) => this.onControl(cursor);
    this.handle('stage_transition', (event) => this.stageHandler(event));
    this.handle('annotate', (event) => this.annotationHandler(event));
    this.handle('dependency', (event) => this.dependencyHandler(event));
    this.handle('flush', (event) => this.flushHandler(event));
    this.handle('stall', (event) => this.stallHandler(event));
    this.handle('trap', (event) => this.trapHandler(event));
  }

  /** @param handler null where the event lacks a field without which it says nothing */
  private handle(name: CoreEventName, handler: (event: CoreEvent) => Handler | null): void {
    const event = this.core.events.get(name);
    if (event) this.handlers[event.def.eventTypeId] = handler(event) ?? undefined;
  }

  /** Of the stages entered before and after a range only the last ones are kept. */
  keepStagesOf(from: bigint, to: bigint | undefined): void {
    this.stageRange = scanRange(from, to ?? null);
  }

  /** The instructions in flight at the start, whose history is not known. */
  begin(state: CatalogState): void {
    const { def, idField, pcField, bitsField, compressedField, threadField } = this.entities;
    const value = (slot: number, field: number): bigint => state.value(slot, field);
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.isTaken(slot) || this.bySlot[slot]) continue;
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
  continueFrom(state: CatalogState, timePs: bigint): void {
    const { idField } = this.entities;
    this.frame();
    this.bySlot.forEach((tracked, slot) => {
      if (!tracked) return;
      if (state.isTaken(slot) && (idField < 0 || Number(state.value(slot, idField)) === tracked.id)) return;
      this.bySlot[slot] = undefined;
      if (tracked.isBorn) this.lose(tracked, timePs);
    });
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
    const { action } = cursor;
    if (action === CLEAR) this.onClear(cursor);
    else if (action !== PROP_SET) this.onSet(cursor);
  }

  event(cursor: FrameCursor): void {
    this.handlers[cursor.eventType]?.(cursor);
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
    const { slot, field } = cursor;
    const { idField } = this.entities;
    let tracked = this.bySlot[slot];
    if (!tracked) {
      tracked = new Tracked(slot, slot);
      this.bySlot[slot] = tracked;
      if (idField < 0) this.birth(tracked, slot, cursor);
    }
    if (field !== idField) {
      this.setField(tracked, field, cursor);
      return;
    }
    const id = cursor.lo;
    if (tracked.isBorn && tracked.id !== id) {
      this.leave(tracked, InstructionEnd.LOST, cursor.timePs);
      tracked = new Tracked(slot, id);
      this.bySlot[slot] = tracked;
    }
    if (!tracked.isBorn) this.birth(tracked, id, cursor);
  }

  private setField(tracked: Tracked, field: number, cursor: FrameCursor): void {
    const { pcField, bitsField, compressedField, threadField } = this.entities;
    if (field === pcField) {
      tracked.pcLo = cursor.lo | 0;
      tracked.pcHi = cursor.hi | 0;
      tracked.hasPc = true;
    } else if (field === bitsField) this.setBits(tracked, cursor.lo);
    else if (field === compressedField) tracked.isCompressed = cursor.lo !== 0;
    else if (field === threadField) tracked.thread = cursor.lo;
  }

  private setPc(tracked: Tracked, pc: bigint): void {
    tracked.pcLo = Number(BigInt.asIntN(32, pc));
    tracked.pcHi = Number(BigInt.asIntN(32, pc >> 32n));
    tracked.hasPc = true;
  }

  private setBits(tracked: Tracked, bits: number): void {
    tracked.bits = bits | 0;
    tracked.hasBits = true;
  }

  private onClear(cursor: FrameCursor): void {
    const tracked = this.bySlot[cursor.slot];
    if (!tracked) return;
    this.bySlot[cursor.slot] = undefined;
    if (!tracked.isBorn) return;
    const end = tracked.flush ? InstructionEnd.SQUASHED : InstructionEnd.RETIRED;
    this.leave(tracked, end, cursor.timePs);
    this.closing.set(tracked.id, tracked);
  }

  /** The trace is paused: nothing will say how those in flight end. */
  private onControl({ bytes, payloadOffset, timePs }: FrameCursor): void {
    if (bytes[payloadOffset] !== PAUSE) return;
    for (const tracked of new Set([...this.bySlot, ...this.byId.values()])) {
      if (tracked?.isBorn) this.lose(tracked, timePs);
    }
    this.bySlot.fill(undefined);
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
    // A stranger's id may be any number; the array must not grow to it.
    if (tracked.slot < MAX_SLOTS) this.bySlot[tracked.slot] = tracked;
    this.byId.set(tracked.id, tracked);
    // Born after the range it is not handed out, but events are about it, and others may depend on it.
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
  private subject(id: number): Tracked | undefined {
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

  private stageHandler(event: CoreEvent): Handler | null {
    const [id, stage] = [payloadField(event, 'entity_id'), payloadField(event, 'stage')];
    if (!id || !stage) return null;
    // The most frequent event of all: no closure for it, unless it comes before its instruction.
    return (cursor) => {
      const tracked = this.subject(readField(cursor, id));
      if (tracked) this.enterStage(tracked, readField(cursor, stage), cursor.timeLo | 0, cursor.timeHi | 0);
      else this.postponeStage(cursor, id, readField(cursor, stage));
    };
  }

  private postponeStage(cursor: FrameCursor, id: PayloadField, value: number): void {
    const [timeLo, timeHi] = [cursor.timeLo | 0, cursor.timeHi | 0];
    this.postpone(cursor, id, (late) => this.enterStage(late, value, timeLo, timeHi));
  }

  /** The halves of the time as a `LiveStage` has them. */
  private enterStage(tracked: Tracked, value: number, timeLo: number, timeHi: number): void {
    const { stages } = tracked;
    const { stageRange } = this;
    if (stageRange && stages.length > 0) {
      const { fromLo, fromHi, toLo, toHi } = stageRange;
      const last = stages[stages.length - 1]!;
      // Both are asked of every event: see `LifecycleWalk`.
      const isBefore = isEarlier(timeLo >>> 0, timeHi >>> 0, fromLo, fromHi);
      const isBehind = !isEarlier(last.timeLo >>> 0, last.timeHi >>> 0, toLo, toHi);
      if (isBefore || isBehind) {
        last.value = value;
        last.timeLo = timeLo;
        last.timeHi = timeHi;
        return;
      }
    }
    if (this.hasRoom(tracked, stages)) stages.push({ value, timeLo, timeHi });
  }

  private annotationHandler(event: CoreEvent): Handler | null {
    const [id, text] = [payloadField(event, 'entity_id'), payloadField(event, 'text')];
    const kind = payloadField(event, 'kind');
    if (!id || !text || event.fields.get('text')?.type !== FieldType.STRING_REF) return null;
    return (cursor) => {
      const annotation = {
        timePs: cursor.timePs,
        string: readField(cursor, text),
        kind: kind ? readField(cursor, kind) : 0,
      };
      const attach = (tracked: Tracked): void => {
        if (this.hasRoom(tracked, tracked.annotations)) tracked.annotations.push(annotation);
      };
      const tracked = this.subject(readField(cursor, id));
      if (tracked) attach(tracked);
      else this.postpone(cursor, id, attach);
    };
  }

  /** Until the instruction that an event is about is born in this frame. */
  private postpone(cursor: FrameCursor, id: PayloadField, apply: (tracked: Tracked) => void): void {
    if (this.early.length < MAX_ENTRIES) this.early.push({ id: readField(cursor, id), apply });
  }

  private dependencyHandler(event: CoreEvent): Handler | null {
    const [consumerId, source] = [payloadField(event, 'dst_id'), payloadField(event, 'src_id')];
    const type = payloadField(event, 'dep_type');
    if (!consumerId) return null;
    return (cursor) => {
      const consumer = this.subject(readField(cursor, consumerId));
      if (!consumer || !source || !this.hasRoom(consumer, consumer.dependencies)) return;
      const on = readField(cursor, source);
      consumer.dependencies.push({
        timePs: cursor.timePs,
        on,
        producer: this.byId.get(on) ?? this.closing.get(on) ?? null,
        type: type && readField(cursor, type),
      });
    };
  }

  private flushHandler(event: CoreEvent): Handler | null {
    const [idField, reason] = [payloadField(event, 'entity_id'), payloadField(event, 'reason')];
    if (!idField) return null;
    return (cursor) => {
      const id = readField(cursor, idField);
      const closed = this.closing.get(id);
      // Without interleaving the order within a frame is lost: the flush is about the one that went, not about its successor.
      const tracked = !this.interleaved && closed ? closed : this.subject(id);
      if (!tracked || tracked.flush) return;
      tracked.flush = {
        timePs: cursor.timePs,
        reason: reason && readField(cursor, reason),
      };
      if (tracked.end === InstructionEnd.RETIRED) tracked.end = InstructionEnd.SQUASHED;
    };
  }

  private stallHandler(event: CoreEvent): Handler | null {
    const [id, reason] = [payloadField(event, 'entity_id'), payloadField(event, 'reason')];
    if (!id) return null;
    return (cursor) => {
      const tracked = this.subject(readField(cursor, id));
      if (!tracked || !reason || !this.hasRoom(tracked, tracked.stalls)) return;
      tracked.stalls.push({ timePs: cursor.timePs, reason: readField(cursor, reason) });
    };
  }

  private trapHandler(event: CoreEvent): Handler | null {
    const id = payloadField(event, 'entity_id');
    if (!id) return null;
    const [cause, tval, target] = ['cause', 'tval', 'target'].map((name) => event.fields.get(name));
    return (cursor) => {
      const tracked = this.subject(readField(cursor, id));
      if (!tracked) return;
      tracked.trap = {
        timePs: cursor.timePs,
        cause: readWide(cursor, cause),
        tval: readWide(cursor, tval),
        target: readWide(cursor, target),
      };
    };
  }
}

/** Of two times as u32 halves. Rounding cannot change the sign: halves that differ outweigh what is below them. */
function isEarlier(lo: number, hi: number, thanLo: number, thanHi: number): boolean {
  return (hi - thanHi) * TWO_32 + (lo - thanLo) < 0;
}

function hasEnded(tracked: Tracked): boolean {
  return tracked.endPs !== null;
}

/** As many bits as a field has; null without one. The payload has its size: see `instructions`. */
function readWide({ bytes, payloadOffset }: FrameCursor, field: EventField | undefined): bigint | null {
  return field ? readRaw(bytes, payloadOffset + field.offset, field.type) : null;
}
