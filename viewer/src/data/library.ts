/** The reader, as the page uses it. */
import { blobSource, type FollowedSource, followedSource, type Trace } from 'uscope/reader';
import { MAX_DOWNLOAD_BYTES, observedFetch } from './observed-fetch.js';
import type { Problem, TraceOrigin } from './protocol.js';

export { openTrace, type Source, type Trace } from 'uscope/reader';
export type TraceSchema = Trace['schema'];

/** Between two looks at a trace that has nothing yet. */
const POLL_MS = 250;

/** Until a trace that is being written has its first segment. @throws as `trace.poll` */
export async function begun(trace: Trace): Promise<void> {
  while (!trace.isComplete && trace.segmentCount === 0) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    await trace.poll();
  }
}

/** @param report gets what the user should know of the server; without, somebody else has reported it */
export function sourceOf(
  origin: TraceOrigin,
  report: (problem: Problem) => void = () => undefined,
  writer: (isThere: boolean) => void = () => undefined,
): FollowedSource {
  if ('file' in origin) return { ...blobSource(origin.file), hasNews: async () => true };
  return followedSource(origin.url, {
    maxDownloadBytes: MAX_DOWNLOAD_BYTES,
    fetch: observedFetch(report, writer),
  });
}
