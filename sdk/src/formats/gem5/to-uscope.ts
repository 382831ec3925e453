/** gem5's O3PipeView to µScope. Two passes: what is there, and the copy. */
import { isUscopeError } from '../../base/errors.js';
import { Action, type Schema } from '../../format/types.js';
import type { TraceStats } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport } from '../common/report.js';
import { CoreRecords } from '../pipeline/core-records.js';
import { MAX_IN_FLIGHT } from '../pipeline/errors.js';
import { type PipelineFrames, writePipeline } from '../pipeline/frames.js';
import { coreOption, periodOption } from '../pipeline/options.js';
import {
  COUNTERS_SCOPE,
  DEPENDENCY_TYPES,
  LOG_FORMAT,
  type PipelineShape,
  UNKNOWN_FLUSH,
} from '../pipeline/shape.js';
import { TextBytes } from '../text/text-bytes.js';
import {
  DISPATCH_STAGE,
  GEM5_STAGES,
  type Gem5Block,
  type Gem5Reader,
  RENAME_STAGE,
  RETIRE,
  STAGES,
} from './log.js';
import { type Flight, type Gem5Summary, InOrder, Moment, type OrderVisitor, visitInOrder } from './order.js';

const MAX_PERIOD = 0xffff_ffff;

/** A dump of stats.txt. */
export interface StatsDump {
  readonly tick: number;
  /** Whole numbers by name. */
  readonly values: ReadonlyMap<string, bigint>;
}

export interface StatsFile {
  /** In the order of ticks. */
  readonly dumps: readonly StatsDump[];
  /** All that occur, in the order in which they were first met. */
  readonly names: readonly string[];
  /** Values that are not whole numbers, and lines that are none of the form. */
  readonly fractions: number;
  readonly otherLines: number;
}

/**
 * @param stats null: there is no stats.txt
 * @throws UscopeError CONVERT_*, WRITER_*
 */
export async function gem5ToUscope(
  reader: Gem5Reader,
  summary: Gem5Summary,
  stats: StatsFile | null,
  target: TraceTarget,
  context: ConversionContext,
): Promise<TraceStats> {
  const shape = shapeOf(summary, stats, context.options);
  const checkpointIntervalPs = target.checkpointIntervalPs ?? intervalOf(summary);
  return writePipeline(shape, { ...target, checkpointIntervalPs }, context, async (frames, schema) => {
    const counters = stats && new StatsCounters(stats, frames, schema);
    const trace = new TraceCopy(schema, frames, shape, summary, context.report, counters);
    await copy(reader, summary, trace, frames, context);
    counters?.finish();
    if (counters)
      context.report.kept('values of stats.txt', 'counters of the scope stats').count += counters.values;
  });
}

/** All that the log holds before it was cut, if it was: the summary has told of the cut. */
async function copy(
  reader: Gem5Reader,
  summary: Gem5Summary,
  trace: TraceCopy,
  frames: PipelineFrames,
  { report, signal }: ConversionContext,
): Promise<void> {
  const { other, early } = otherTallies(report);
  const order = new InOrder(
    summary,
    trace,
    () => other.count++,
    () => early.count++,
  );
  try {
    for await (const _ of visitInOrder(reader, order)) {
      signal?.throwIfAborted();
      if (frames.isFull) await frames.push();
    }
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
  }
  const { taken, unclaimed } = order.facts;
  report.kept('lines of other debug flags', 'thread, CPU, dependencies, addresses and squashes').count +=
    taken - unclaimed;
  report.dropped(
    'lines of other debug flags about instructions without a fetch',
    'nothing they could be said of',
  ).count += unclaimed;
}

function otherTallies(report: ConversionReport) {
  return {
    other: report.dropped('other lines', 'no lines of an instruction, or of a flag that is not read'),
    early: report.dropped(
      'lines of stages before the first fetch',
      'their instruction was fetched before the log begins',
    ),
  };
}

