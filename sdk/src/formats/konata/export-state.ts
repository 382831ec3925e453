/** Follows a core through its ops and events and says it in Kanata's commands. */
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { ProtocolEvent } from '../../semantics/common/describe.js';
import type { CoreEntities, CpuCore } from '../../semantics/cpu/index.js';
import type { StorageState } from '../../state/storage-state.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { bitsText, pcText } from '../pipeline/code-text.js';
import { labelAt, numberOf, wideOf } from '../pipeline/core-fields.js';
import { RetireType } from '../pipeline/retire-type.js';
import { type Flying, newFlying } from './flying.js';
import { type KanataRecord, LabelKind } from './types.js';

/** A command that is complete when its frame is over and its strings are there. */
export interface Pending {
  readonly cycle: bigint;
  make(text: (index: number) => string): KanataRecord | null;
}

export interface ExportSource {
  readonly core: CpuCore;
  readonly entities: CoreEntities;
  readonly events: ReadonlyMap<string, ProtocolEvent>;
  /** Of the stages: as the log that the trace came from had them, or short ones; where there is none, the trace's. */
  readonly stageNames: readonly string[];
  /** What the short names mean: a detail of the first instruction; null: they are the trace's. */
  readonly legend: string | null;
  /** Cycle at time 0. */
  readonly zero: bigint;
  readonly periodPs: bigint;
  /** Ops and events of a frame keep their order (`Trace.isInterleaved`). */
  readonly isInterleaved: boolean;
}

type Handler = (cursor: FrameCursor, event: ProtocolEvent) => void;

export class KanataExport {
  pending: Pending[] = [];
  /** Strings that `pending` needs. */
  strings = new Set<number>();
  private cycle: bigint;
  private nextId = 0;
  private retired = 0n;
  private readonly tallies = new Map<string, Tally>();
  private readonly bySlot = new Map<number, Flying>();
  private readonly unborn = new Map<number, Flying>();
  private readonly byEntity = new Map<number, Flying>();
  /** Ended in this frame: events may still be about them. */
  private closing = new Map<number, Flying>();
  /** Ended in this frame and not said yet. */
  private readonly ending: Flying[] = [];
  private readonly newborn = new Set<Flying>();
  private readonly handlers: (readonly [ProtocolEvent, Handler] | undefined)[] = [];
  private readonly committedId: number;
  private readonly logIdField: number;
  private readonly gidField: number;
  /** The trace was made from a Kanata log: it says itself what is shown, and where stages end. */
  private readonly isKanata: boolean;

  constructor(
    private readonly source: ExportSource,
    private readonly report: ConversionReport,
  ) {
    const { entities, events } = source;
    this.cycle = source.zero;
    this.logIdField = entities.def.fields.findIndex(({ name }) => name === 'log_id');
    this.gidField = entities.def.fields.findIndex(({ name }) => name === 'gid');
    this.committedId = source.core.counters.find(({ name }) => name === 'committed_insns')?.storageId ?? -1;
    this.isKanata = this.logIdField >= 0 && events.has('lane_end');
    const handle = (name: string, handler: Handler): void => {
      const event = events.get(name);
      if (event) this.handlers[event.def.eventTypeId] = [event, handler];
    };
    handle('stage_transition', (c, e) => this.onStage(c, e));
    handle('annotate', (c, e) => this.onAnnotate(c, e));
    handle('dependency', (c, e) => this.onDependency(c, e));
    handle('late_dependency', (c, e) => this.onLateDependency(c, e));
    handle('flush', (c, e) => this.onFlush(c, e));
    handle('stall', (c, e) => this.onStall(c, e));
    handle('trap', (c, e) => this.onTrap(c, e));
    handle('retire', (c, e) => this.onRetire(c, e));
    handle('lane_start', (c, e) => this.onLane(c, e, 'start'));
    handle('lane_end', (c, e) => this.onLane(c, e, 'end'));
  }

  get inFlight(): number {
    return this.bySlot.size;
  }

