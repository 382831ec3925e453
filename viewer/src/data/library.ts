/** The reader, as the page uses it. */
import { blobSource, httpSource, type Source, type Trace } from 'uscope/reader';
import { MAX_DOWNLOAD_BYTES, observedFetch } from './observed-fetch.js';
import type { Problem, TraceOrigin } from './protocol.js';

export { openTrace, type Source, type Trace } from 'uscope/reader';
export type TraceSchema = Trace['schema'];

/** @param report gets what the user should know of the server; without, somebody else has reported it */
export function sourceOf(origin: TraceOrigin, report: (problem: Problem) => void = () => undefined): Source {
  if ('file' in origin) return blobSource(origin.file);
  return httpSource(origin.url, { maxDownloadBytes: MAX_DOWNLOAD_BYTES, fetch: observedFetch(report) });
}
