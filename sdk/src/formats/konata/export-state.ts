/** Follows a core through its ops and events and says it in Kanata's commands. */
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { ProtocolEvent } from '../../semantics/common/describe.js';
import { type CoreEntities, type CpuCore, NO_STAGE } from '../../semantics/cpu/index.js';
import type { StorageState } from '../../state/storage-state.js';
import type { ConversionReport, Fate, Tally } from '../common/report.js';
import {
  bitsText,
  type FieldPlace,
  labelAt,
  numberIn,
  numberOf,
  placeOf,
  wideOf,
} from '../pipeline/core-fields.js';
import { Roster } from '../pipeline/roster.js';
import { LabelKind } from './line.js';
import { type Flying, newFlying, PendingCommands } from './pending.js';

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

/** Kinds of what the report says. */
const KINDS = {
  storages: ['dropped', 'changes of buffers, counters and other storages', 'a Kanata log has none'],
  otherEvents: ['dropped', 'events of other kinds', 'a Kanata log has none'],
  instructions: ['kept', 'instructions', 'as it is'],
  ends: ['kept', 'ends of instructions', 'as it is'],
  reused: ['approximated', 'instructions whose slot was reused without CLEAR', 'flushed'],
  lost: ['dropped', 'events about instructions not in flight', 'there is nothing to say them of'],
  stages: ['kept', 'stages', 'as it is'],
  lanes: ['kept', 'lanes', 'as it is'],
  annotations: ['kept', 'annotations', 'as it is'],
  dependencies: ['kept', 'dependencies', 'as it is'],
  flushes: ['approximated', 'reasons of flushes', 'a label of kind 1'],
  coreStalls: ['dropped', 'stalls of the core', 'a Kanata log has only instructions'],
  stalls: ['approximated', 'stalls of instructions', 'a label of kind 1'],
  traps: ['approximated', 'traps', 'a label of kind 1'],
} as const satisfies Record<string, readonly [fate: Fate, what: string, how: string]>;
type Kind = keyof typeof KINDS;

/** Where the fields are that most events have: looked up once for each type of event. */
function placesOf(event: ProtocolEvent) {
  return {
    event,
    id: placeOf(event, 'entity_id'),
    source: placeOf(event, 'src_id'),
    target: placeOf(event, 'dst_id'),
    stage: placeOf(event, 'stage'),
    lane: placeOf(event, 'lane'),
    text: placeOf(event, 'text'),
    kind: placeOf(event, 'kind'),
    type: placeOf(event, 'type'),
    dependencyType: placeOf(event, 'dep_type'),
  };
}

type Places = ReturnType<typeof placesOf>;
type Handler = (cursor: FrameCursor, places: Places) => void;