/** An instruction is about as many items as it has stages. */
function intervalOf({ instructions, firstTick, lastTick }: Gem5Summary): bigint {
  return checkpointIntervalFor(BigInt(Math.max(0, lastTick - firstTick)), instructions * GEM5_STAGES.length);
}

function shapeOf(
  { tickStep, inFlight, cpus, maxThread }: Gem5Summary,
  stats: StatsFile | null,
  options: ReadonlyMap<string, string>,
): PipelineShape {
  const found = tickStep > 0 && tickStep <= MAX_PERIOD ? `${tickStep} ps` : undefined;
  const periodPs = periodOption(options, found);
  const cores = coreNames(coreOption(options), cpus.length);
  return {
    ...{ stages: GEM5_STAGES, slots: Math.min(inFlight, MAX_IN_FLIGHT), maxThread, periodPs, cores },
    isKanata: false,
    ...(stats ? { counters: [...counterNames(stats).values()] } : {}),
    dut: [
      [LOG_FORMAT, 'gem5-o3pipeview'],
      ...cpus.map((cpu, index) => [`gem5.object.${cores[index]}`, cpu] as const),
    ],
  };
}

/** Several CPUs are numbered: `core0`, `core1`. */
function coreNames(name: string, cpus: number): string[] {
  if (cpus <= 1) return [name];
  const base = name.replace(/\d+$/, '') || name;
  return Array.from({ length: cpus }, (_, index) => `${base}${index}`);
}

const RAW = DEPENDENCY_TYPES.indexOf('raw');
const STRUCTURAL = DEPENDENCY_TYPES.indexOf('structural');
const LEAST_PC_DIGITS = 8;
const [COLON, BLANK, ZERO, A] = [0x3a, 0x20, 0x30, 0x61];

/** Of one CPU. */
interface Core {
  readonly records: CoreRecords;
  /** Slots of the instructions in flight, by sequence number; kept only where lines may refer to it. */
  readonly live: Map<number, number> | null;
}

/** Writes what happens to the instructions of a log into a trace. */
class TraceCopy implements OrderVisitor {
  private readonly cores: readonly Core[];
  private readonly byObject: ReadonlyMap<string, Core>;
  private readonly text = new TextBytes();
  private label = new Uint8Array(256);
  /** CPUs. */
  private readonly hasSeveral: boolean;
  private readonly tallies: ReturnType<typeof talliesOf>;

  constructor(
    schema: Schema,
    private readonly frames: PipelineFrames,
    shape: PipelineShape,
    { cpus, repeats }: Gem5Summary,
    report: ConversionReport,
    private readonly counters: StatsCounters | null,
  ) {
    this.cores = shape.cores.map((core) => ({
      records: new CoreRecords(schema, core, shape.slots, frames),
      live: cpus.length > 0 ? new Map() : null,
    }));
    this.byObject = new Map(cpus.map((object, index) => [object, this.cores[index]]));
    this.hasSeveral = cpus.length > 1 || repeats;
    this.tallies = talliesOf(report);
  }

  get isFull(): boolean {
    return this.frames.isFull;
  }

  isFullBefore(tick: number): boolean {
    return this.frames.isFullBefore(tick);
  }

  born(flight: Flight): void {
    const { block, cpu, timeline } = flight;
    const core = this.coreOf(cpu);
    if (cpu === null && this.hasSeveral) this.tallies.anyCore.count++;
    this.moveTo(timeline.ticks[0]);
    const { records, live } = core;
    const slot = records.birth();
    const { ids } = records;
    records.set(slot, ids.gid, block.seq);
    records.set(slot, ids.threadId, timeline.facts?.thread ?? 0);
    records.set(slot, ids.pc, block.pc);
    records.annotate(slot, this.frames.strings.of(this.labelOf(block)));
    this.tallies.labels.count++;
    if (block.microPc > 0) this.annotate(records, slot, `micro-op ${block.microPc}`);
    flight.slot = slot;
    live?.set(Number(block.seq), slot);
    this.tallies.begun.count++;
  }

