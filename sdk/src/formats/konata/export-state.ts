/** Follows a core through its ops and events and says it in Kanata's commands. */
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { ProtocolEvent } from '../../semantics/common/describe.js';
import type { CoreEntities, CpuCore } from '../../semantics/cpu/index.js';
import type { StorageState } from '../../state/storage-state.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { bitsText } from '../pipeline/code-text.js';
import { labelAt, numberOf, wideOf } from '../pipeline/core-fields.js';
import { type Flying, newFlying } from './flying.js';
import { PendingCommands } from './pending.js';
import { LabelKind } from './types.js';

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
  readonly pending = new PendingCommands();
  private nextId = 0;
  private retired = 0;
  private readonly tallies = new Map<string, Tally>();
  private readonly bySlot: (Flying | undefined)[] = [];
  private readonly unborn: (Flying | undefined)[] = [];
  private flying = 0;
  private readonly byEntity = new Map<number, Flying>();
  /** Ended in this frame: events may still be about them. */
  private readonly closing = new Map<number, Flying>();
  /** Ended in this frame and not said yet. */
  private readonly ending: Flying[] = [];
  private frames = 0;
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
    this.pending.time(source.zero);
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
    handle('lane_start', (c, e) => this.onLane(c, e, true));
    handle('lane_end', (c, e) => this.onLane(c, e, false));
  }

  get inFlight(): number {
    return this.flying;
  }

  /** Instructions that are in flight where the trace begins (a part of another one). */
  begin(state: StorageState): void {
    const { def, idField } = this.source.entities;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.slotOccupied(def.storageId, slot)) continue;
      const id = idField >= 0 ? Number(state.value(def.storageId, slot, idField)) : slot;
      const flying = this.birth(newFlying(slot), id);
      def.fields.forEach((_, field) => {
        const value = state.value(def.storageId, slot, field);
        this.setField(flying, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
      });
    }
  }

  /** A frame begins: what the one before left open is settled. */
  frame(timePs: bigint): void {
    this.settle();
    this.pending.time(this.source.zero + timePs / this.source.periodPs);
  }

  /** The frame is over. */
  settle(): void {
    for (let at = 0; at < this.ending.length; at++) this.retire(this.ending[at]);
    this.ending.length = 0;
    this.frames++;
    if (this.closing.size > 0) this.closing.clear();
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
    this.setField(this.owner(slot, field === idField, cursor.lo), field, cursor.lo, cursor.hi);
  }

  /** Whose field is set: an id on a free slot is a birth; fields that come before it wait for one. */
  private owner(slot: number, isId: boolean, id: number): Flying {
    const known = this.bySlot[slot];
    if (known && (!isId || known.entity === id)) return known;
    if (known) this.lose(known);
    const waiting = this.unborn[slot] ?? newFlying(slot);
    if (!isId && this.source.entities.idField >= 0) {
      this.unborn[slot] = waiting;
      return waiting;
    }
    this.unborn[slot] = undefined;
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
    this.bySlot[flying.slot] = flying;
    this.flying++;
    this.byEntity.set(entity, flying);
    flying.bornIn = this.frames;
    this.pending.begin(flying);
    if (!this.isKanata) this.pending.code(flying);
    if (flying.id === 0 && this.source.legend) this.detail(flying, this.source.legend);
    this.count('kept', 'instructions');
    return flying;
  }

  private setField(flying: Flying, field: number, lo: number, hi: number): void {
    const { pcField, bitsField, threadField } = this.source.entities;
    const isNew = flying.bornIn === this.frames || flying.bornIn < 0;
    if (field === pcField) {
      flying.pc = wide(lo, hi);
      flying.showsPc = isNew || flying.showsPc;
    } else if (field === bitsField) {
      // A log of Kanata or gem5 has no bits: 0 is no instruction.
      flying.bits = lo === 0 && hi === 0 ? null : lo;
      if (!isNew && !flying.showsBits && flying.bits !== null) this.lateBits(flying, flying.bits);
      flying.showsBits = flying.bits !== null;
    } else if (field === threadField) flying.tid = Number(wide(lo, hi));
    else if (field === this.logIdField) flying.id = Number(wide(lo, hi));
    else if (field === this.gidField) flying.gid = hi === 0 ? lo : wide(lo, hi);
  }

  /** Some designs know the machine code later than the address: fragments join. */
  private lateBits(flying: Flying, bits: number): void {
    if (this.isKanata) return;
    this.pending.label(flying, LabelKind.PANE, bitsText(bits, flying.pc, this.source.core.xlen));
  }

  private clear(slot: number): void {
    this.unborn[slot] = undefined;
    const flying = this.bySlot[slot];
    if (!flying) return;
    this.bySlot[slot] = undefined;
    this.flying--;
    if (this.byEntity.get(flying.entity) === flying) this.byEntity.delete(flying.entity);
    this.closing.set(flying.entity, flying);
    // In frames without order (v0.1) the events of a frame follow its CLEARs: an end is said when the frame is over.
    if (this.isKanata) this.retire(flying);
    else this.ending.push(flying);
    this.count('kept', 'ends of instructions');
  }

  private retire(flying: Flying): void {
    if (!this.isKanata) this.endStage(flying);
    this.pending.retire(flying, this.retired++);
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
    this.pending.stage(true, flying, 0, stage);
    this.count('kept', 'stages');
  }

  private endStage(flying: Flying): void {
    const { stage } = flying;
    if (stage === null) return;
    flying.stage = null;
    this.pending.stage(false, flying, 0, stage);
  }

  private onLane(cursor: FrameCursor, event: ProtocolEvent, isStart: boolean): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const lane = numberOf(cursor, event, 'lane');
    this.pending.stage(isStart, flying, lane, numberOf(cursor, event, 'stage'));
    this.count('kept', 'lanes');
  }

  private onAnnotate(cursor: FrameCursor, event: ProtocolEvent): void {
    const flying = this.subject(cursor, event);
    if (!flying) return;
    const index = numberOf(cursor, event, 'text');
    const kind = numberOf(cursor, event, 'kind');
    this.count('kept', 'annotations');
    if (kind >= 0) this.pending.label(flying, kind, index);
    else this.pending.annotation(flying, index);
  }

  private onDependency(cursor: FrameCursor, event: ProtocolEvent): void {
    const consumer = this.subject(cursor, event, 'dst_id');
    const producer = this.subject(cursor, event, 'src_id');
    if (!consumer || !producer) return;
    const exact = numberOf(cursor, event, 'type');
    const type = exact >= 0 ? exact : Math.max(numberOf(cursor, event, 'dep_type'), 0);
    this.pending.dependency(consumer, producer, type);
    this.count('kept', 'dependencies');
  }

  private onLateDependency(cursor: FrameCursor, event: ProtocolEvent): void {
    const [consumer, producer, type] = ['consumer', 'producer', 'type'].map((name) =>
      numberOf(cursor, event, name),
    );
    this.pending.lateDependency(consumer, producer, type);
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
    this.pending.label(flying, LabelKind.DETAIL, text);
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
}

const wide = (lo: number, hi: number): bigint => (hi === 0 ? BigInt(lo) : (BigInt(hi) << 32n) | BigInt(lo));
