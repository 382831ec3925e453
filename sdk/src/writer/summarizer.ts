/**
 * What gathers the trace summary (TSUM, §6) as frames pass. The writer knows no CPU: a protocol implements this and is injected.
 */
import type { TraceSummary } from '../format/tsum.js';
import type { Action, Schema } from '../format/types.js';

export interface Summarizer {
  /** One byte per storage id: nonzero where the summarizer wants to see the ops. Read once, when the writer starts. */
  readonly watched: Uint8Array;

  /**
   * The only action on this field that `op` does anything with, 0 if none: the writer's inner loop leaves the other ops out.
   * Asked once per field, when the writer starts.
   */
  watchedAction(storageId: number, field: number): Action | 0;

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
