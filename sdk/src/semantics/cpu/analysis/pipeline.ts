/**
 * Follows all instructions of a core at once: births, stages, flushes, retirements. The rules are those of `Tracker` (tracker.ts), which
 * keeps the whole life of each; here only what is counted is kept.
 */

import { addTo } from '../../../base/arrays.js';
import type { FrameCursor } from '../../../format/frame.js';
import { Action } from '../../../format/types.js';
import type { StorageState } from '../../../state/storage-state.js';
import type { CatalogState } from '../../common/catalog-checkpoint.js';
import type { CoreEntities, CpuCore } from '../cores.js';
import { type PayloadField, payloadField, readField } from '../payload-field.js';
import { type FlushCounts, FlushStats } from './flush-stats.js';
import { Histogram, type HistogramCounts } from './histogram.js';
import { INSTRUCTION_CLASSES, InstructionClassifier } from './instruction-class.js';
import { type MeterCounts, OccupancyMeter } from './occupancy.js';
import { RetireWidths, type WidthsCounts } from './retire-widths.js';
import { SlotFlag, SlotTable } from './slots.js';
import { NO_STAGE, type StageCounts, Stages } from './stages.js';
import type { CycleWindow } from './window.js';

/** Events of one frame about ids that nobody has: some writers put them in front of the birth. */
const MAX_EARLY = 4096;

export interface PipelineOptions {
  /** Files of v0.1 list the ops of a frame before its events: a flush comes after its CLEAR. */
  readonly interleaved: boolean;
  /** Slots beyond the catalog's do not occur: files of ours. */
  readonly strictSlots: boolean;
  /** What is looked at begins in the middle: ids beyond the catalog are taken for instructions in flight. */
  readonly adoptsStrangers: boolean;
}

/** What an index says of a segment. */
export interface SegmentCounts {
  readonly fetched: number;
  readonly lost: number;
  readonly stages: readonly StageCounts[];
  readonly lifetime: HistogramCounts;
  /** null: nothing retired. */
  readonly widths: WidthsCounts | null;
  readonly mix: Float64Array;
}

/** What an index says of a whole trace. */
export interface TraceCounts {
  readonly retiredPerInterval: Float64Array;
  readonly retired: number;
  readonly flushes: FlushCounts;
  readonly inFlight: MeterCounts;
}

/** Cleared in the present frame, with what their slots held. Whether they retired is known when the frame is over. */
interface Closing {
  readonly id: number;
  stage: number;
  entered: number;
  readonly born: number;
  readonly bits: number;
  isFlushed: boolean;
}

export class PipelineStats {
  fetched = 0;
  retired = 0;
  lost = 0;
  inFlightAtStart = 0;
  readonly stages: Stages;
  readonly flushes: FlushStats;
  readonly lifetime = new Histogram();
  readonly inFlight: OccupancyMeter;
  readonly widths: RetireWidths;
  readonly retiredPerInterval: Float64Array;
  private readonly mixCounts = new Float64Array(INSTRUCTION_CLASSES.length);
  private readonly slots: SlotTable;
  private readonly closing: Closing[] = [];
  private readonly early: { id: number; stage: number }[] = [];
  private readonly classifier: InstructionClassifier | null;
  private readonly stageId: PayloadField | null;
  private readonly stageValue: PayloadField | null;
  private readonly flushId: PayloadField | null;
  /** The frame being followed. */
  private cycle = 0;
  private inRange = false;

  constructor(
    core: CpuCore,
    private readonly entities: CoreEntities,
    private readonly window: CycleWindow,
    private readonly options: PipelineOptions,
  ) {
    const { def, bitsField } = entities;
    this.stages = new Stages(core);
    this.flushes = new FlushStats(core.events.get('flush'), window);
    this.inFlight = new OccupancyMeter(def.name, def.numSlots, window);
    this.widths = new RetireWidths(window);
    this.retiredPerInterval = window.series();
    this.slots = new SlotTable(def.numSlots, options.strictSlots);
    this.classifier = core.xlen !== null && bitsField >= 0 ? new InstructionClassifier(core.xlen) : null;
    const stage = core.events.get('stage_transition');
    const flush = core.events.get('flush');
    this.stageId = stage ? payloadField(stage, 'entity_id') : null;
    this.stageValue = stage ? payloadField(stage, 'stage') : null;
    this.flushId = flush ? payloadField(flush, 'entity_id') : null;
  }

