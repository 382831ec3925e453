/** Writes what happens to the instructions of a log into a trace. */
import type { Schema } from '../../format/types.js';
import type { ConversionReport } from '../common/report.js';
import { CoreRecords } from '../pipeline/core-records.js';
import type { PipelineFrames } from '../pipeline/frames.js';
import { DEPENDENCY_TYPES, type PipelineShape } from '../pipeline/shape.js';
import { TextBytes } from '../text/text-bytes.js';
import { DISPATCH_STAGE, type Gem5Block, RENAME_STAGE, RETIRE, STAGES } from './block.js';
import type { Flight, OrderVisitor } from './order.js';
import type { StatsCounters } from './stats-counters.js';
import { talliesOf } from './tallies.js';
import { Moment } from './timeline.js';

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

export class TraceCopy implements OrderVisitor {
  private readonly cores: readonly Core[];
  private readonly byObject: ReadonlyMap<string, Core>;
  private readonly text = new TextBytes();
  private label = new Uint8Array(256);
  private readonly tallies: ReturnType<typeof talliesOf>;

  constructor(
    schema: Schema,
    private readonly frames: PipelineFrames,
    shape: PipelineShape,
    /** Objects of the cores of `shape`. */
    objects: readonly string[],
    report: ConversionReport,
    private readonly counters: StatsCounters | null,
  ) {
    this.cores = shape.cores.map((core) => ({
      records: new CoreRecords(schema, core, shape.slots, frames),
      live: objects.length > 0 ? new Map() : null,
    }));
    this.byObject = new Map(objects.map((object, index) => [object, this.cores[index]]));
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
    if (cpu === null && this.cores.length > 1) this.tallies.anyCore.count++;
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
