/** The reader, as the page uses it. */
import { blobSource, httpSource, type Source, type Trace } from 'uscope/reader';
import type { TraceOrigin } from './protocol.js';

export { openTrace, type Source, type Trace } from 'uscope/reader';
export type TraceSchema = Trace['schema'];

export function sourceOf(origin: TraceOrigin): Source {
  return 'file' in origin ? blobSource(origin.file) : httpSource(origin.url);
}
