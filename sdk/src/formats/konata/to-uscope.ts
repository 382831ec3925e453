/** Kanata to µScope: two passes, the first for what the schema has to know. */

import type { Schema } from '../../format/types.js';
import type { TraceStats } from '../../writer/index.js';
import { DEPENDENCY_TYPES } from '../common/cpu-scope.js';
import { untilCut } from '../common/cut.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { checkpointIntervalFor, type EventShape } from '../common/trace-frames.js';
import { CoreRecords, MAX_IN_FLIGHT, tooManyInFlight } from '../pipeline/core-records.js';
import { type PipelineFrames, putU64, writePipeline } from '../pipeline/frames.js';
import { PcFinder } from '../pipeline/pc.js';
import { Roster } from '../pipeline/roster.js';
import {
  coreOption,
  KANATA,
  LOG_FORMAT,
  MAX_STAGES,
  type PipelineShape,
  periodOption,
  UNKNOWN_FLUSH,
} from '../pipeline/shape.js';
import { TextBytes } from '../text/columns.js';
import type { KanataVisitor } from './line.js';
import { KanataClock, type KanataReader, type KanataSummary, RetireType } from './reader.js';

/** DUT property: the log's cycle at time 0, where that is not cycle 0. */
export const CYCLE_AT_ZERO = 'kanata.cycle_at_zero';

/** @throws UscopeError CONVERT_*, WRITER_* */
export async function kanataToUscope(
  reader: KanataReader,
  summary: KanataSummary,
  target: TraceTarget,
  context: ConversionContext,
): Promise<TraceStats> {
  const shape = shapeOf(summary, context.options);
  const checkpointIntervalPs = target.checkpointIntervalPs ?? intervalOf(summary, shape);
  return writePipeline(shape, { ...target, checkpointIntervalPs }, context, async (frames, schema) => {
    const copy = new Copy(schema, frames, shape, zeroOf(summary), context.report);
    await visit(reader, copy, frames, context);
    copy.finish();
    reader.unknown.check(reader.understood, context.options);
    reader.unknown.tell(context);
  });
}

/** All that the log holds before it was cut, if it was. */
async function visit(
  reader: KanataReader,
  copy: Copy,
  frames: PipelineFrames,
  { signal, onWarning }: ConversionContext,
): Promise<void> {
  const cut = await untilCut(async () => {
    for await (const _ of reader.visit(copy)) {
      signal?.throwIfAborted();
      if (frames.isFull) await frames.push();
    }
  });
  if (cut) onWarning?.(cut.message);
}

function shapeOf(summary: KanataSummary, options: ReadonlyMap<string, string>): PipelineShape {
  const { stages, otherLanes, counts, maxInFlight, threads } = summary;
  const zero = zeroOf(summary);
  const others = [...otherLanes].flatMap(([lane, names]) => names.map((name) => laneStage(name, lane)));
  return {
    stages,
    // Without room for their names they are in no picture; they are in the trace all the same.
    laneStages: stages.length + others.length < MAX_STAGES ? others : [],
    endsStages: counts.end > 0 && stages.length + others.length > 0,
    slots: Math.min(maxInFlight, MAX_IN_FLIGHT),
    maxThread: threads.at(-1) ?? 0,
    periodPs: periodOption(options),
    cores: [coreOption(options)],
    isKanata: true,
    dut: [[LOG_FORMAT, KANATA], ...(zero === 0 ? [] : [[CYCLE_AT_ZERO, String(zero)] as const])],
  };
}

/** What a stage of a lane other than 0 is called among the stages of the core. */
const laneStage = (stage: string, lane: number): string => `${stage}.${lane}`;

function intervalOf({ counts, firstCycle, lastCycle }: KanataSummary, { periodPs }: PipelineShape): bigint {
  const { begin, label, stage, dependency } = counts;
  const items = begin + label + stage + dependency;
  return checkpointIntervalFor(BigInt(lastCycle - (firstCycle ?? lastCycle)) * BigInt(periodPs), items);
}

