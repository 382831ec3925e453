/** The instructions of a core as slices, one per stage, and the dependencies among them as flows. */
import type { Trace } from '../../reader/index.js';
import {
  type InstructionBlock,
  psOf,
  stageCount,
  stageOf,
  stagesBegin,
  stageValueOf,
  stayTicks,
} from '../../semantics/blocks/block.js';
import { instructionBlocks } from '../../semantics/blocks/instruction-blocks.js';
import { labelOf } from '../../semantics/cpu/cores.js';
import {
  annotatedName,
  type CpuCore,
  type Dependency,
  type Instruction,
  NO_STAGE,
  withLineBreaks,
} from '../../semantics/cpu/index.js';
import { InstructionsOfBlock } from '../../semantics/instructions/from-block.js';
import type { ConversionContext } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { bitsText, pcText } from '../pipeline/core-fields.js';
import { Roster } from '../pipeline/roster.js';
import type { TimeScale } from './time-scale.js';
import type { PerfettoWriter, SliceDetails } from './writer.js';

/** Instructions that wait for those that depend on them. */
const HELD = 4096;
/** Those, and the one that comes. */
const PLACES = HELD + 1;

/** The key of an instruction whose number is not known. */
const UNNUMBERED = -1;

/** Numbers of a slice in `Held.slices`: stage, begin and end in ns. */
const SLICE = 3;

/** What is said of a slice that is not an instruction's first one. */
const PLAIN_DETAILS: Readonly<Record<Instruction['end'], SliceDetails>> = {
  retired: { category: 'retired' },
  squashed: { category: 'squashed' },
  in_flight: { category: 'in_flight' },
  unknown: { category: 'unknown' },
  lost: { category: 'lost' },
};

/** An end of a flow: of millions of slices, most have none. */
interface FlowEnd {
  /** Number of the slice of its instruction. */
  readonly slice: number;
  readonly flow: number;
  readonly isLast: boolean;
}

/**
 * What is written of an instruction. Thousands are held, and each object is used for one instruction after the other: new ones would live just long
 * enough for the garbage collector to copy them again and again.
 */
class Held {
  /** Its number; -1: it is not known. */
  key = UNNUMBERED;
  /** Entity id. */
  id = 0;
  pc: bigint | null = null;
  thread: number | null = null;
  name = '';
  end: Instruction['end'] = 'lost';
  /** Other details of the first slice; null: none. */
  more: Readonly<Record<string, string>> | null = null;
  /** The first `length` numbers, one slice after the other: an object for each would be most of the work. */
  readonly slices: number[] = [];
  length = 0;
  readonly flows: FlowEnd[] = [];

  add(stage: number, begin: number, end: number): void {
    const { slices, length } = this;
    slices[length] = stage;
    slices[length + 1] = begin;
    slices[length + 2] = end;
    this.length = length + SLICE;
  }
}

export interface SliceTarget {
  readonly writer: PerfettoWriter;
  readonly toNs: TimeScale;
  /** A new track of the core: its uuid. */
  track(name: string, rank: number): number;
  /** A number for a flow. */
  nextFlow(): number;
}

export async function writeSlices(
  trace: Trace,
  core: CpuCore,
  target: SliceTarget,
  context: ConversionContext,
): Promise<void> {
  const slicer = new Slicer(core, target, context);
  const { signal, onProgress } = context;
  const endOfTrace = target.toNs(trace.totalTimePs);
  for await (const block of instructionBlocks(trace, core, {}, { signal })) {
    const rows = new InstructionsOfBlock(trace, core, block);
    await rows.load();
    onProgress?.(Math.min(1, block.segment / Math.max(1, trace.segmentCount)));
    const stages = new StageTimes(block, core, target.toNs);
    for (let row = 0; row < block.count; row++) {
      slicer.take(rows.at(row, NO_STAGES), stages, row, endOfTrace);
      if (!target.writer.isFull) continue;
      signal?.throwIfAborted();
      await target.writer.drain();
    }
  }
  slicer.finish();
  await target.writer.drain();
}

/** Instructions whose stages are read from their block. */
const NO_STAGES: Instruction['stages'] = [];

/** When the rows of a block enter their stages. */
class StageTimes {
  private readonly basePs: number;

  constructor(
    private readonly block: InstructionBlock,
    private readonly core: CpuCore,
    private readonly toNs: TimeScale,
  ) {
    this.basePs = Number(block.basePs);
  }

  count(row: number): number {
    return stageCount(this.block, row);
  }

  /** Ticks at which the first of them counts. */
  begin(row: number): number {
    return stagesBegin(this.block, row);
  }

  /** Ticks from the stage before. */
  ticks(row: number, i: number): number {
    return stayTicks(this.block, this.block.stageStart[row] + i);
  }

