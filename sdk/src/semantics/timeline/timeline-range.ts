/** Which part of a trace a timeline shows. */

/** In cycles of the core's clock, start inclusive, end exclusive. */
export interface TimelineRange {
  readonly from: bigint;
  readonly to: bigint;
  /** Only instructions with these numbers, start inclusive, end exclusive; null: all. */
  readonly numbers: readonly [bigint, bigint] | null;
  /** The address that is looked for: its rows are marked. */
  readonly pc: bigint | null;
}
