/** Writes what a log says of its instructions as a µScope trace, in order of time. */
import { UscopeError } from '../../base/errors.js';
import type { EventFields, TraceWriter } from '../../writer/index.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { leadingPc } from './pc.js';
import { RetireType } from './retire-type.js';
import { Roster } from './roster.js';
import { DEPENDENCY_TYPES, type PipelineShape, UNKNOWN_FLUSH } from './shape.js';
import { SlotPool } from './slot-pool.js';

interface Live {
  readonly id: number;
  readonly slot: number;
  /** Its `I` has been seen; others were met in another command first. */
  isDeclared: boolean;
  /** Joined text next to it, until it has an address or is long enough to have had one. */
  head: string;
  hasPc: boolean;
}

const MAX_HEAD = 64;

export class PipelineSink {
  private readonly roster = new Roster<Live>();
  private readonly tallies = new Map<string, Tally>();
  private readonly pool: SlotPool;
  private readonly stageIndex: ReadonlyMap<string, number>;
  /** Ids: names would be looked up at every call. */
  private readonly entities: number;
  private readonly committed: number;
  private readonly fields: ReadonlyMap<string, number>;
  private readonly events: ReadonlyMap<string, number>;
  private isOpen = false;
  private timePs = -1n;
  private readonly begun: Tally;
  private readonly lost: Tally;

  constructor(
    private readonly writer: TraceWriter,
    private readonly shape: PipelineShape,
    private readonly report: ConversionReport,
  ) {
    this.pool = new SlotPool(shape.slots);
    this.stageIndex = new Map(shape.stages.map((name, index) => [name, index]));
    const { storages, events } = writer.schema;
    const entities = storages.find(({ name }) => name === 'entities');
    this.entities = entities?.storageId ?? 0;
    this.committed = storages.find(({ name }) => name === 'committed_insns')?.storageId ?? 0;
    this.fields = new Map(entities?.fields.map(({ name }, index) => [name, index]));
    this.events = new Map(events.map(({ name, eventTypeId }) => [name, eventTypeId]));
    this.begun = report.kept('instructions');
    this.lost = report.dropped(
      'records about instructions that have ended or never began',
      'nothing they could be said of',
    );
  }

  /** Time advances to `timePs`; false: the disk lags, await `writer.ready()`. */
  moveTo(timePs: bigint): boolean {
    if (timePs === this.timePs) return true;
    this.pool.settle();
    const goesOn = this.isOpen ? this.writer.endCycle() : true;
    this.isOpen = false;
    this.timePs = timePs;
    return goesOn;
  }

  begin(id: number, gid: bigint, tid: number): void {
    const known = this.roster.live.get(id);
    if (known?.isDeclared) {
      throw new UscopeError('CONVERT_FORMAT', `instruction ${id} begins while it is in flight`);
    }
    const live = known ?? this.birth(id);
    live.isDeclared = true;
    this.set(live, 'gid', gid);
    this.set(live, 'thread_id', tid);
  }

  setPc(id: number, pc: bigint): void {
    const live = this.roster.live.get(id);
    if (!live) return;
    live.hasPc = true;
    this.set(live, 'pc', pc);
  }

  label(id: number, kind: number, text: string): void {
    const live = this.subject(id);
    if (!live) return;
    const event = { entity_id: live.slot, text };
    if (this.shape.isKanata && kind > 255)
      throw new UscopeError('CONVERT_FORMAT', `labels of kind ${kind} do not exist`);
    this.event('annotate', this.shape.isKanata ? { ...event, kind } : event);
    if (kind === 0) this.findPc(live, text);
    this.count('kept', `labels of kind ${kind}`, 'annotate');
  }

