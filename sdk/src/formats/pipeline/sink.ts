/** Writes what a log says of its instructions as a µScope trace, in order of time. */
import { UscopeError } from '../../base/errors.js';
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action, packedSize, type Schema } from '../../format/types.js';
import { createCpuSummarizer } from '../../semantics/cpu/index.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { upperBits } from '../../writer/records/field-plan.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { TextBytes } from '../text/text-bytes.js';
import { PcFinder } from './pc.js';
import { RetireType } from './retire-type.js';
import { Roster } from './roster.js';
import {
  DEPENDENCY_TYPES,
  FLUSH_REASONS,
  type PipelineShape,
  pipelineSchema,
  UNKNOWN_FLUSH,
} from './shape.js';
import { SlotPool } from './slot-pool.js';
import { TraceStrings } from './trace-strings.js';

interface Live {
  readonly slot: number;
  /** Its `I` has been seen; others were met in another command first. */
  isDeclared: boolean;
  readonly pc: PcFinder;
}

/** A frame that is this large is pushed before its cycle ends. */
const MOST_WAITING_WORDS = 2 * 1024 * 1024;
const FLUSH_REASON = FLUSH_REASONS.indexOf(UNKNOWN_FLUSH);

/** A trace of the shape, filled by `fill`. @throws UscopeError WRITER_*, SCHEMA_*, and what `fill` throws; then nothing is kept */
export async function writePipeline(
  shape: PipelineShape,
  target: TraceTarget,
  { report, signal }: ConversionContext,
  fill: (sink: PipelineSink) => Promise<void>,
): Promise<TraceStats> {
  const { schema, dut } = pipelineSchema(shape);
  const options = { ...target, schema, dut, summarizer: createCpuSummarizer, index: createSegmentIndexer };
  const batch = new RecordBatch();
  return withOutput(options, batch, signal, async (output) => {
    const sink = new PipelineSink(schema, batch, output, shape, report);
    await fill(sink);
    sink.finish();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
}

export class PipelineSink {
  private readonly roster = new Roster<Live>();
  private readonly tallies = new Map<string, Tally>();
  private readonly pool: SlotPool;
  private readonly strings: TraceStrings;
  private readonly word = new TextBytes();
  private readonly stageIndex: ReadonlyMap<string, number>;
  private readonly ids: PipelineIds;
  private isOpen = false;
  private items = 0;
  private timePs: number | bigint = -1;
  private readonly begun: Tally;
  private readonly lost: Tally;
  private readonly stages: Tally;
  private readonly retired: Tally;
  private readonly dependencies: Tally;

  constructor(
    schema: Schema,
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
    private readonly shape: PipelineShape,
    private readonly report: ConversionReport,
  ) {
    this.pool = new SlotPool(shape.slots);
    this.strings = new TraceStrings(batch);
    this.stageIndex = new Map(shape.stages.map((name, index) => [name, index]));
    this.ids = idsOf(schema);
    this.begun = report.kept('instructions');
    this.stages = report.kept('stages', 'stage_transition');
    this.retired = report.kept('retired instructions', 'CLEAR and committed_insns');
    this.dependencies = report.kept('dependencies', 'dependency');
    this.lost = report.dropped(
      'records about instructions that have ended or never began',
      'nothing they could be said of',
    );
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.output.isFull && (!this.isOpen || this.batch.length >= MOST_WAITING_WORDS);
  }

  async push(): Promise<void> {
    this.close();
    await this.output.push();
  }

  /** Time advances to `timePs`. */
  moveTo(timePs: number | bigint): void {
    if (timePs === this.timePs) return;
    this.pool.settle();
    this.close();
    this.timePs = timePs;
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    const known = this.roster.get(id);
    if (known?.isDeclared) {
      throw new UscopeError('CONVERT_FORMAT', `instruction ${id} begins while it is in flight`);
    }
    const live = known ?? this.birth(id);
    live.isDeclared = true;
    this.set(live, this.ids.gid, gid);
    this.set(live, this.ids.threadId, u32('a thread', tid));
  }

  setPc(id: number, pc: number | bigint): void {
    const live = this.roster.get(id);
    if (!live) return;
    live.pc.isFound = true;
    this.set(live, this.ids.pc, pc);
  }

  label(id: number, kind: number, text: TextBytes): void {
    const live = this.subject(id);
    if (!live) return;
    const { isKanata } = this.shape;
    if (isKanata && kind > 255)
      throw new UscopeError('CONVERT_FORMAT', `labels of kind ${kind} do not exist`);
    const string = this.strings.of(text);
    const { view, offset } = this.event(this.ids.annotate);
    view.setUint32(offset, live.slot, true);
    view.setUint32(offset + 4, string, true);
    if (isKanata) view.setUint8(offset + 8, kind);
    if (kind === 0) {
      const pc = live.pc.take(text);
      if (pc !== null) this.set(live, this.ids.pc, pc);
    }
    this.count('kept', `labels of kind ${kind}`, 'annotate');
  }

  start(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane === 0) {
      const { view, offset } = this.event(this.ids.stageTransition);
      view.setUint32(offset, live.slot, true);
      view.setUint8(offset + 4, this.stageIndex.get(stage) ?? 0);
      this.stages.count++;
      return;
    }
    this.ofLane(this.ids.laneStart, live, lane, stage);
    this.count('kept', 'stages of other lanes', 'lane_start');
  }

  end(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    this.ofLane(this.ids.laneEnd, live, lane, stage);
    this.count('kept', 'explicit ends of stages', 'lane_end');
  }

  retire(id: number, rid: number | bigint, type: number): void {
    const live = this.subject(id);
    if (!live) return;
    if (this.shape.isKanata) {
      const checked = u32('a type', type);
      const { view, offset } = this.event(this.ids.retire);
      view.setUint32(offset, live.slot, true);
      putU64(view, offset + 4, rid);
      view.setUint32(offset + 12, checked, true);
    }
    if (type === RetireType.FLUSHED) this.flush(live);
    else {
      this.op(Action.ADD, this.ids.committed, 0, 0, 1);
      this.retired.count++;
    }
    this.op(Action.CLEAR, this.ids.entities, live.slot, 0, 0);
    this.roster.remove(id);
    this.pool.giveBack(live.slot);
  }

  dependency(consumer: number, producer: number, type: number): void {
    const [dst, src] = [this.roster.get(consumer), this.roster.get(producer)];
    const checked = u32('a type', type);
    if (!dst || !src) {
      const { view, offset } = this.event(this.ids.lateDependency);
      putU64(view, offset, consumer);
      putU64(view, offset + 8, producer);
      view.setUint32(offset + 16, checked, true);
      this.count(
        'approximated',
        'dependencies on instructions that have ended',
        'late_dependency, with the numbers of the log',
      );
      return;
    }
    const { view, offset } = this.event(this.ids.dependency);
    view.setUint32(offset, src.slot, true);
    view.setUint32(offset + 4, dst.slot, true);
    view.setUint8(offset + 8, type < DEPENDENCY_TYPES.length ? type : 0);
    if (this.shape.isKanata) view.setUint32(offset + 9, checked, true);
    this.dependencies.count++;
  }

  /** After the last record; an empty frame represents time that passed after it. */
  finish(): void {
    this.open();
    this.close();
    const open = this.report.kept('instructions in flight at the end');
    open.count += this.roster.size;
  }

  private birth(id: number): Live {
    const slot = this.pool.take();
    if (slot < 0)
      throw new UscopeError(
        'CONVERT_SOURCE',
        'the log changed while it was read: more instructions are in flight than before',
      );
    const live: Live = { slot, isDeclared: false, pc: new PcFinder() };
    this.roster.add(id, live);
    this.set(live, this.ids.entityId, slot);
    if (this.shape.isKanata) this.set(live, this.ids.logId, id);
    this.begun.count++;
    return live;
  }

  /** Some logs say something of an instruction before they introduce it: it begins there. */
  private subject(id: number): Live | null {
    const live = this.roster.get(id);
    if (live) return live;
    if (this.roster.isNew(id)) return this.birth(id);
    this.lost.count++;
    return null;
  }

  private flush(live: Live): void {
    const { view, offset } = this.event(this.ids.flush);
    view.setUint32(offset, live.slot, true);
    view.setUint8(offset + 4, FLUSH_REASON);
    this.report.approximated(
      'flushed instructions',
      `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
    ).count++;
  }

  private ofLane(event: EventShape, live: Live, lane: number, stage: string): void {
    const number = laneOf(lane);
    const string = this.strings.of(this.word.set(stage));
    const { view, offset } = this.event(event);
    view.setUint32(offset, live.slot, true);
    view.setUint16(offset + 4, number, true);
    view.setUint32(offset + 6, string, true);
  }

  private set(live: Live, field: number, value: number | bigint): void {
    this.op(Action.SET, this.ids.entities, live.slot, field, value);
  }

  private op(action: Action, storage: number, slot: number, field: number, value: number | bigint): void {
    this.room();
    if (typeof value === 'number') this.batch.op(action, storage, slot, field, value >>> 0, upperBits(value));
    else this.batch.op(action, storage, slot, field, Number(value & 0xffff_ffffn), Number(value >> 32n));
  }

  private event({ id, size }: EventShape): { view: DataView; offset: number } {
    this.room();
    return this.batch.event(id, size);
  }

  /** One more of a kind; the tally is looked up in the report once. */
  private count(fate: 'kept' | 'approximated' | 'dropped', what: string, how: string): void {
    let tally = this.tallies.get(what);
    if (!tally) {
      tally = this.report.tally(fate, what, how);
      this.tallies.set(what, tally);
    }
    tally.count++;
  }

  /** One more item, in a frame that has room for it. */
  private room(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME) this.close();
    this.open();
    this.items++;
  }

  private open(): void {
    if (this.isOpen) return;
    if (this.timePs < 0) this.timePs = 0;
    this.batch.begin(this.timePs);
    this.isOpen = true;
    this.items = 0;
  }

  private close(): void {
    if (!this.isOpen) return;
    this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
    this.items = 0;
  }
}

interface EventShape {
  readonly id: number;
  readonly size: number;
}

type PipelineIds = ReturnType<typeof idsOf>;

/** Numbers of what `pipelineSchema` has; -1 for what a log of this kind has not. */
function idsOf({ storages, events }: Schema) {
  const entities = storages.find(({ name }) => name === 'entities')!;
  const field = (name: string): number => entities.fields.findIndex((one) => one.name === name);
  const event = (name: string): EventShape => {
    const found = events.find((one) => one.name === name);
    return found ? { id: found.eventTypeId, size: packedSize(found.fields) } : { id: -1, size: 0 };
  };
  return {
    entities: entities.storageId,
    committed: storages.find(({ name }) => name === 'committed_insns')!.storageId,
    entityId: field('entity_id'),
    pc: field('pc'),
    threadId: field('thread_id'),
    gid: field('gid'),
    logId: field('log_id'),
    stageTransition: event('stage_transition'),
    annotate: event('annotate'),
    dependency: event('dependency'),
    flush: event('flush'),
    retire: event('retire'),
    laneStart: event('lane_start'),
    laneEnd: event('lane_end'),
    lateDependency: event('late_dependency'),
  };
}

function putU64(view: DataView, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    view.setBigUint64(at, value, true);
    return;
  }
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, upperBits(value), true);
}

function laneOf(lane: number): number {
  if (lane <= 0xffff) return lane;
  throw new UscopeError('CONVERT_UNSUPPORTED', `lane ${lane}; 65,535 is the highest`);
}

function u32(what: string, value: number): number {
  if (value <= 0xffff_ffff) return value;
  throw new UscopeError('CONVERT_UNSUPPORTED', `${what} of ${value}; it has to fit into 32 bits`);
}
