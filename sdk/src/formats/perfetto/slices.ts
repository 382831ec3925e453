/** The instructions of a core as slices, one per stage, and the dependencies among them as flows. */

import type { Trace } from '../../reader/index.js';
import {
  annotatedName,
  type CpuCore,
  type Dependency,
  type Instruction,
  instructions,
  withLineBreaks,
} from '../../semantics/cpu/index.js';
import type { ConversionContext } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { bitsText, pcText } from '../pipeline/code-text.js';
import { Lanes } from './lanes.js';
import type { TimeScale } from './time-scale.js';
import type { PerfettoWriter, SliceDetails } from './writer.js';

/** Instructions that wait for those that depend on them. */
const HELD = 4096;

/** Of millions, most have no flows. */
interface Slice {
  readonly stage: number;
  readonly from: number;
  readonly to: number;
  flows: number[] | undefined;
  lastFlows: number[] | undefined;
}

/** What is said of a slice that is not an instruction's first one. */
const PLAIN_DETAILS: Readonly<Record<Instruction['end'], SliceDetails>> = {
  retired: { category: 'retired' },
  squashed: { category: 'squashed' },
  in_flight: { category: 'in_flight' },
  lost: { category: 'lost' },
};

interface Held {
  readonly key: bigint;
  readonly instruction: Instruction;
  readonly slices: readonly Slice[];
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
  let n = 0;
  for await (const instruction of instructions(trace, core)) {
    slicer.take(instruction, target.toNs(trace.totalTimePs));
    if (n++ % 256 !== 0) continue;
    context.signal?.throwIfAborted();
    context.onProgress?.(Number(instruction.birthPs ?? 0n) / Math.max(Number(trace.totalTimePs), 1));
    await target.writer.drain();
  }
  slicer.finish();
  await target.writer.drain();
}

class Slicer {
  private readonly held = new Map<bigint, Held>();
  /** The same in their order, from `oldest` on. */
  private readonly queue: (Held | undefined)[] = new Array(HELD).fill(undefined);
  private oldest = 0;
  /** The youngest held instruction of each entity id: producers whose number is not known are found by it. */
  private readonly byEntity = new Map<number, Held>();
  private readonly lanes: Lanes;
  private readonly others = new Map<string, number>();
  /** Keys of instructions whose number is not known. */
  private unnumbered = 0n;
  private readonly kept: Tally;
  private readonly flows: Tally;

  constructor(
    private readonly core: CpuCore,
    private readonly target: SliceTarget,
    private readonly context: ConversionContext,
  ) {
    this.kept = context.report.kept('instructions', 'a slice per stage');
    this.flows = context.report.kept('dependencies', 'flows');
    this.lanes = new Lanes((stage) => target.track(core.stages[stage] ?? this.otherName(stage), stage));
  }

  take(instruction: Instruction, endOfTrace: number): void {
    const { report } = this.context;
    const slices = this.slicesOf(instruction, endOfTrace);
    this.kept.count++;
    if (instruction.birthPs === null)
      report.approximated('instructions born before the trace', 'from its beginning').count++;
    for (const dependency of instruction.dependencies) this.addFlow(dependency, slices);
    const key = instruction.seq ?? --this.unnumbered;
    const held = { key, instruction, slices };
    if (this.held.size === HELD) this.writeOldest();
    this.queue[(this.oldest + this.held.size) % HELD] = held;
    this.held.set(key, held);
    this.byEntity.set(instruction.id, held);
  }

  private addFlow(dependency: Dependency, slices: readonly Slice[]): void {
    const { report } = this.context;
    const producer = this.producerOf(dependency);
    const time = this.target.toNs(dependency.timePs);
    const [from, to] = [sliceAt(producer?.slices, time), sliceAt(slices, time)];
    if (!from || !to) {
      report.dropped('dependencies', this.reasonOf(dependency)).count++;
      return;
    }
    const flow = this.target.nextFlow();
    from.flows ??= [];
    from.flows.push(flow);
    to.lastFlows ??= [];
    to.lastFlows.push(flow);
    this.flows.count++;
  }