  /** Index into the core's stages; -1: it is none of them. */
  stage(row: number, i: number): number {
    return stageOf(this.block, row, i);
  }

  /** What the trace calls the value that is not a stage. */
  otherName(row: number, i: number): string {
    const labels = this.core.events.get('stage_transition')?.fields.get('stage')?.labels ?? null;
    return labelOf(labels, stageValueOf(this.block, row, i));
  }

  /** In ns. */
  time(tick: number): number {
    const ps = this.basePs + tick * this.block.tickPs;
    return this.toNs(Number.isSafeInteger(ps) ? ps : psOf(this.block, tick));
  }
}

class Slicer {
  /** Those whose numbers are known. */
  private readonly byNumber = new Roster<Held>(2 * HELD);
  /** All in their order, from `oldest` on. */
  private readonly queue = Array.from({ length: PLACES }, () => new Held());
  private oldest = 0;
  private count = 0;
  /** The youngest held instruction of each entity id: producers whose number is not known are found by it. */
  private readonly byEntity = new Roster<Held>(2 * HELD);
  private readonly lanes: Lanes;
  private readonly others = new Map<string, number>();
  private readonly kept: Tally;
  private readonly flows: Tally;
  private readonly bornBefore: Tally;

  constructor(
    private readonly core: CpuCore,
    private readonly target: SliceTarget,
    private readonly context: ConversionContext,
  ) {
    this.kept = context.report.kept('instructions', 'a slice per stage');
    this.flows = context.report.kept('dependencies', 'flows');
    this.bornBefore = context.report.approximated('instructions born before the trace', 'from its beginning');
    this.lanes = new Lanes((stage) => target.track(core.stages[stage] ?? this.otherName(stage), stage));
  }

  /** @param row of the instruction, whose stages are those of `stages` */
  take(instruction: Instruction, stages: StageTimes, row: number, endOfTrace: number): void {
    const held = this.queue[(this.oldest + this.count) % PLACES];
    this.slicesOf(held, instruction, stages, row, endOfTrace);
    this.kept.count++;
    if (instruction.birthPs === null) this.bornBefore.count++;
    const { seq, id } = instruction;
    const key = seq === null ? UNNUMBERED : Number(seq);
    held.key = key;
    held.id = id;
    held.pc = instruction.pc;
    held.thread = instruction.thread;
    held.end = instruction.end;
    held.name = nameOf(instruction, this.core);
    held.more = moreOf(instruction);
    if (held.flows.length > 0) held.flows.length = 0;
    for (const dependency of instruction.dependencies) this.addFlow(dependency, held);
    if (this.count === HELD) this.writeOldest();
    this.count++;
    if (key !== UNNUMBERED) this.byNumber.add(key, held);
    this.byEntity.remove(id);
    this.byEntity.add(id, held);
  }

  private addFlow(dependency: Dependency, consumer: Held): void {
    const producer = this.producerOf(dependency);
    if (!producer) {
      this.context.report.dropped('dependencies', this.reasonOf(dependency)).count++;
      return;
    }
    const time = this.target.toNs(dependency.timePs);
    const flow = this.target.nextFlow();
    producer.flows.push({ slice: sliceAt(producer, time), flow, isLast: false });
    consumer.flows.push({ slice: sliceAt(consumer, time), flow, isLast: true });
    this.flows.count++;
  }

  /** By its number; in a part of a trace, where there are no numbers, the last one with its entity id. */
  private producerOf({ seq, on, pc }: Dependency): Held | undefined {
    if (seq !== null) return this.byNumber.get(Number(seq));
    const held = this.byEntity.get(on);
    const isOther = pc !== null && held !== undefined && held.pc !== pc;
    return isOther ? undefined : held;
  }

  private reasonOf({ seq }: Dependency): string {
    return seq === null
      ? 'the producer is not in the trace'
      : `the producer is more than ${HELD} instructions older`;
  }

  finish(): void {
    while (this.count > 0) this.writeOldest();
  }

  private slicesOf(
    held: Held,
    { birthPs, endPs, flush }: Instruction,
    stages: StageTimes,
    row: number,
    endOfTrace: number,
  ): void {
    held.length = 0;
    const { toNs } = this.target;
    const end = flush?.timePs ?? endPs;
    const last = end === null ? endOfTrace : toNs(end);
    const count = stages.count(row);
    // An instruction without stages is at least there.
    if (count === 0) {
      const from = toNs(birthPs ?? 0n);
      held.add(this.otherStage('in flight'), from, Math.max(from, last));
      return;
    }
    let tick = stages.begin(row) + stages.ticks(row, 0);
    let from = stages.time(tick);
    for (let i = 0; i < count; i++) {
      if (i + 1 < count) tick += stages.ticks(row, i + 1);
      const next = i + 1 < count ? stages.time(tick) : last;
      const stage = stages.stage(row, i);
      if (stage !== NO_STAGE)
        held.add(stage >= 0 ? stage : this.otherStage(stages.otherName(row, i)), from, Math.max(from, next));
      from = next;
    }
  }

