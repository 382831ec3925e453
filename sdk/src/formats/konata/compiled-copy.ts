/** A log into a trace by compiled code (sdk/kernel/pipeline/kanata_copy.c). `Copy` (to-uscope.ts) with `PipelineSink` is the reference. */
import type { Schema } from '../../format/types.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import type { ConversionReport } from '../common/report.js';
import { FLUSH_REASON, pipelineIds } from '../pipeline/core-records.js';
import {
  above32Bits,
  begunTwice,
  highLane,
  longString,
  noLabelKind,
  tooManyInFlight,
} from '../pipeline/errors.js';
import type { PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import { PcFinder } from '../pipeline/pc.js';
import { DEPENDENCY_TYPES, type PipelineShape } from '../pipeline/shape.js';
import { SinkTallies } from '../pipeline/sink-tallies.js';
import type { TextBytes } from '../text/text-bytes.js';
import { CommandKind, putCommand, putTextCommand, Status } from './kernel-command.js';
import { beyondTimes, type KanataVisitor, MAX_TIME_PS, runsBackwards } from './visitor.js';

/** Places in `struct copy`. */
const [ZERO, PERIOD, MOST_CYCLES, CYCLE, LAST, COUNTS, TALLIES] = [0, 8, 16, 24, 32, 40, 88];
const LABEL_KINDS = 256;
const NUM_TALLIES = LABEL_KINDS + 3;
const ORDER = TALLIES + 8 * NUM_TALLIES;
const NUM_ORDER = ORDER + 4 * NUM_TALLIES;
const [WANTS_PC, SLOT, BIRTH, IN_FLIGHT] = [8, 12, 16, 20].map((offset) => NUM_ORDER + offset);

const encoder = new TextEncoder();

/** Whether compiled code has room for the names of the stages, which it then knows. */
export function hasRoomFor(kernel: PipelineKernel, { stages }: PipelineShape): boolean {
  return stages.every((stage) => {
    const name = encoder.encode(stage);
    return kernel.code.kanata_add_stage(kernel.putText(name, 0, name.length), name.length) !== 0;
  });
}

/** What looks for the address of an instruction in its labels. */
interface Search {
  /** Number of the instruction: its slot is another one's later. */
  readonly birth: number;
  readonly finder: PcFinder;
}

export class CompiledCopy implements KanataVisitor {
  private readonly searches: (Search | undefined)[] = [];
  private readonly at: number;

  /** @param kernel has room for the shape @param zero cycle at time 0 */
  constructor(
    private readonly kernel: PipelineKernel,
    schema: Schema,
    private readonly shape: PipelineShape,
    zero: number,
    private readonly output: TraceOutput,
    private readonly report: ConversionReport,
  ) {
    kernel.setCore(pipelineIds(schema, shape.cores[0]), shape.slots, FLUSH_REASON, DEPENDENCY_TYPES.length);
    this.at = kernel.code.kanata_copy_at();
    const { view } = kernel;
    const periodPs = BigInt(shape.periodPs);
    view.setBigInt64(this.at + ZERO, BigInt(zero), true);
    view.setBigInt64(this.at + LAST, BigInt(zero), true);
    view.setBigUint64(this.at + PERIOD, periodPs, true);
    view.setBigUint64(this.at + MOST_CYCLES, MAX_TIME_PS / periodPs, true);
  }

  get isFull(): boolean {
    return this.kernel.isFull;
  }

  async push(): Promise<void> {
    this.kernel.code.frame_close();
    await this.output.push();
  }

  takeLines(bytes: Uint8Array, from: number, end: number): number {
    return this.kernel.takeLines(bytes, from, end, this.kernel.code.kanata_copy);
  }

  cycle(cycle: number): void {
    const status = this.run(putCommand(this.kernel, CommandKind.CYCLE, cycle));
    if (status !== Status.TAKEN) throw this.timeError(status, cycle);
  }

  advance(cycles: number): void {
    const cycle = this.now + cycles;
    const status = this.run(putCommand(this.kernel, CommandKind.ADVANCE, cycles));
    if (status !== Status.TAKEN) throw this.timeError(status, cycle);
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    const status = this.run(putCommand(this.kernel, CommandKind.BEGIN, id, gid, tid));
    if (status === Status.BEGUN_TWICE) throw begunTwice(id);
    if (status === Status.LARGE_THREAD) throw above32Bits('a thread', tid);
    this.check(status);
  }

  label(id: number, kind: number, text: TextBytes): void {
    const { code } = this.kernel;
    const { bytes, from, to } = text;
    const status = this.run(putTextCommand(this.kernel, CommandKind.LABEL, id, kind, bytes, from, to));
    if (status === Status.LARGE_KIND) throw noLabelKind(kind);
    if (status === Status.LONG_STRING) throw longString(to - from);
    this.check(status);
    if (this.word(WANTS_PC) === 0) return;
    const slot = this.word(SLOT);
    const finder = this.finderOf(slot, this.word(BIRTH));
    const pc = finder.take(text);
    if (pc !== null) code.kanata_set_pc(slot, BigInt(pc));
    if (!finder.isOver) return;
    code.kanata_close_pc(BigInt(id));
    this.searches[slot] = undefined;
  }

  start(id: number, lane: number, stage: string): void {
    this.stage(CommandKind.START, id, lane, stage);
  }

  end(id: number, lane: number, stage: string): void {
    this.stage(CommandKind.END, id, lane, stage);
  }

  retire(id: number, rid: number | bigint, type: number): void {
    const status = this.run(putCommand(this.kernel, CommandKind.RETIRE, id, rid, type));
    if (status === Status.LARGE_TYPE) throw above32Bits('a type', type);
    this.check(status);
  }

  dependency(consumer: number, producer: number, type: number): void {
    const status = this.run(putCommand(this.kernel, CommandKind.DEPENDENCY, consumer, producer, type));
    if (status === Status.LARGE_TYPE) throw above32Bits('a type', type);
    this.check(status);
  }

  /** After the last record. */
  finish(): void {
    const { kernel, report } = this;
    kernel.code.finish();
    const at = kernel.code.kanata_copy_at();
    const { view } = kernel;
    const count = (index: number): number => Number(view.getBigUint64(at + COUNTS + 8 * index, true));
    const tallies = new SinkTallies(report);
    const { begun, stages, retired, flushed, dependencies, lost } = tallies;
    for (const [index, tally] of [begun, stages, retired, flushed, dependencies, lost].entries())
      tally.count += count(index);
    for (let index = 0; index < view.getUint32(at + NUM_ORDER, true); index++) {
      const kind = view.getUint32(at + ORDER + 4 * index, true);
      this.tallyOf(tallies, kind).count += Number(view.getBigUint64(at + TALLIES + 8 * kind, true));
    }
    tallies.inFlight.count += view.getUint32(at + IN_FLIGHT, true);
  }

  /** In the order of `enum tally`. */
  private tallyOf(tallies: SinkTallies, kind: number) {
    if (kind < LABEL_KINDS) return tallies.labels(kind);
    if (kind === LABEL_KINDS) return tallies.laneStarts;
    return kind === LABEL_KINDS + 1 ? tallies.laneEnds : tallies.lateDependencies;
  }

  private stage(kind: CommandKind, id: number, lane: number, stage: string): void {
    const name = encoder.encode(stage);
    const status = this.run(putTextCommand(this.kernel, kind, id, lane, name, 0, name.length));
    if (status === Status.LARGE_LANE) throw highLane(lane);
    if (status === Status.LONG_STRING) throw longString(name.length);
    this.check(status);
  }

  private run(command: number): number {
    return this.kernel.code.kanata_copy_command(command);
  }

  private check(status: number): void {
    if (status === Status.TAKEN) return;
    throw status === Status.NO_SLOT ? tooManyInFlight(this.shape.slots) : this.timeError(status, this.now);
  }

  /** Of a command at `cycle`. */
  private timeError(status: number, cycle: number): Error {
    if (status === Status.BEYOND_CYCLES || status === Status.BEYOND_TIMES) return beyondTimes(cycle);
    return runsBackwards(cycle, Number(this.kernel.view.getBigInt64(this.at + LAST, true)));
  }

  private finderOf(slot: number, birth: number): PcFinder {
    const known = this.searches[slot];
    if (known?.birth === birth) return known.finder;
    const finder = new PcFinder();
    this.searches[slot] = { birth, finder };
    return finder;
  }

  /** Cycle of the log. */
  private get now(): number {
    return Number(this.kernel.view.getBigInt64(this.at + CYCLE, true));
  }

  private word(offset: number): number {
    return this.kernel.view.getUint32(this.at + offset, true);
  }
}
