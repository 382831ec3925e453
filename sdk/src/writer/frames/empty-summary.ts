/** The summary of a trace without summarizer (docs/reference/format.md#trace-summary). */
import type { TraceSummary } from '../../format/tsum.js';

export const EMPTY_SUMMARY: TraceSummary = {
  baseIntervalCycles: 1024,
  fanOut: 4,
  totalInstructions: 0n,
  density: [],
  counters: [],
};