  happens(flight: Flight, tick: number, moment: number): void {
    const { slot } = flight;
    if (slot < 0) return;
    const core = this.coreOf(flight.cpu);
    this.moveTo(tick);
    if (moment < STAGES) this.stage(flight, core, slot, moment);
    else if (moment === Moment.SQUASH) this.squash(flight, core, slot);
    else this.memory(flight, core, slot, moment);
  }

  private stage(flight: Flight, core: Core, slot: number, stage: number): void {
    core.records.stage(slot, stage);
    this.tallies.stages.count++;
    const { facts } = flight.timeline;
    if (facts && stage === RENAME_STAGE) this.dependencies(core, slot, facts.producers, RAW);
    if (facts && stage === DISPATCH_STAGE) this.dependencies(core, slot, facts.stores, STRUCTURAL);
    if (stage === RETIRE) this.retire(flight, core, slot);
  }

  private retire(flight: Flight, core: Core, slot: number): void {
    const { storeTick } = flight.block;
    if (storeTick > 0) {
      this.annotate(core.records, slot, `store written at ${storeTick} ps`);
      this.tallies.storeTicks.count++;
    }
    core.records.commit();
    this.tallies.retired.count++;
    this.end(flight, core, slot);
  }

  private squash(flight: Flight, core: Core, slot: number): void {
    core.records.flush(slot);
    this.tallies.flushed.count++;
    if (flight.timeline.facts?.squashTick === flight.end) this.tallies.squashTicks.count++;
    else this.tallies.lastStages.count++;
    this.end(flight, core, slot);
  }

  private end(flight: Flight, { records, live }: Core, slot: number): void {
    records.clear(slot);
    flight.slot = -1;
    if (!live) return;
    const seq = Number(flight.block.seq);
    if (live.get(seq) === slot) live.delete(seq);
  }

  private memory({ timeline: { facts } }: Flight, { records }: Core, slot: number, moment: number): void {
    if (!facts) return;
    if (moment === Moment.MEMORY_DONE) {
      this.annotate(records, slot, 'memory access completed');
      this.tallies.memoryDone.count++;
      return;
    }
    const access = moment === Moment.STORE ? facts.store : facts.load;
    if (!access) return;
    records.memory(slot, moment === Moment.STORE, access.address);
    this.tallies.addresses.count++;
  }

  private dependencies(
    { records, live }: Core,
    slot: number,
    producers: readonly number[],
    type: number,
  ): void {
    for (const producer of producers) {
      const source = live?.get(producer);
      if (source === undefined) this.tallies.readyValues.count++;
      else {
        records.dependency(source, slot, type);
        this.tallies.dependencies.count++;
      }
    }
  }

  private annotate(records: CoreRecords, slot: number, words: string): void {
    records.annotate(slot, this.frames.strings.ofString(words));
    this.tallies.labels.count++;
  }

  private coreOf(object: string | null): Core {
    return (object === null ? undefined : this.byObject.get(object)) ?? this.cores[0];
  }

  private moveTo(tick: number): void {
    this.counters?.before(tick);
    this.frames.moveTo(tick);
  }

  /** `80000000: addi …`, valid until the next one. */
  private labelOf({ pc, text, textLength }: Gem5Block): TextBytes {
    const digits = hexDigitsOf(pc);
    const length = digits + 2 + textLength;
    if (length > this.label.length) this.label = new Uint8Array(2 * length);
    const { label } = this;
    let rest = typeof pc === 'number' ? pc : 0;
    const hex = typeof pc === 'number' ? '' : pc.toString(16).padStart(digits, '0');
    for (let at = digits - 1; at >= 0; at--) {
      const digit = hex === '' ? rest % 16 : Number.parseInt(hex[at], 16);
      label[at] = digit < 10 ? ZERO + digit : A + digit - 10;
      rest = (rest - digit) / 16;
    }
    label[digits] = COLON;
    label[digits + 1] = BLANK;
    for (let at = 0; at < textLength; at++) label[digits + 2 + at] = text[at];
    return this.text.point(label, 0, length);
  }
}