  /** Instructions in flight where the looking begins: their history is not known. */
  begin(state: StorageState): void {
    const { def, idField, bitsField } = this.entities;
    const { storageId } = def;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.slotOccupied(storageId, slot)) continue;
      const id = idField >= 0 ? Number(state.value(storageId, slot, idField)) : slot;
      this.slots.bear(slot, id, Number.NaN);
      if (bitsField >= 0)
        this.slots.bits[slot] = Number(state.value(storageId, slot, bitsField) & 0xffff_ffffn);
      this.inFlight.level++;
    }
  }

  /** In the first frame of a segment: what its checkpoint knows nothing of is lost (its scope was disabled), others may have come by a snapshot. */
  continueFrom(state: CatalogState): void {
    const { slots } = this;
    const { def, idField } = this.entities;
    for (let slot = 0; slot < def.numSlots; slot++) {
      const isTaken = state.isTaken(slot);
      if (!isTaken && !slots.isBorn(slot)) continue;
      const id = isTaken && idField >= 0 ? Number(state.value(slot, idField)) : slot;
      if (slots.isBorn(slot)) {
        if (isTaken && slots.ids[slot] === id) continue;
        if (this.inRange && !slots.isFlushed(slot)) this.lost++;
        slots.free(slot);
        this.changeInFlight(-1);
      }
      if (!isTaken) continue;
      slots.bear(slot, id, Number.NaN);
      this.changeInFlight(1);
    }
  }

  /** A frame begins; the window is on it already. */
  frame(): void {
    if (this.closing.length > 0) this.settle();
    if (this.early.length > 0) this.early.length = 0;
    this.cycle = this.window.cycle;
    const { inRange } = this.window;
    if (inRange && !this.inRange) this.inFlightAtStart = this.inFlight.level;
    this.inRange = inRange;
  }

  /** Adds the next segment of a trace whose index is asked. */
  addSegment({ fetched, lost, stages, lifetime, widths, mix }: SegmentCounts): void {
    this.fetched += fetched;
    this.lost += lost;
    this.stages.addCounted(stages);
    this.lifetime.addCounted(lifetime);
    if (widths) this.widths.addCounted(widths);
    addTo(this.mixCounts, mix);
  }

  /** Adds what the index knows of the whole trace, which begins with nothing in flight. */
  addTrace({ retired, retiredPerInterval, flushes, inFlight }: TraceCounts): void {
    this.inRange = true;
    this.retired += retired;
    addTo(this.retiredPerInterval, retiredPerInterval);
    this.flushes.addCounted(flushes);
    this.inFlight.addCounted(inFlight);
  }

  finish(): void {
    this.settle();
    // No frame lies in the range: what was there before it is there all the time.
    if (!this.inRange) this.inFlightAtStart = this.inFlight.level;
    this.inFlight.finish();
  }

  op(cursor: FrameCursor): void {
    if (cursor.slot >= this.slots.size || cursor.action === Action.PROP_SET) return;
    if (cursor.action === Action.CLEAR) this.onClear(cursor.slot);
    else this.onSet(cursor);
  }

  onStage(cursor: FrameCursor): void {
    if (!this.stageId || !this.stageValue) return;
    const id = readField(cursor, this.stageId);
    const stage = this.stages.of(readField(cursor, this.stageValue));
    const slot = this.find(id);
    if (slot >= 0) {
      this.enterStage(slot, stage);
      return;
    }
    const closing = this.closingOf(id);
    if (closing) this.enterLastStage(closing, stage);
    else if (this.early.length < MAX_EARLY) this.early.push({ id, stage });
  }

  onFlush(cursor: FrameCursor): void {
    const id = this.flushId ? readField(cursor, this.flushId) : -1;
    const closed = this.closingOf(id);
    const slot = !this.options.interleaved && closed ? -1 : this.find(id);
    if (slot >= 0) {
      if (this.slots.isFlushed(slot)) return;
      this.slots.flags[slot] |= SlotFlag.FLUSHED;
      if (this.inRange) this.stages.cut(this.slots.stage[slot]);
      this.slots.stage[slot] = NO_STAGE;
    } else if (closed) {
      if (closed.isFlushed) return;
      closed.isFlushed = true;
      if (this.inRange) this.stages.cut(closed.stage);
    }
    if (this.inRange) this.flushes.add(cursor);
  }

  /** Retired instructions by class; null where the machine code is not known or not RISC-V's. */
  get mix(): Float64Array | null {
    return this.classifier && this.mixCounts;
  }

  private onSet({ slot, field, lo }: FrameCursor): void {
    const { slots } = this;
    const { idField, bitsField } = this.entities;
    if ((slots.flags[slot] & SlotFlag.TAKEN) === 0) {
      slots.flags[slot] = SlotFlag.TAKEN;
      if (idField < 0) this.birth(slot, slot);
    }
    if (field === idField) {
      if (!slots.isBorn(slot)) this.birth(slot, lo);
      else if (slots.ids[slot] !== lo || slots.isFlushed(slot)) this.replace(slot, lo);
    } else if (field === bitsField) slots.bits[slot] = lo;
  }

  /** Born in a slot that was not cleared before: of a flushed instruction that is known to be its end. */
  private replace(slot: number, id: number): void {
    if (this.inRange && !this.slots.isFlushed(slot)) this.lost++;
    this.slots.free(slot);
    this.changeInFlight(-1);
    this.birth(slot, id);
  }

  private birth(slot: number, id: number): void {
    this.slots.bear(slot, id, this.cycle);
    this.changeInFlight(1);
    if (this.inRange) this.fetched++;
    for (const early of this.early) if (early.id === id) this.enterStage(slot, early.stage);
  }

  private enterStage(slot: number, stage: number): void {
    const { slots, cycle } = this;
    if (slots.isFlushed(slot)) return;
    if (this.inRange) this.stages.left(slots.stage[slot], cycle - slots.entered[slot]);
    slots.stage[slot] = stage;
    slots.entered[slot] = cycle;
  }

  /** Entered in the frame that ends it. */
  private enterLastStage(closing: Closing, stage: number): void {
    if (closing.isFlushed) return;
    if (this.inRange) this.stages.left(closing.stage, this.cycle - closing.entered);
    closing.stage = stage;
    closing.entered = this.cycle;
  }

  private onClear(slot: number): void {
    const { slots } = this;
    if (slots.isBorn(slot)) {
      this.closing.push({
        id: slots.ids[slot],
        stage: slots.stage[slot],
        entered: slots.entered[slot],
        born: slots.born[slot],
        bits: slots.bits[slot],
        isFlushed: slots.isFlushed(slot),
      });
      this.changeInFlight(-1);
    }
    slots.free(slot);
  }

  /** The frame is over: what was cleared and not flushed has retired. */
  private settle(): void {
    if (this.inRange) for (const one of this.closing) if (!one.isFlushed) this.retire(one);
    this.closing.length = 0;
  }

  private retire({ stage, entered, born, bits }: Closing): void {
    const { cycle } = this;
    this.retired++;
    this.retiredPerInterval[this.window.intervalOf(cycle)]++;
    this.widths.add(cycle);
    this.stages.left(stage, cycle - entered);
    if (!Number.isNaN(born)) this.lifetime.add(cycle - born);
    if (this.classifier && bits !== 0) this.mixCounts[this.classifier.classOf(bits)]++;
  }

  private changeInFlight(by: number): void {
    if (this.inRange) this.inFlight.change(by);
    else this.inFlight.level += by;
  }

  /** Slot of the instruction in flight that an event is about; -1: none. */
  private find(id: number): number {
    const slot = this.slots.find(id);
    if (slot >= 0 || !this.options.adoptsStrangers) return slot;
    const isStrange = id >= this.entities.def.numSlots && id < this.slots.size;
    if (!isStrange || this.closingOf(id)) return -1;
    this.slots.bear(id, id, Number.NaN);
    this.changeInFlight(1);
    return id;
  }

  /** The last one with this id that was cleared in this frame. */
  private closingOf(id: number): Closing | undefined {
    return this.closing.length > 0 ? this.closing.findLast((one) => one.id === id) : undefined;
  }
}
