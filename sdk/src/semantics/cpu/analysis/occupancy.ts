/** How many slots of a storage are occupied, over the cycles of a range. */

import { addTo } from '../../../base/arrays.js';
import type { FrameCursor } from '../../../format/frame.js';
import { Action, type StorageDef } from '../../../format/types.js';
import type { StorageState } from '../../../state/storage-state.js';
import type { CatalogState } from '../../common/catalog-checkpoint.js';
import type { BufferFigures } from './report.js';
import type { CycleWindow } from './window.js';

/** What an index has counted of a whole range. */
export interface MeterCounts {
  /** At the end of the range. */
  readonly level: number;
  readonly cyclesAt: Float64Array;
  readonly sums: Float64Array;
}

/** Follows a number that changes within cycles; what counts is its value at a cycle's end. */
export class OccupancyMeter {
  level = 0;
  /** Cycle from which on `level` has not been accounted for. */
  private since = 0;
  private readonly cyclesAt: Float64Array;
  private readonly sums: Float64Array;

  constructor(
    readonly name: string,
    private readonly slots: number,
    private readonly window: CycleWindow,
  ) {
    this.cyclesAt = new Float64Array(slots + 1);
    this.sums = window.series();
  }

  /** The level changes in the present cycle of the window. */
  change(by: number): void {
    const { cycle } = this.window;
    if (cycle > this.since) this.account(cycle);
    this.level += by;
  }

  addCounted({ level, cyclesAt, sums }: MeterCounts): void {
    addTo(this.cyclesAt, cyclesAt);
    addTo(this.sums, sums);
    this.since = this.window.cycles;
    this.level = level;
  }

  /** Accounts for the rest of the range. */
  finish(): void {
    this.account(this.window.cycles);
  }

  private account(until: number): void {
    const { window, since, sums } = this;
    const level = Math.min(this.level, this.slots);
    this.since = until;
    this.cyclesAt[level] += until - since;
    let from = since;
    for (let interval = window.intervalOf(from); from < until; interval++) {
      const end = Math.min(until, (interval + 1) * window.intervalCycles);
      sums[interval] += level * (end - from);
      from = end;
    }
  }

  report(): BufferFigures {
    const { cyclesAt, slots } = this;
    const total = this.window.cycles;
    const highest = cyclesAt.findLastIndex((cycles) => cycles > 0);
    const isKnown = total > 0;
    return {
      buffer: this.name,
      slots,
      mean: isKnown ? cyclesAt.reduce((sum, cycles, level) => sum + cycles * level, 0) / total : null,
      median: this.percentile(0.5),
      p99: this.percentile(0.99),
      max: isKnown ? highest : null,
      fullShare: isKnown ? cyclesAt[slots] / total : null,
      emptyShare: isKnown ? cyclesAt[0] / total : null,
      histogram: Array.from(cyclesAt.subarray(0, highest + 1)),
    };
  }

  /** Mean of the level per interval. */
  means(): number[] {
    return Array.from(this.sums, (sum, interval) => sum / this.window.lengthOf(interval));
  }

  private percentile(share: number): number | null {
    const rank = Math.max(1, Math.ceil(share * this.window.cycles));
    let seen = 0;
    for (let level = 0; level <= this.slots; level++) {
      seen += this.cyclesAt[level];
      if (seen >= rank) return level;
    }
    return null;
  }
}

/** A buffer of the core, by the ops on it. */
export class BufferStats {
  readonly meter: OccupancyMeter;
  private readonly occupied: Uint8Array;

  /** @param state before the first frame of the range */
  constructor(
    def: StorageDef,
    private readonly window: CycleWindow,
    state: StorageState,
  ) {
    this.meter = new OccupancyMeter(def.name, def.numSlots, window);
    this.occupied = new Uint8Array(def.numSlots);
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.slotOccupied(def.storageId, slot)) continue;
      this.occupied[slot] = 1;
      this.meter.level++;
    }
  }

  /** In the first frame of a segment: the buffer may have been replaced by a snapshot. */
  continueFrom(state: CatalogState): void {
    if (!this.window.inRange) return;
    for (let slot = 0; slot < this.occupied.length; slot++) this.take(slot, state.isTaken(slot) ? 1 : 0);
  }

  op({ action, slot }: FrameCursor): void {
    if (!this.window.inRange || action === Action.PROP_SET || slot >= this.occupied.length) return;
    this.take(slot, action === Action.CLEAR ? 0 : 1);
  }

  private take(slot: number, after: 0 | 1): void {
    if (this.occupied[slot] === after) return;
    this.occupied[slot] = after;
    this.meter.change(after === 1 ? 1 : -1);
  }
}