/** Cycles before 0 are moved: times begin at 0. */
const zeroOf = ({ firstCycle }: KanataSummary): number => Math.min(firstCycle ?? 0, 0);

interface LaneStage {
  readonly lane: number;
  readonly stage: string;
  isShown: boolean;
}

const NO_LANES: readonly LaneStage[] = [];

/** An instruction in flight. */
class Live {
  /** Its `I` has been seen; others were met in another command first. */
  isDeclared = false;
  /** It has left its slot. */
  isOver = false;
  readonly pc = new PcFinder();
  /** In lane 0; '': none. */
  stage = '';
  /** In the other lanes, by their numbers. */
  others: readonly LaneStage[] = NO_LANES;
  /** Value of the stage that the trace has it in. */
  shown: number;

  constructor(
    readonly id: number,
    readonly slot: number,
    /** Entity id. */
    readonly entity: number,
    nowhere: number,
  ) {
    this.shown = nowhere;
  }
}

/** Commands of the log into the trace, each at its time. */
class Copy implements KanataVisitor {
  private readonly clock = new KanataClock();
  private readonly roster = new Roster<Live>();
  private readonly tallies: Tallies;
  private readonly core: CoreRecords;
  private readonly word = new TextBytes();
  private readonly stageIndex: ReadonlyMap<string, number>;
  /** Value of a stage transition to no stage. */
  private readonly nowhere: number;
  /** By slot: how many have had it that the log does not end. */
  private readonly turns: Uint16Array;
  /** Where a log has more in flight than a trace follows: all, in order of birth, from `oldest` on. */
  private readonly queue: Live[] = [];
  private oldest = 0;
  /** Those that may look otherwise since the last time. */
  private readonly changed: Live[] = [];
  private timePs: number | bigint = 0;

  constructor(
    schema: Schema,
    private readonly frames: PipelineFrames,
    private readonly shape: PipelineShape,
    /** Cycle at time 0. */
    private readonly zero: number,
    report: ConversionReport,
  ) {
    const stages = [...shape.stages, ...(shape.laneStages ?? [])];
    this.core = new CoreRecords(schema, shape.cores[0], shape.slots, frames);
    this.stageIndex = new Map(stages.map((name, index) => [name, index]));
    this.nowhere = stages.length;
    this.turns = new Uint16Array(shape.slots);
    this.tallies = new Tallies(report);
  }

  get isFull(): boolean {
    return this.frames.isFull;
  }

  cycle(cycle: number | bigint): boolean {
    const isTaken = this.clock.set(cycle);
    this.move();
    return isTaken;
  }

  advance(cycles: number | bigint): void {
    this.clock.advance(cycles);
    this.move();
  }

  begin(id: number, gid: number | bigint, tid: number): boolean {
    this.arrive();
    const known = this.roster.get(id);
    if (known?.isDeclared) return false;
    const live = known ?? this.birth(id);
    live.isDeclared = true;
    this.core.set(live.slot, this.core.ids.gid, gid);
    this.core.set(live.slot, this.core.ids.threadId, tid);
    return true;
  }

  label(id: number, kind: number, text: TextBytes): void {
    const live = this.subject(id);
    if (!live) return;
    const string = this.frames.strings.of(text);
    const { view, offset } = this.frames.event(this.core.ids.annotate);
    view.setUint32(offset, live.entity, true);
    view.setUint32(offset + 4, string, true);
    view.setUint8(offset + 8, kind);
    if (kind === 0) {
      const pc = live.pc.take(text);
      if (pc !== null) this.core.set(live.slot, this.core.ids.pc, pc);
    }
    this.tallies.labels(kind).count++;
  }

