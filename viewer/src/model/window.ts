/** What the tracks show of a stretch of time: numbers over equal columns, marks, and values of slots. */

/** Equal columns of time, in cycles of the axis. */
export interface Columns {
  /** Start of the first. */
  readonly from: number;
  readonly step: number;
  readonly length: number;
}

export interface CounterColumns extends Columns {
  readonly id: number;
  /** Value before the first column. */
  readonly start: number;
  /** Value at the end of each. */
  readonly totals: Float64Array;
}

export interface OccupancyColumns extends Columns {
  readonly id: number;
  /** Over time; NaN where the trace has none. */
  readonly mean: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

export interface EventColumns extends Columns {
  readonly id: number;
  /** Events in each. */
  readonly counts: Float64Array;
}

/** Single events, in order of time. */
export interface EventMarks {
  readonly type: Uint16Array;
  readonly cycle: Float64Array;
  /** Fields with their values, one per event. */
  readonly texts: readonly string[];
}

/** A field of a slot. */
export interface SlotField {
  readonly storage: number;
  readonly slot: number;
  readonly field: number;
}

/** Values of a field through time; each lasts until the next. */
export interface ValueChanges extends SlotField {
  readonly cycle: Float64Array;
  /** Empty: the slot was free. */
  readonly texts: readonly string[];
  /** More than one change in a column: the last of them is given, and 1 here. */
  readonly isBusy: Uint8Array;
}

/** What the question is about: ids of the schema. */
export interface Wanted {
  readonly counters: readonly number[];
  readonly buffers: readonly number[];
  readonly events: readonly number[];
  readonly values: readonly SlotField[];
}

export interface WindowArgs extends Wanted {
  /** Whole cycles of the axis. */
  readonly from: number;
  readonly to: number;
  /** Cycles of a column, whole. */
  readonly step: number;
  /** Rather fewer and wider columns than a long read. */
  readonly isQuick?: boolean;
}

export interface WindowAnswer {
  readonly args: WindowArgs;
  /** `index`: columns are whole buckets of it; there are no marks and no values of slots. `none`: too long to replay, and there is no index. */
  readonly source: 'replay' | 'index' | 'none';
  readonly isExact: boolean;
  readonly counters: readonly CounterColumns[];
  readonly buffers: readonly OccupancyColumns[];
  readonly events: readonly EventColumns[];
  /** null: too many. */
  readonly marks: EventMarks | null;
  readonly values: readonly ValueChanges[];
}

/** Longer windows are answered from the index. */
export const REPLAY_CYCLES = 131_072;
/** Without an index, this is replayed at most. */
export const REPLAY_CYCLES_WITHOUT_INDEX = 4_194_304;
/** Events listed one by one. */
export const MAX_MARKS = 4000;
/** Columns of one answer. */
export const MAX_COLUMNS = 32_768;

/** First column whose start is not before a cycle. */
export function columnFrom({ from, step, length }: Columns, cycle: number): number {
  return Math.max(0, Math.min(length, Math.ceil((cycle - from) / step)));
}

/** The column that a cycle lies in; -1: none. */
export function columnOf({ from, step, length }: Columns, cycle: number): number {
  const column = Math.floor((cycle - from) / step);
  return column >= 0 && column < length ? column : -1;
}