  /** By its number; in a part of a trace, where there are no numbers, the last one with its entity id. */
  private producerOf({ seq, on, pc }: Dependency): Held | undefined {
    if (seq !== null) return this.held.get(seq);
    const held = this.byEntity.get(on);
    const isOther = pc !== null && held !== undefined && held.instruction.pc !== pc;
    return isOther ? undefined : held;
  }

  private reasonOf({ seq }: Dependency): string {
    return seq === null
      ? 'the producer is not in the trace'
      : `the producer is more than ${HELD} instructions older`;
  }

  finish(): void {
    while (this.held.size > 0) this.writeOldest();
  }

  private slicesOf({ stages, birthPs, endPs, flush }: Instruction, endOfTrace: number): Slice[] {
    const { toNs } = this.target;
    const end = flush?.timePs ?? endPs;
    const last = end === null ? endOfTrace : toNs(end);
    // An instruction without stages is at least there.
    if (stages.length === 0) {
      const from = toNs(birthPs ?? 0n);
      return [sliceOf(this.otherStage('in flight'), from, Math.max(from, last))];
    }
    const slices: Slice[] = [];
    let from = toNs(stages[0].timePs);
    for (let i = 0; i < stages.length; i++) {
      const { stage, name } = stages[i];
      const next = i + 1 < stages.length ? toNs(stages[i + 1].timePs) : last;
      slices.push(sliceOf(stage >= 0 ? stage : this.otherStage(name), from, Math.max(from, next)));
      from = next;
    }
    return slices;
  }

  /** Values that are no stage get numbers after the stages. */
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
    if (!held) return;
    this.queue[this.oldest] = undefined;
    this.oldest = (this.oldest + 1) % HELD;
    const { key, instruction, slices } = held;
    this.held.delete(key);
    if (this.byEntity.get(instruction.id) === held) this.byEntity.delete(instruction.id);
    const name = nameOf(instruction, this.core);
    const category = instruction.end;
    const plain = PLAIN_DETAILS[category];
    for (let i = 0; i < slices.length; i++) {
      const { stage, from, to, flows, lastFlows } = slices[i];
      const track = this.lanes.take(stage, from, to);
      const args = i === 0 ? detailsOf(instruction, this.core) : undefined;
      const details = args || flows || lastFlows ? { category, args, flows, lastFlows } : plain;
      this.target.writer.begin(track, from, name, details);
      this.target.writer.end(track, to);
    }
  }
}

const sliceOf = (stage: number, from: number, to: number): Slice => {
  return { stage, from, to, flows: undefined, lastFlows: undefined };
};

/** The slice in which an instruction is at a time; the last one before it ends up there too. */
function sliceAt(slices: readonly Slice[] | undefined, time: number): Slice | undefined {
  return slices?.findLast(({ from }) => from <= time) ?? slices?.[0];
}

function nameOf({ bits, pc, annotations, id }: Instruction, core: CpuCore): string {
  if (bits !== null && bits !== 0) return bitsText(bits, pc, core.xlen);
  const text = annotatedName(annotations);
  if (text) return text;
  return pc === null ? `#${id}` : pcText(pc, core.xlen);
}

function detailsOf(instruction: Instruction, core: CpuCore): NonNullable<SliceDetails['args']> {
  const { pc, seq, id, thread, end, flush, trap, annotations, stalls } = instruction;
  const details: Record<string, string | number> = {};
  if (pc !== null) details.pc = `0x${pcText(pc, core.xlen)}`;
  if (seq !== null) details.seq = Number(seq);
  details.entity_id = id;
  if (thread !== null) details.thread = thread;
  details.end = end;
  if (flush?.reason) details.flush = flush.reason;
  if (trap?.cause != null) details.trap = `cause 0x${trap.cause.toString(16)}`;
  if (annotations.length > 0 || stalls.length > 0) {
    const notes = [...remarks(annotations), ...stalls.map(({ reason }) => `stall: ${reason}`)];
    if (notes.length > 0) details.notes = notes.join('\n');
  }
  return details;
}

/** All annotations, but for those whose kind says that they are the name. */
function remarks(annotations: Instruction['annotations']): string[] {
  return annotations.flatMap(({ text, kind }) =>
    kind === null ? [text] : kind === 0 ? [] : [withLineBreaks(text)],
  );
}
