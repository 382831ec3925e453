/** Writes what a Kanata log says of its instructions as a µScope trace, in order of time. */
import { SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import { createCpuSummarizer } from '../../semantics/cpu/index.js';
import { type TraceOutput, type WaitingRecords, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { upperBits } from '../../writer/records/field-plan.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport } from '../common/report.js';
import { TextBytes } from '../text/text-bytes.js';
import { CoreRecords, type PipelineIds } from './core-records.js';
import { above32Bits, begunTwice, highLane, noLabelKind } from './errors.js';
import { type EventShape, PipelineFrames } from './frames.js';
import { PcFinder } from './pc.js';
import { RetireType } from './retire-type.js';
import { Roster } from './roster.js';
import { DEPENDENCY_TYPES, type PipelineShape, pipelineSchema } from './shape.js';
import { SinkTallies } from './sink-tallies.js';

interface Live {
  readonly slot: number;
  /** Its `I` has been seen; others were met in another command first. */
  isDeclared: boolean;
  readonly pc: PcFinder;
}

/** A trace of the shape, filled by `fill`. @throws UscopeError WRITER_*, SCHEMA_*, and what `fill` throws; then nothing is kept */
export async function writePipeline(
  shape: PipelineShape,
  target: TraceTarget,
  context: ConversionContext,
  fill: (frames: PipelineFrames, schema: Schema) => Promise<void>,
): Promise<TraceStats> {
  const batch = new RecordBatch();
  return writePipelineRecords(shape, target, context, batch, async (output, schema) => {
    const frames = new PipelineFrames(batch, output);
    await fill(frames, schema);
    frames.finish();
  });
}

/** The same from records that `fill` makes in another way, and pushes now and then. @throws UscopeError as `writePipeline` */
export async function writePipelineRecords(
  shape: PipelineShape,
  target: TraceTarget,
  { signal }: ConversionContext,
  records: WaitingRecords,
  fill: (output: TraceOutput, schema: Schema) => Promise<void>,
): Promise<TraceStats> {
  const { schema, dut } = pipelineSchema(shape);
  const options = { ...target, schema, dut, summarizer: createCpuSummarizer, index: createSegmentIndexer };
  return withOutput(options, records, signal, async (output) => {
    await fill(output, schema);
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
}

export class PipelineSink {
  private readonly roster = new Roster<Live>();
  private readonly tallies: SinkTallies;
  private readonly core: CoreRecords;
  private readonly word = new TextBytes();
  private readonly stageIndex: ReadonlyMap<string, number>;
  private readonly ids: PipelineIds;

  constructor(
    schema: Schema,
    private readonly frames: PipelineFrames,
    shape: PipelineShape,
    report: ConversionReport,
  ) {
    this.core = new CoreRecords(schema, shape.cores[0], shape.slots, frames);
    this.ids = this.core.ids;
    this.stageIndex = new Map(shape.stages.map((name, index) => [name, index]));
    this.tallies = new SinkTallies(report);
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.frames.isFull;
  }

  push(): Promise<void> {
    return this.frames.push();
  }

  /** Time advances to `timePs`. */
  moveTo(timePs: number | bigint): void {
    this.frames.moveTo(timePs);
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    const known = this.roster.get(id);
    if (known?.isDeclared) throw begunTwice(id);
    const live = known ?? this.birth(id);
    live.isDeclared = true;
    this.core.set(live.slot, this.ids.gid, gid);
    this.core.set(live.slot, this.ids.threadId, u32('a thread', tid));
  }

  label(id: number, kind: number, text: TextBytes): void {
    const live = this.subject(id);
    if (!live) return;
    if (kind > 255) throw noLabelKind(kind);
    const string = this.frames.strings.of(text);
    const { view, offset } = this.frames.event(this.ids.annotate);
    view.setUint32(offset, live.slot, true);
    view.setUint32(offset + 4, string, true);
    view.setUint8(offset + 8, kind);
    if (kind === 0) {
      const pc = live.pc.take(text);
      if (pc !== null) this.core.set(live.slot, this.ids.pc, pc);
    }
    this.tallies.labels(kind).count++;
  }

  start(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    if (lane === 0) {
      this.core.stage(live.slot, this.stageIndex.get(stage) ?? 0);
      this.tallies.stages.count++;
      return;
    }
    this.ofLane(this.ids.laneStart, live, lane, stage);
    this.tallies.laneStarts.count++;
  }

  end(id: number, lane: number, stage: string): void {
    const live = this.subject(id);
    if (!live) return;
    this.ofLane(this.ids.laneEnd, live, lane, stage);
    this.tallies.laneEnds.count++;
  }

  retire(id: number, rid: number | bigint, type: number): void {
    const live = this.subject(id);
    if (!live) return;
    const checked = u32('a type', type);
    const { view, offset } = this.frames.event(this.ids.retire);
    view.setUint32(offset, live.slot, true);
    putU64(view, offset + 4, rid);
    view.setUint32(offset + 12, checked, true);
    if (type === RetireType.FLUSHED) {
      this.core.flush(live.slot);
      this.tallies.flushed.count++;
    } else {
      this.core.commit();
      this.tallies.retired.count++;
    }
    this.core.clear(live.slot);
    this.roster.remove(id);
  }

  dependency(consumer: number, producer: number, type: number): void {
    const [dst, src] = [this.roster.get(consumer), this.roster.get(producer)];
    const checked = u32('a type', type);
    if (!dst || !src) {
      const { view, offset } = this.frames.event(this.ids.lateDependency);
      putU64(view, offset, consumer);
      putU64(view, offset + 8, producer);
      view.setUint32(offset + 16, checked, true);
      this.tallies.lateDependencies.count++;
      return;
    }
    const { view, offset } = this.frames.event(this.ids.dependency);
    view.setUint32(offset, src.slot, true);
    view.setUint32(offset + 4, dst.slot, true);
    view.setUint8(offset + 8, type < DEPENDENCY_TYPES.length ? type : 0);
    view.setUint32(offset + 9, checked, true);
    this.tallies.dependencies.count++;
  }

  /** After the last record. */
  finish(): void {
    this.tallies.inFlight.count += this.roster.size;
  }

  private birth(id: number): Live {
    const slot = this.core.birth();
    const live: Live = { slot, isDeclared: false, pc: new PcFinder() };
    this.roster.add(id, live);
    this.core.set(slot, this.ids.logId, id);
    this.tallies.begun.count++;
    return live;
  }

  /** Some logs say something of an instruction before they introduce it: it begins there. */
  private subject(id: number): Live | null {
    const live = this.roster.get(id);
    if (live) return live;
    if (this.roster.isNew(id)) return this.birth(id);
    this.tallies.lost.count++;
    return null;
  }

  private ofLane(event: EventShape, live: Live, lane: number, stage: string): void {
    const number = laneOf(lane);
    const string = this.frames.strings.of(this.word.set(stage));
    const { view, offset } = this.frames.event(event);
    view.setUint32(offset, live.slot, true);
    view.setUint16(offset + 4, number, true);
    view.setUint32(offset + 6, string, true);
  }
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
  throw highLane(lane);
}

function u32(what: string, value: number): number {
  if (value <= 0xffff_ffff) return value;
  throw above32Bits(what, value);
}
