/** What an index may take of its trace: containers and directory together. */

/** Of a trace with small segments, to which the parts of every container add up, more. */
const MAX_SHARE = 0.03;
const MAX_SHARE_OF_SMALL = 0.05;
/** Of these, what is left to the directory: without levels of the whole trace, a picture of it takes all containers. */
const DIRECTORY_SHARE_OF_SMALL = 0.003;
const SMALL_BYTES = 64 * 1024;

/** @param segmentBytes the mean of the trace's segments */
export function maxShare(segmentBytes: number): number {
  return segmentBytes < SMALL_BYTES ? MAX_SHARE_OF_SMALL : MAX_SHARE;
}

/** Of the container of a segment of this size. */
export function maxContainerShare(segmentBytes: number): number {
  return maxShare(segmentBytes) - (segmentBytes < SMALL_BYTES ? DIRECTORY_SHARE_OF_SMALL : 0);
}
