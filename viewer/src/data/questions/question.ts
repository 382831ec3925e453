/** What a question to the trace is: one file of this folder each, entered in `table.ts`. */
import type * as cpu from 'uscope/cpu';
import type { TraceIndex } from 'uscope/trace-index';
import type { Trace } from '../library.js';
import type { TraceInfo } from '../protocol.js';

/** What a question is answered from. */
export interface QuestionContext {
  readonly trace: Trace;
  /** The core that the page shows; null: the trace has none. */
  readonly core: cpu.CpuCore | null;
  /** Length of a cycle of the axis. */
  readonly periodPs: bigint;
  readonly info: TraceInfo;
  /** null: the trace has none. */
  index(): Promise<TraceIndex | null>;
  /** null: the trace has none, and it has not been made yet. */
  indexNow(): TraceIndex | null;
}

/**
 * Answers with plain values and typed arrays that the caller may keep: their memory is transferred, so none of it may be kept here.
 * A UscopeError becomes the problem that the asker sees. The signal fires when the answer is not wanted any more.
 */
export type Question<A, R> = (args: A, context: QuestionContext, signal: AbortSignal) => Promise<R>;

/** What the index knows of the numbers of instructions: blocks need not count then. */
export function birthsOf(context: QuestionContext): Pick<cpu.BlockOptions, 'birthsBefore'> {
  const known = context.indexNow();
  return known ? { birthsBefore: (segment) => known.birthsBefore(context.info.core, segment) } : {};
}