export class KanataExport {
  readonly pending = new PendingCommands();
  private nextId = 0;
  private retired = 0;
  private readonly tallies: Partial<Record<Kind, Tally>> = {};
  private readonly bySlot: (Flying | undefined)[] = [];
  private readonly unborn: (Flying | undefined)[] = [];
  private flying = 0;
  private readonly byEntity = new Roster<Flying>();
  /** Ended in this frame: events may still be about them. */
  private readonly closing = new Map<number, Flying>();
  /** Ended in this frame and not said yet. */
  private readonly ending: Flying[] = [];
  private frames = 0;
  private readonly handlers: (readonly [Places, Handler] | undefined)[] = [];
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
      if (event) this.handlers[event.def.eventTypeId] = [placesOf(event), handler];
    };
    handle('stage_transition', (c, p) => this.onStage(c, p));
    handle('annotate', (c, p) => this.onAnnotate(c, p));
    handle('dependency', (c, p) => this.onDependency(c, p));
    handle('late_dependency', (c, p) => this.onLateDependency(c, p));
    handle('flush', (c, p) => this.onFlush(c, p));
    handle('stall', (c, p) => this.onStall(c, p));
    handle('trap', (c, p) => this.onTrap(c, p));
    handle('retire', (c, p) => this.onRetire(c, p));
    handle('lane_start', (c, p) => this.onLane(c, p, true));
    handle('lane_end', (c, p) => this.onLane(c, p, false));
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
      this.count('storages');
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
    else this.count('otherEvents');
  }

  private birth(flying: Flying, entity: number): Flying {
    flying.entity = entity;
    if (this.logIdField < 0) flying.id = this.nextId++;
    this.bySlot[flying.slot] = flying;
    this.flying++;
    this.byEntity.remove(entity);
    this.byEntity.add(entity, flying);
    flying.bornIn = this.frames;
    this.pending.begin(flying);
    if (!this.isKanata) this.pending.code(flying);
    if (flying.id === 0 && this.source.legend) this.detail(flying, this.source.legend);
    this.count('instructions');
    return flying;
  }

  private setField(flying: Flying, field: number, lo: number, hi: number): void {
    const { pcField, bitsField, threadField } = this.source.entities;
    const isNew = flying.bornIn === this.frames || flying.bornIn < 0;
    if (field === pcField) {
      flying.pc = wide(lo, hi);
      flying.showsPc = isNew || flying.showsPc;
    } else if (field === bitsField) {
      // A log of Kanata or gem5 has no bits: 0 is not an instruction.
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
    if (this.byEntity.get(flying.entity) === flying) this.byEntity.remove(flying.entity);
    this.closing.set(flying.entity, flying);
    // In frames without order (v0.1) the events of a frame follow its CLEARs: an end is said when the frame is over.
    if (this.isKanata) this.retire(flying);
    else this.ending.push(flying);
    this.count('ends');
  }

  private retire(flying: Flying): void {
    if (!this.isKanata) this.endStage(flying);
    this.pending.retire(flying, this.retired++);
  }

  /** The slot was given to another one: the trace does not say how this one ended. */
  private lose(flying: Flying): void {
    flying.isFlushed = true;
    this.clear(flying.slot);
    this.count('reused');
  }

  private subject(cursor: FrameCursor, place: FieldPlace | null): Flying | null {
    const id = numberIn(cursor, place);
    const flying = this.byEntity.get(id) ?? this.closing.get(id) ?? null;
    if (!flying) this.count('lost');
    return flying;
  }

  private onStage(cursor: FrameCursor, places: Places): void {
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    const value = numberIn(cursor, places.stage);
    const { core, stageNames } = this.source;
    const index = core.stageOf(value);
    // Of a log of Kanata `lane_start` and `lane_end` say what is in other lanes, and what ends.
    if (this.isKanata && (index === NO_STAGE || index >= stageNames.length)) return;
    const stage = stageNames[index] ?? core.stages[index] ?? labelAt(cursor, places.event, 'stage');
    if (!this.isKanata) this.endStage(flying);
    if (index === NO_STAGE) return;
    flying.stage = stage;
    this.pending.stage(true, flying, 0, stage);
    this.count('stages');
  }

  private endStage(flying: Flying): void {
    const { stage } = flying;
    if (stage === null) return;
    flying.stage = null;
    this.pending.stage(false, flying, 0, stage);
  }

  private onLane(cursor: FrameCursor, places: Places, isStart: boolean): void {
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    const lane = numberIn(cursor, places.lane);
    this.pending.stage(isStart, flying, lane, numberIn(cursor, places.stage));
    this.count('lanes');
  }

  private onAnnotate(cursor: FrameCursor, places: Places): void {
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    const index = numberIn(cursor, places.text);
    const kind = numberIn(cursor, places.kind);
    this.count('annotations');
    if (kind >= 0) this.pending.label(flying, kind, index);
    else this.pending.annotation(flying, index);
  }

  private onDependency(cursor: FrameCursor, places: Places): void {
    const consumer = this.subject(cursor, places.target);
    const producer = this.subject(cursor, places.source);
    if (!consumer || !producer) return;
    const exact = numberIn(cursor, places.type);
    const type = exact >= 0 ? exact : Math.max(numberIn(cursor, places.dependencyType), 0);
    this.pending.dependency(consumer, producer, type);
    this.count('dependencies');
  }

  private onLateDependency(cursor: FrameCursor, places: Places): void {
    const [consumer, producer, type] = ['consumer', 'producer', 'type'].map((name) =>
      numberOf(cursor, places.event, name),
    );
    this.pending.lateDependency(consumer, producer, type);
    this.count('dependencies');
  }

  private onFlush(cursor: FrameCursor, places: Places): void {
    // Without order in a frame the flush is about the one that went, not about its successor.
    const closed = this.source.isInterleaved ? undefined : this.closing.get(numberIn(cursor, places.id));
    const flying = closed ?? this.subject(cursor, places.id);
    if (!flying || flying.isFlushed) return;
    flying.isFlushed = true;
    if (this.isKanata) return;
    const reason = labelAt(cursor, places.event, 'reason');
    if (reason !== '') this.detail(flying, `flush: ${reason}`);
    this.count('flushes');
  }

  private onStall(cursor: FrameCursor, places: Places): void {
    if (places.id === null) {
      this.count('coreStalls');
      return;
    }
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    this.detail(flying, `stall: ${labelAt(cursor, places.event, 'reason')}`);
    this.count('stalls');
  }

  private onTrap(cursor: FrameCursor, places: Places): void {
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    const parts = ['cause', 'tval', 'target'].flatMap((name) => {
      const value = wideOf(cursor, places.event, name);
      return value === null ? [] : [`${name}=0x${value.toString(16)}`];
    });
    this.detail(flying, ['trap', ...parts].join(' '));
    this.count('traps');
  }

  private onRetire(cursor: FrameCursor, places: Places): void {
    const flying = this.subject(cursor, places.id);
    if (!flying) return;
    flying.rid = wideOf(cursor, places.event, 'rid');
    const type = numberIn(cursor, places.type);
    if (type >= 0) flying.retireType = type;
  }

  private detail(flying: Flying, text: string): void {
    this.pending.label(flying, LabelKind.DETAIL, text);
  }

  /** One more of a kind, which is in the report from the first one on. */
  private count(kind: Kind): void {
    const [fate, what, how] = KINDS[kind];
    this.tallies[kind] ??= this.report.tally(fate, what, how);
    this.tallies[kind].count++;
  }
}

const wide = (lo: number, hi: number): bigint => (hi === 0 ? BigInt(lo) : (BigInt(hi) << 32n) | BigInt(lo));