  start(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane === 0) {
      this.show(live, this.stageIndex.get(stage) ?? 0);
      live.stage = stage;
      this.tallies.stages.count++;
      return;
    }
    this.leaveLane(live, lane, null);
    live.others = [...live.others, { lane, stage, isShown: false }].sort((a, b) => a.lane - b.lane);
    this.changed.push(live);
    this.ofLane(this.core.ids.laneStart, live, lane, stage);
    this.tallies.laneStarts.count++;
  }

  end(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane > 0) this.leaveLane(live, lane, stage);
    else if (live.stage === stage) live.stage = '';
    this.changed.push(live);
    this.ofLane(this.core.ids.laneEnd, live, lane, stage);
    this.tallies.laneEnds.count++;
  }

  retire(id: number, rid: number | bigint, type: number): void {
    const live = this.subject(id);
    if (!live) return;
    const { view, offset } = this.frames.event(this.core.ids.retire);
    view.setUint32(offset, live.entity, true);
    putU64(view, offset + 4, rid);
    view.setUint32(offset + 12, type, true);
    if (type === RetireType.FLUSHED) {
      this.core.flush(live.entity);
      this.tallies.flushed.count++;
    } else {
      this.core.commit();
      this.tallies.retired.count++;
    }
    this.leave(live);
    this.core.clear(live.slot);
  }

  dependency(consumer: number, producer: number, type: number): void {
    this.arrive();
    const [dst, src] = [this.roster.get(consumer), this.roster.get(producer)];
    if (!dst || !src) {
      const { view, offset } = this.frames.event(this.core.ids.lateDependency);
      putU64(view, offset, consumer);
      putU64(view, offset + 8, producer);
      view.setUint32(offset + 16, type, true);
      this.tallies.lateDependencies.count++;
      return;
    }
    const { view, offset } = this.frames.event(this.core.ids.dependency);
    view.setUint32(offset, src.entity, true);
    view.setUint32(offset + 4, dst.entity, true);
    view.setUint8(offset + 8, type < DEPENDENCY_TYPES.length ? type : 0);
    view.setUint32(offset + 9, type, true);
    this.tallies.dependencies.count++;
  }

  /** After the last command. */
  finish(): void {
    this.settle();
    this.tallies.inFlight.count += this.roster.size;
  }

  /** Before time moves on: an instruction that has left its stage for none, or shows that of another lane now, is known by then. */
  private settle(): void {
    const { changed } = this;
    if (changed.length === 0) return;
    for (let at = 0; at < changed.length; at++) {
      const live = changed[at];
      if (live.isOver) continue;
      const value = this.valueOf(live);
      if (value !== live.shown) this.show(live, value);
    }
    changed.length = 0;
  }

  /** The stage of the lowest lane that has one. */
  private valueOf({ stage, others }: Live): number {
    if (stage !== '') return this.stageIndex.get(stage) ?? 0;
    for (const other of others) {
      const value = this.stageIndex.get(laneStage(other.stage, other.lane));
      if (value === undefined) continue;
      other.isShown = true;
      return value;
    }
    return this.nowhere;
  }

  private show(live: Live, value: number): void {
    live.shown = value;
    this.core.stage(live.entity, value);
  }

  /** @param stage null: whichever it is */
  private leaveLane(live: Live, lane: number, stage: string | null): void {
    const left = live.others.find(
      (other) => other.lane === lane && (stage === null || other.stage === stage),
    );
    if (!left) return;
    if (!left.isShown) this.tallies.covered.count++;
    live.others = live.others.filter((other) => other !== left);
  }

  private arrive(): void {
    if (this.clock.first !== null) return;
    this.clock.begin();
    this.move();
  }

  private move(): void {
    if (this.clock.first === null) return;
    const timePs = this.clock.timePs(this.zero, this.shape.periodPs);
    if (timePs === this.timePs) return;
    this.settle();
    this.timePs = timePs;
    this.frames.moveTo(timePs);
  }

  private birth(id: number): Live {
    const slot = this.core.freeSlot() ?? this.takeOldest();
    const live = new Live(id, slot, slot + (MAX_IN_FLIGHT + 1) * this.turns[slot], this.nowhere);
    this.roster.add(id, live);
    if (this.shape.slots === MAX_IN_FLIGHT) this.queue.push(live);
    this.core.set(slot, this.core.ids.entityId, live.entity);
    this.core.set(slot, this.core.ids.logId, id);
    this.tallies.begun.count++;
    return live;
  }

  /** The slot of the oldest one in flight: the trace cannot follow more, and the log does not end it. */
  private takeOldest(): number {
    while (this.queue[this.oldest]?.isOver) this.oldest++;
    const live = this.queue[this.oldest++];
    if (!live) throw tooManyInFlight(this.shape.slots);
    if (this.oldest > MAX_IN_FLIGHT) this.queue.splice(0, this.oldest);
    if (this.oldest > MAX_IN_FLIGHT) this.oldest = 0;
    this.leave(live);
    this.turns[live.slot]++;
    this.tallies.lostFlights.count++;
    return live.slot;
  }

  private leave(live: Live): void {
    live.isOver = true;
    for (const { isShown } of live.others) if (!isShown) this.tallies.covered.count++;
    this.roster.remove(live.id);
  }

  /** Some logs say something of an instruction before they introduce it: it begins there. */
  private subject(id: number): Live | null {
    this.arrive();
    const live = this.roster.get(id);
    if (live) return live;
    if (this.roster.isNew(id)) return this.birth(id);
    this.tallies.lost.count++;
    return null;
  }

  private ofLane(event: EventShape, live: Live, lane: number, stage: string): void {
    const string = this.frames.strings.of(this.word.set(stage));
    const { view, offset } = this.frames.event(event);
    view.setUint32(offset, live.entity, true);
    view.setUint16(offset + 4, lane, true);
    view.setUint32(offset + 6, string, true);
  }
}