  /** Instructions that are in flight where the trace begins (a part of another one). */
  begin(state: StorageState): void {
    const { def, idField } = this.source.entities;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.slotOccupied(def.storageId, slot)) continue;
      const id = idField >= 0 ? Number(state.value(def.storageId, slot, idField)) : slot;
      const flying = this.birth(newFlying(slot), id);
      def.fields.forEach((_, field) => {
        this.setField(flying, field, state.value(def.storageId, slot, field));
      });
    }
  }

  /** A frame begins: what the one before left open is settled. */
  frame(timePs: bigint): void {
    this.settle();
    this.cycle = this.source.zero + timePs / this.source.periodPs;
  }

  /** The frame is over. */
  settle(): void {
    for (const flying of this.ending.splice(0)) this.retire(flying);
    this.newborn.clear();
    if (this.closing.size > 0) this.closing = new Map();
  }

  op(cursor: FrameCursor): void {
    const { def, idField } = this.source.entities;
    if (cursor.storageId !== def.storageId) {
      // What a reader of the log counts itself.
      if (cursor.storageId === this.committedId) return;
      this.count('dropped', 'changes of buffers, counters and other storages', 'a Kanata log has none');
      return;
    }
    const { slot, action, field } = cursor;
    if (action === Action.CLEAR) this.clear(slot);
    if (action !== Action.SET) return;
    const value = (BigInt(cursor.hi) << 32n) | BigInt(cursor.lo);
    this.setField(this.owner(slot, field === idField, cursor.lo), field, value);
  }

  /** Whose field is set: an id on a free slot is a birth; fields that come before it wait for one. */
  private owner(slot: number, isId: boolean, id: number): Flying {
    const known = this.bySlot.get(slot);
    if (known && (!isId || known.entity === id)) return known;
    if (known) this.lose(known);
    const waiting = this.unborn.get(slot) ?? newFlying(slot);
    if (!isId && this.source.entities.idField >= 0) {
      this.unborn.set(slot, waiting);
      return waiting;
    }
    this.unborn.delete(slot);
    return this.birth(waiting, isId ? id : slot);
  }

  event(cursor: FrameCursor): void {
    const handler = this.handlers[cursor.eventType];
    if (handler) handler[1](cursor, handler[0]);
    else this.count('dropped', 'events of other kinds', 'a Kanata log has none');
  }

  private birth(flying: Flying, entity: number): Flying {
    flying.entity = entity;
    if (this.logIdField < 0) flying.id = this.nextId++;
    this.bySlot.set(flying.slot, flying);
    this.byEntity.set(entity, flying);
    this.newborn.add(flying);
    this.push(() => ({
      kind: 'begin',
      id: flying.id,
      gid: flying.gid ?? BigInt(Math.max(flying.id, 0)),
      tid: flying.tid,
    }));
    if (!this.isKanata) this.push(() => this.codeLabel(flying));
    if (flying.id === 0 && this.source.legend) this.detail(flying, this.source.legend);
    this.count('kept', 'instructions');
    return flying;
  }

  /** What is next to an instruction: as much as its first frame said of it. */
  private codeLabel(flying: Flying): KanataRecord | null {
    const { id, pc, bits } = flying;
    const { xlen } = this.source.core;
    const parts = [pc === null ? '' : `${pcText(pc, xlen)}: `, bits === null ? '' : bitsText(bits, pc, xlen)];
    const text = parts.join('');
    return text === '' ? null : { kind: 'label', id, type: LabelKind.PANE, text };
  }

  private setField(flying: Flying, field: number, value: bigint): void {
    const { pcField, bitsField, threadField } = this.source.entities;
    const isNew = this.newborn.has(flying) || this.unborn.get(flying.slot) === flying;
    if (field === pcField) {
      flying.pc = value;
      flying.showsPc = isNew || flying.showsPc;
    } else if (field === bitsField) {
      // A log of Kanata or gem5 has no bits: 0 is no instruction.
      flying.bits = value === 0n ? null : Number(value & 0xffff_ffffn);
      if (!isNew && !flying.showsBits && flying.bits !== null) this.lateBits(flying, flying.bits);
      flying.showsBits = flying.bits !== null;
    } else if (field === threadField) flying.tid = Number(value);
    else if (field === this.logIdField) flying.id = Number(value);
    else if (field === this.gidField) flying.gid = value;
  }

  /** Some designs know the machine code later than the address: fragments join. */
  private lateBits(flying: Flying, bits: number): void {
    if (this.isKanata) return;
    const { pc } = flying;
    this.push(() => ({
      kind: 'label',
      id: flying.id,
      type: LabelKind.PANE,
      text: bitsText(bits, pc, this.source.core.xlen),
    }));
  }

  private clear(slot: number): void {
    this.unborn.delete(slot);
    const flying = this.bySlot.get(slot);
    if (!flying) return;
    this.bySlot.delete(slot);
    if (this.byEntity.get(flying.entity) === flying) this.byEntity.delete(flying.entity);
    this.closing.set(flying.entity, flying);
    // In frames without order (v0.1) the events of a frame follow its CLEARs: an end is said when the frame is over.
    if (this.isKanata) this.retire(flying);
    else this.ending.push(flying);
    this.count('kept', 'ends of instructions');
  }

  private retire(flying: Flying): void {
    if (!this.isKanata) this.endStage(flying);
    const running = this.retired++;
    this.push(() => {
      const type = flying.retireType ?? (flying.isFlushed ? RetireType.FLUSHED : RetireType.RETIRED);
      return { kind: 'retire', id: flying.id, rid: flying.rid ?? running, type };
    });
  }

  /** The slot was given to another one: the trace does not say how this one ended. */
  private lose(flying: Flying): void {
    flying.isFlushed = true;
    this.clear(flying.slot);
    this.count('approximated', 'instructions whose slot was reused without CLEAR', 'flushed');
  }

  private subject(cursor: FrameCursor, event: ProtocolEvent, field = 'entity_id'): Flying | null {
    const id = numberOf(cursor, event, field);
    const flying = this.byEntity.get(id) ?? this.closing.get(id) ?? null;
    if (!flying)
      this.count('dropped', 'events about instructions not in flight', 'there is nothing to say them of');
    return flying;
  }

  private onStage(cursor: FrameCursor, event: ProtocolEvent): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const value = numberOf(cursor, event, 'stage');
    const { core, stageNames } = this.source;
    const index = core.stageOf(value);
    const stage = stageNames[index] ?? core.stages[index] ?? labelAt(cursor, event, 'stage');
    if (!this.isKanata) this.endStage(flying);
    flying.stage = stage;
    this.push(() => ({ kind: 'start', id: flying.id, lane: 0, stage }));
    this.count('kept', 'stages');
  }

  private endStage(flying: Flying): void {
    const { stage } = flying;
    if (stage === null) return;
    flying.stage = null;
    this.push(() => ({ kind: 'end', id: flying.id, lane: 0, stage }));
  }

  private onLane(cursor: FrameCursor, event: ProtocolEvent, kind: 'start' | 'end'): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const lane = numberOf(cursor, event, 'lane');
    const stage = this.textOf(cursor, event, 'stage');
    this.push((text) => ({ kind, id: flying.id, lane, stage: text(stage) }));
    this.count('kept', 'lanes');
  }

  private onAnnotate(cursor: FrameCursor, event: ProtocolEvent): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const index = this.textOf(cursor, event, 'text');
    const kind = numberOf(cursor, event, 'kind');
    this.count('kept', 'annotations');
    if (kind >= 0) this.push((text) => ({ kind: 'label', id: flying.id, type: kind, text: text(index) }));
    else this.push((text) => this.annotation(flying, text(index)));
  }

  /** Text with the address in front is what the instruction is; other text is a detail. */
  private annotation(flying: Flying, text: string): KanataRecord {
    const { id, pc } = flying;
    const rest = pc === null ? null : withoutPc(text, pc);
    if (rest === null || flying.showsBits)
      return { kind: 'label', id, type: LabelKind.DETAIL, text: rest ?? text };
    return { kind: 'label', id, type: LabelKind.PANE, text: flying.showsPc ? rest : text };
  }

  private onDependency(cursor: FrameCursor, event: ProtocolEvent): void {
    const consumer = this.subject(cursor, event, 'dst_id');
    const producer = this.subject(cursor, event, 'src_id');
    if (!consumer || !producer) return;
    const exact = numberOf(cursor, event, 'type');
    const type = exact >= 0 ? exact : Math.max(numberOf(cursor, event, 'dep_type'), 0);
    this.push(() => ({ kind: 'dependency', consumer: consumer.id, producer: producer.id, type }));
    this.count('kept', 'dependencies');
  }

  private onLateDependency(cursor: FrameCursor, event: ProtocolEvent): void {
    const [consumer, producer, type] = ['consumer', 'producer', 'type'].map((name) =>
      numberOf(cursor, event, name),
    );
    this.push(() => ({ kind: 'dependency', consumer, producer, type }));
    this.count('kept', 'dependencies');
  }

  private onFlush(cursor: FrameCursor, event: ProtocolEvent): void {
    // Without order in a frame the flush is about the one that went, not about its successor.
    const closed = this.source.isInterleaved
      ? undefined
      : this.closing.get(numberOf(cursor, event, 'entity_id'));
    const flying = closed ?? this.subject(cursor, event);
    if (!flying || flying.isFlushed) return;
    flying.isFlushed = true;
    if (this.isKanata) return;
    const reason = labelAt(cursor, event, 'reason');
    if (reason !== '') this.detail(flying, `flush: ${reason}`);
    this.count('approximated', 'reasons of flushes', 'a label of kind 1');
  }

  private onStall(cursor: FrameCursor, event: ProtocolEvent): void {
    if (!event.fields.has('entity_id')) {
      this.count('dropped', 'stalls of the core', 'a Kanata log has only instructions');
      return;
    }
    const flying = this.subject(cursor, event);
    if (!flying) return;
    this.detail(flying, `stall: ${labelAt(cursor, event, 'reason')}`);
    this.count('approximated', 'stalls of instructions', 'a label of kind 1');
  }

  private onTrap(cursor: FrameCursor, event: ProtocolEvent): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const parts = ['cause', 'tval', 'target'].flatMap((name) => {
      const value = wideOf(cursor, event, name);
      return value === null ? [] : [`${name}=0x${value.toString(16)}`];
    });
    this.detail(flying, ['trap', ...parts].join(' '));
    this.count('approximated', 'traps', 'a label of kind 1');
  }

  private onRetire(cursor: FrameCursor, event: ProtocolEvent): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    flying.rid = wideOf(cursor, event, 'rid');
    const type = numberOf(cursor, event, 'type');
    if (type >= 0) flying.retireType = type;
  }

  private detail(flying: Flying, text: string): void {
    this.push(() => ({ kind: 'label', id: flying.id, type: LabelKind.DETAIL, text }));
  }

  private textOf(cursor: FrameCursor, event: ProtocolEvent, field: string): number {
    const index = numberOf(cursor, event, field);
    if (index >= 0) this.strings.add(index);
    return index;
  }

  /** One more of a kind; the tally is looked up in the report once. */
  private count(fate: 'kept' | 'approximated' | 'dropped', what: string, how?: string): void {
    let tally = this.tallies.get(what);
    if (!tally) {
      tally = this.report.tally(fate, what, how ?? 'as it is');
      this.tallies.set(what, tally);
    }
    tally.count++;
  }

  private push(make: Pending['make']): void {
    this.pending.push({ cycle: this.cycle, make });
  }
}

/** The text after the address that it begins with; null when it does not. */
function withoutPc(text: string, pc: bigint): string | null {
  const [all, digits] = /^\s*(?:0[xX])?([0-9a-fA-F]{1,16}):?\s*/.exec(text) ?? [];
  if (all === undefined || digits === undefined || BigInt(`0x${digits}`) !== pc) return null;
  return text.slice(all.length);
}
