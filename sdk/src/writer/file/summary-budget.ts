/** How large the summary may be of a file that is to be small: one that a flight recorder made, or one with the option `small`. */
const SUMMARY_SHARE = 16;
const MIN_SUMMARY_BYTES = 4096;

/** Bytes that the summary of this number of bytes of segments may take. */
export function summaryBudget(segmentBytes: number): number {
  return Math.max(MIN_SUMMARY_BYTES, Math.floor(segmentBytes / SUMMARY_SHARE));
}
