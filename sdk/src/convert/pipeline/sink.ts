/** Writes what a log says of its instructions as a µScope trace, in order of time. */
import { UscopeError } from '../../base/errors.js';
import type { EventFields, TraceWriter } from '../../writer/index.js';
import type { ConversionReport, Tally } from '../formats/report.js';
import { RetireType } from '../konata/types.js';
import { leadingPc } from './pc.js';
import { Roster } from './roster.js';
import { DEPENDENCY_TYPES, type PipelineShape, UNKNOWN_FLUSH } from './shape.js';
import { SlotPool } from './slot-pool.js';

interface Live {
  readonly id: number;
  readonly slot: number;
  /** Its `I` has been seen; others were met in another command first. */
  isDeclared: boolean;
  /** Joined text beside it, until it has an address or is long enough to have had one. */
  head: string;
  hasPc: boolean;
}

const MAX_HEAD = 64;

export class PipelineSink {
  private readonly roster = new Roster<Live>();
  private readonly pool: SlotPool;
  private readonly stageIndex: ReadonlyMap<string, number>;
  private readonly path: string;
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
    this.path = shape.core;
    this.begun = report.kept('instructions');
    this.lost = report.dropped(
      'records about instructions that have ended or never began',
      'nothing they could be said of',
    );
  }

  /** Time goes on to `timePs`; false: the disk lags, await `writer.ready()`. */
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
    this.report.kept(`labels of kind ${kind}`, 'annotate').count++;
  }

  start(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane === 0) {
      this.event('stage_transition', { entity_id: live.slot, stage: this.stageIndex.get(stage) ?? 0 });
      this.report.kept('stages', 'stage_transition').count++;
      return;
    }
    this.event('lane_start', { entity_id: live.slot, lane: laneOf(lane), stage });
    this.report.kept('stages of other lanes', 'lane_start').count++;
  }

  end(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    this.event('lane_end', { entity_id: live.slot, lane: laneOf(lane), stage });
    this.report.kept('explicit ends of stages', 'lane_end').count++;
  }

  retire(id: number, rid: bigint, type: number): void {
    const live = this.subject(id);
    if (!live) return;
    if (this.shape.isKanata) this.event('retire', { entity_id: live.slot, rid, type: u32('a type', type) });
    if (type === RetireType.FLUSHED) {
      this.event('flush', { entity_id: live.slot, reason: UNKNOWN_FLUSH });
      this.report.approximated(
        'flushed instructions',
        `flush; the log gives no reason, "${UNKNOWN_FLUSH}" stands in`,
      ).count++;
    } else {
      this.open();
      this.writer.slotAdd(`${this.path}/committed_insns`, 0, 0, 1);
      this.report.kept('retired instructions', 'CLEAR and committed_insns').count++;
    }
    this.open();
    this.writer.slotClear(`${this.path}/entities`, live.slot);
    this.roster.remove(id);
    this.pool.giveBack(live.slot);
  }

  dependency(consumer: number, producer: number, type: number): void {
    const { live } = this.roster;
    const [dst, src] = [live.get(consumer), live.get(producer)];
    if (!dst || !src) {
      this.event('late_dependency', { consumer, producer, type: u32('a type', type) });
      this.report.approximated(
        'dependencies on instructions that have ended',
        'late_dependency, with the numbers of the log',
      ).count++;
      return;
    }
    const label = DEPENDENCY_TYPES[type] ?? DEPENDENCY_TYPES[0];
    this.event('dependency', {
      src_id: src.slot,
      dst_id: dst.slot,
      dep_type: label,
      type: u32('a type', type),
    });
    this.report.kept('dependencies', 'dependency').count++;
  }

  /** Behind the last record; an empty frame stands for time that passed after it. */
  finish(): void {
    this.open();
    this.writer.endCycle();
    this.isOpen = false;
    const open = this.report.kept('instructions in flight at the end');
    open.count += this.roster.live.size;
  }

  /** The log cannot be read on: lets go of the file, whose beginning is a trace. */
  async abandon(): Promise<void> {
    if (this.isOpen) this.writer.endCycle();
    this.isOpen = false;
    await this.writer.close().catch(() => undefined);
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
    // An address that goes on in the next fragment is corrected then.
    live.hasPc = live.head.trimStart().length > 20;
    this.set(live, 'pc', pc);
  }

  private set(live: Live, field: string, value: number | bigint): void {
    this.open();
    this.writer.slotSet(`${this.path}/entities`, live.slot, field, value);
  }

  private event(name: string, fields: EventFields): void {
    this.open();
    this.writer.event(`${this.path}/${name}`, fields);
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