  start(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane === 0) {
      this.event('stage_transition', { entity_id: live.slot, stage: this.stageIndex.get(stage) ?? 0 });
      this.count('kept', 'stages', 'stage_transition');
      return;
    }
    this.event('lane_start', { entity_id: live.slot, lane: laneOf(lane), stage });
    this.count('kept', 'stages of other lanes', 'lane_start');
  }

  end(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    this.event('lane_end', { entity_id: live.slot, lane: laneOf(lane), stage });
    this.count('kept', 'explicit ends of stages', 'lane_end');
  }

  retire(id: number, rid: bigint, type: number): void {
    const live = this.subject(id);
    if (!live) return;
    if (this.shape.isKanata) this.event('retire', { entity_id: live.slot, rid, type: u32('a type', type) });
    if (type === RetireType.FLUSHED) {
      this.event('flush', { entity_id: live.slot, reason: UNKNOWN_FLUSH });
      this.report.approximated(
        'flushed instructions',
        `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
      ).count++;
    } else {
      this.open();
      this.writer.slotAdd(this.committed, 0, 0, 1);
      this.count('kept', 'retired instructions', 'CLEAR and committed_insns');
    }
    this.open();
    this.writer.slotClear(this.entities, live.slot);
    this.roster.remove(id);
    this.pool.giveBack(live.slot);
  }

  dependency(consumer: number, producer: number, type: number): void {
    const { live } = this.roster;
    const [dst, src] = [live.get(consumer), live.get(producer)];
    if (!dst || !src) {
      this.event('late_dependency', { consumer, producer, type: u32('a type', type) });
      this.count(
        'approximated',
        'dependencies on instructions that have ended',
        'late_dependency, with the numbers of the log',
      );
      return;
    }
    const label = DEPENDENCY_TYPES[type] ?? DEPENDENCY_TYPES[0];
    this.event('dependency', {
      src_id: src.slot,
      dst_id: dst.slot,
      dep_type: label,
      type: u32('a type', type),
    });
    this.count('kept', 'dependencies', 'dependency');
  }

  /** After the last record; an empty frame represents time that passed after it. */
  finish(): void {
    this.open();
    this.writer.endCycle();
    this.isOpen = false;
    const open = this.report.kept('instructions in flight at the end');
    open.count += this.roster.live.size;
  }

  /** The log cannot be read on: lets go of the file, which is not kept. */
  async abandon(): Promise<void> {
    this.isOpen = false;
    await this.writer.discard();
  }

  private birth(id: number): Live {
    const slot = this.pool.take();
    if (slot < 0)
      throw new UscopeError(
        'CONVERT_SOURCE',
        'the log changed while it was read: more instructions are in flight than before',
      );
    const live: Live = { id, slot, isDeclared: false, head: '', hasPc: false };
    this.roster.add(id, live);
    this.set(live, 'entity_id', slot);
    if (this.shape.isKanata) this.set(live, 'log_id', id);
    this.begun.count++;
    return live;
  }

  /** Some logs say something of an instruction before they introduce it: it begins there. */
  private subject(id: number): Live | null {
    const live = this.roster.live.get(id);
    if (live) return live;
    if (this.roster.standing(id) === 'new') return this.birth(id);
    this.lost.count++;
    return null;
  }

  private findPc(live: Live, text: string): void {
    if (live.hasPc || live.head.length >= MAX_HEAD) return;
    live.head += text;
    const pc = leadingPc(live.head);
    if (pc === null) return;
    // An address that continues in the next fragment is corrected then.
    live.hasPc = live.head.trimStart().length > 20;
    this.set(live, 'pc', pc);
  }

  private set(live: Live, field: string, value: number | bigint): void {
    this.open();
    this.writer.slotSet(this.entities, live.slot, this.fields.get(field) ?? field, value);
  }

  private event(name: string, fields: EventFields): void {
    this.open();
    this.writer.event(this.events.get(name) ?? name, fields);
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

  private open(): void {
    if (this.isOpen) return;
    this.writer.beginCycle(this.timePs < 0n ? 0n : this.timePs);
    this.isOpen = true;
  }
}

function laneOf(lane: number): number {
  if (lane <= 0xffff) return lane;
  throw new UscopeError('CONVERT_UNSUPPORTED', `lane ${lane}; 65,535 is the highest`);
}

function u32(what: string, value: number): number {
  if (value <= 0xffff_ffff) return value;
  throw new UscopeError('CONVERT_UNSUPPORTED', `${what} of ${value}; it has to fit into 32 bits`);
}