function hexDigitsOf(pc: number | bigint): number {
  let digits = LEAST_PC_DIGITS;
  if (typeof pc === 'number') for (let limit = 2 ** 32; limit <= pc; limit *= 16) digits++;
  else digits = Math.max(digits, pc.toString(16).length);
  return digits;
}

/** What the report says. */
function talliesOf(report: ConversionReport) {
  return {
    begun: report.kept('instructions'),
    stages: report.kept('stages', 'stage_transition'),
    labels: report.kept('texts', 'annotate'),
    retired: report.kept('retired instructions', 'CLEAR and committed_insns'),
    dependencies: report.kept('dependencies', 'dependency'),
    addresses: report.kept('addresses of loads and stores', 'mem_load and mem_store'),
    memoryDone: report.kept('completions of memory accesses', 'annotate'),
    squashTicks: report.kept('times of squashes', 'when the last unit squashed the instruction'),
    flushed: report.approximated(
      'flushed instructions',
      `flush; the log gives no reason, so it is "${UNKNOWN_FLUSH}"`,
    ),
    lastStages: report.approximated('times of squashes', 'the log has none: when the last stage was entered'),
    storeTicks: report.approximated('completion of stores', 'an annotation: it comes after the end'),
    readyValues: report.approximated(
      'dependencies on instructions that had ended',
      'none: the value was there already',
    ),
    anyCore: report.approximated(
      'instructions of an unknown CPU',
      'in the first core: there are several CPUs, and no line of theirs names one',
    ),
  };
}

const MAX_NAME = 60;

/** Names that a schema can hold, all different, by those of the file. */
function counterNames({ names }: StatsFile): Map<string, string> {
  const taken = new Set<string>();
  const found = new Map<string, string>();
  for (const name of names) {
    const clean = name.replace(/::/g, '.').replace(/[^A-Za-z0-9_.-]/g, '_');
    const base = clean.length > MAX_NAME ? clean.slice(-MAX_NAME).replace(/^[^A-Za-z_]+/, '') || '_' : clean;
    let label = base;
    for (let n = 2; taken.has(label); n++) label = `${base}_${n}`;
    taken.add(label);
    found.set(name, label);
  }
  return found;
}

/** The values of stats.txt as counters of the trace, each dump at its tick. */
class StatsCounters {
  private readonly storages: ReadonlyMap<string, number>;
  private readonly last = new Map<string, bigint>();
  private at = 0;
  /** Values written. */
  values = 0;

  constructor(
    private readonly stats: StatsFile,
    private readonly frames: PipelineFrames,
    { scopes, storages }: Schema,
  ) {
    const scopeId = scopes.find(({ name }) => name === COUNTERS_SCOPE)?.scopeId;
    const ids = new Map(
      storages.filter((one) => one.scopeId === scopeId).map(({ name, storageId }) => [name, storageId]),
    );
    this.storages = new Map([...counterNames(stats)].map(([name, label]) => [name, ids.get(label)!]));
  }

  /** Dumps before `tick`, which the log has reached. */
  before(tick: number): void {
    const { dumps } = this.stats;
    while (this.at < dumps.length && dumps[this.at].tick < tick) this.write(dumps[this.at++]);
  }

  finish(): void {
    this.before(Number.POSITIVE_INFINITY);
  }

  private write({ tick, values }: StatsDump): void {
    this.frames.moveTo(tick);
    for (const [name, value] of values) {
      const before = this.last.get(name) ?? 0n;
      this.values++;
      if (value === before) continue;
      const storage = this.storages.get(name)!;
      // Statistics that were reset begin anew.
      if (value > before) this.frames.op(Action.ADD, storage, 0, 0, value - before);
      else this.frames.op(Action.SET, storage, 0, 0, value);
      this.last.set(name, value);
    }
  }
}