/** What the report says. Kinds that not every log has come in the order in which they first occur. */
class Tallies {
  readonly begun: Tally;
  readonly stages: Tally;
  readonly retired: Tally;
  readonly flushed: Tally;
  readonly dependencies: Tally;
  readonly lost: Tally;
  private readonly byKind: (Tally | undefined)[] = [];
  private starts: Tally | undefined;
  private ends: Tally | undefined;

  constructor(private readonly report: ConversionReport) {
    this.begun = report.kept('instructions');
    this.stages = report.kept('stages', 'stage_transition');
    this.retired = report.kept('retired instructions', 'CLEAR and committed_insns');
    this.flushed = report.approximated(
      'flushed instructions',
      `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
    );
    this.dependencies = report.kept('dependencies', 'dependency');
    this.lost = report.dropped(
      'records about instructions that have ended or never began',
      'nothing they could be said of',
    );
  }

  labels(kind: number): Tally {
    this.byKind[kind] ??= this.report.kept(`labels of kind ${kind}`, 'annotate');
    return this.byKind[kind];
  }

  get laneStarts(): Tally {
    this.starts ??= this.report.kept(
      'stages of other lanes',
      'lane_start; a stage NAME.LANE where no lower lane has one',
    );
    return this.starts;
  }

  get covered(): Tally {
    return this.report.approximated(
      'stages of other lanes under those of lower lanes',
      'lane_start and lane_end: they are in no picture and no table',
    );
  }

  get laneEnds(): Tally {
    this.ends ??= this.report.kept('explicit ends of stages', 'lane_end');
    return this.ends;
  }

  get lateDependencies(): Tally {
    return this.report.approximated(
      'dependencies on instructions that have ended',
      'late_dependency, with the numbers of the log',
    );
  }

  get lostFlights(): Tally {
    return this.report.approximated(
      `instructions that the log had not ended when more than ${MAX_IN_FLIGHT} were in flight`,
      'lost: their slot was given to another one',
    );
  }

  /** Those at the end of the log. */
  get inFlight(): Tally {
    return this.report.kept('instructions in flight at the end');
  }
}