  /** Values that are not a stage get numbers after the stages. */
  private otherStage(name: string): number {
    const known = this.others.get(name) ?? this.core.stages.length + this.others.size;
    this.others.set(name, known);
    return known;
  }

  private otherName(stage: number): string {
    return [...this.others].find(([, number]) => number === stage)?.[0] ?? String(stage);
  }

  private writeOldest(): void {
    const held = this.queue[this.oldest];
    this.oldest = (this.oldest + 1) % PLACES;
    this.count--;
    const { key, id, name, slices, length, flows, end: category } = held;
    if (key !== UNNUMBERED) this.byNumber.remove(key);
    if (this.byEntity.get(id) === held) this.byEntity.remove(id);
    const { writer } = this.target;
    for (let at = 0; at < length; at += SLICE) {
      const track = this.lanes.take(slices[at], slices[at + 1], slices[at + 2]);
      const args = at === 0 ? detailsOf(held, this.core) : undefined;
      const ends = flows.length === 0 ? null : flowsOf(flows, at / SLICE);
      const details = args || ends ? { category, args, ...ends } : PLAIN_DETAILS[category];
      writer.begin(track, slices[at + 1], name, details);
      writer.end(track, slices[at + 2]);
    }
  }
}

/** Number of the slice in which an instruction is at a time; the last one before it ends up there too. */
function sliceAt({ slices, length }: Held, time: number): number {
  let slice = length / SLICE - 1;
  while (slice > 0 && slices[slice * SLICE + 1] > time) slice--;
  return slice;
}

/** Null: none of them ends in this slice. */
function flowsOf(all: readonly FlowEnd[], slice: number): Pick<SliceDetails, 'flows' | 'lastFlows'> | null {
  const flows: number[] = [];
  const lastFlows: number[] = [];
  for (const end of all) if (end.slice === slice) (end.isLast ? lastFlows : flows).push(end.flow);
  return flows.length + lastFlows.length === 0 ? null : { flows, lastFlows };
}

function nameOf({ bits, pc, annotations, id }: Instruction, core: CpuCore): string {
  if (bits !== null && bits !== 0) return bitsText(bits, pc, core.xlen);
  const text = annotatedName(annotations);
  if (text) return text;
  return pc === null ? `#${id}` : pcText(pc, core.xlen);
}

function detailsOf(
  { key, id, pc, thread, end, more }: Held,
  core: CpuCore,
): NonNullable<SliceDetails['args']> {
  const details: Record<string, string | number> = {};
  if (pc !== null) details.pc = `0x${pcText(pc, core.xlen)}`;
  if (key !== UNNUMBERED) details.seq = key;
  details.entity_id = id;
  if (thread !== null) details.thread = thread;
  details.end = end;
  return more ? Object.assign(details, more) : details;
}

/** What few instructions have. */
function moreOf({ flush, trap, annotations, stalls }: Instruction): Held['more'] {
  const more: Record<string, string> = {};
  if (flush?.reason) more.flush = flush.reason;
  if (trap?.cause != null) more.trap = `cause 0x${trap.cause.toString(16)}`;
  const notes = remarks(annotations);
  for (const { reason } of stalls) notes.push(`stall: ${reason}`);
  if (notes.length > 0) more.notes = notes.join('\n');
  for (const _ in more) return more;
  return null;
}

/** All annotations, but for those whose kind says that they are the name. */
function remarks(annotations: Instruction['annotations']): string[] {
  const all: string[] = [];
  for (const { text, kind } of annotations) {
    if (kind === null) all.push(text);
    else if (kind !== 0) all.push(withLineBreaks(text));
  }
  return all;
}

/** Slices of one track may not overlap, instructions in one stage do: a stage has as many tracks as it holds instructions at a time. */
export class Lanes {
  private readonly stages: { readonly tracks: number[]; readonly busyUntil: number[] }[] = [];

  /** @param open makes a track for a stage */
  constructor(private readonly open: (stage: number) => number) {}

  /** Uuid of a track of the stage on which nothing lies behind `from`. */
  take(stage: number, from: number, to: number): number {
    this.stages[stage] ??= { tracks: [], busyUntil: [] };
    const { tracks, busyUntil } = this.stages[stage];
    let lane = 0;
    while (lane < busyUntil.length && busyUntil[lane] > from) lane++;
    if (lane === tracks.length) tracks.push(this.open(stage));
    busyUntil[lane] = to;
    return tracks[lane] ?? 0;
  }
}
