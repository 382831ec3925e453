/** The reader, as the page uses it. */
import type { Trace } from 'uscope/reader';

export { blobSource, httpSource, openTrace, type Source, type Trace } from 'uscope/reader';
export type TraceSchema = Trace['schema'];
