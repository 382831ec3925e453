/** The channels of an index: what is counted, and in which columns. */
import type { CpuCore } from '../semantics/cpu/cores.js';
import type { RowPlan } from './row-plan.js';

/** Cycles of one bucket of the finest level. Buckets are aligned to cycle 0. */
export const BUCKET_CYCLES = 256;
export const ChannelKind = {
  /** Ops by which a free slot is taken, and a taken one freed: one column. */
  BORN: 1,
  FREED: 2,
  /**
   * Occupied slots: three columns. Sum over time (slots · `TimePart.unitPs`), least + 1, greatest + 1; these are 0 where the row lasts no time.
   * States in between the frames of one instant last no time.
   */
  OCCUPANCY: 3,
  /** What a counter grew by, signed: one column. */
  DELTA: 4,
  /** Events: one column for each label of the first enum field, and one for other values; a single one where it has no such field. */
  EVENTS: 5,
  /** Of a core, instructions: one column. */
  RETIRED: 6,
  SQUASHED: 7,
  /** Cycles in which something was squashed, stalled: a column for all reasons, then as EVENTS by the field `reason`, where that has labels. */
  FLUSHES: 8,
  STALLS: 9,
} as const;
export type ChannelKind = (typeof ChannelKind)[keyof typeof ChannelKind];

/** Which column a value of an enum belongs to. */
export interface Labels {
  /** Offset of the field in the payload, one byte. */
  readonly offset: number;
  /** One per column; the last one is for values without a label. */
  readonly names: readonly string[];
  /** Value (0 to 255) -> index in `names`. */
  readonly indexOf: Uint8Array;
}

export interface Channel {
  readonly kind: ChannelKind;
  /** Path of storage or event, or name of the core: `core0/rob`. */
  readonly name: string;
  /** Storage id, event type, or index in `IndexPlan.cores`. */
  readonly subject: number;
  /** First of its columns in the group, and their number. */
  readonly column: number;
  readonly columns: number;
  readonly labels: Labels | null;
}

/** What is counted in cycles of one length. */
export interface ClockGroup {
  readonly index: number;
  readonly periodPs: number;
  readonly channels: readonly Channel[];
  readonly columns: number;
}

export interface PlannedCore {
  readonly core: CpuCore;
  /** -1: the period of its clock is not known. */
  readonly group: number;
  /** null: it has no instructions. */
  readonly rows: RowPlan | null;
}
