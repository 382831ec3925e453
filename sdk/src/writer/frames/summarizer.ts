/**
 * What gathers the trace summary (TSUM, docs/reference/format.md#trace-summary) as frames pass. The writer knows no CPU: a protocol implements this and is injected.
 */

import type { TraceSummary } from '../../format/tsum.js';
import type { Action, Schema } from '../../format/types.js';

/** A field whose ops are added up, per cycle of a clock. */
export interface SummedField {
  readonly storageId: number;
  readonly field: number;
  readonly action: Action;
  /** Every op counts as one; else its value is added. */
  readonly counts: boolean;
  /** Period of the clock in ps, at least 1. A cycle is a frame's time divided by it. */
  readonly periodPs: number;
}

/**
 * All that a summarizer does, if it does no more than add up: the compiled inner loop then does it in its place and hands on sums. Values
 * are u64 in u32 halves.
 */
export interface CycleSums {
  readonly fields: readonly SummedField[];
  /**
   * Least, greatest and total of the per-cycle sums that are not 0, of cycles in [firstCycle, firstCycle + 1024), a bucket that starts at a multiple
   * of 1024. May be called several times for one bucket.
   */
  addBucket(
    index: number,
    firstCycle: number,
    minLo: number,
    minHi: number,
    maxLo: number,
    maxHi: number,
    sumLo: number,
    sumHi: number,
  ): void;
  /** The cycle a field is in and its sum so far, which is forgotten here: somebody else continues with it. null when it is 0. */
  takeOpenCycle(index: number): { readonly cycle: bigint; readonly sum: bigint } | null;
}

export interface Summarizer {
  /** One byte per storage id: nonzero where the summarizer wants to see the ops. Read once, when the writer starts. */
  readonly watched: Uint8Array;

  /**
   * The only action on this field that `op` does anything with, 0 if none: the writer's inner loop leaves the other ops out.
   * Asked once per field, when the writer starts.
   */
  watchedAction(storageId: number, field: number): Action | 0;

  /** Set when nothing but sums per cycle is gathered. */
  readonly cycleSums?: CycleSums;

  /**
   * One op on a watched storage, in call order, before `endFrame` of its frame. `lo` and `hi` are the halves (u32) of the delta's value.
   * Called in the writer's inner loop: allocates nothing.
   */
  op(action: Action, storageId: number, slot: number, field: number, lo: number, hi: number): void;

  /** The frame is complete; its time in ps as two u32 halves. Only called for frames with at least one watched op. */
  endFrame(timeLo: number, timeHi: number): void;

  /** The frame is not: forget its ops. */
  abortFrame(): void;

  /** The summary of all frames so far. */
  finish(): TraceSummary;
}

export type SummarizerFactory = (schema: Schema) => Summarizer;

const SUMMARY_SHARE = 16;
const MIN_SUMMARY_BYTES = 4096;

/** Bytes that the summary may take in a file that is to be small: one that a flight recorder made, or one with the option `small`. */
export function summaryBudget(segmentBytes: number): number {
  return Math.max(MIN_SUMMARY_BYTES, Math.floor(segmentBytes / SUMMARY_SHARE));
}

/** The summary of a trace without summarizer (docs/reference/format.md#trace-summary). */
export const EMPTY_SUMMARY: TraceSummary = {
  baseIntervalCycles: 1024,
  fanOut: 4,
  totalInstructions: 0n,
  density: [],
  counters: [],
};
