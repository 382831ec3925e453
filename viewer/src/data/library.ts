/** The reader, as the page uses it. */

export { blobSource, httpSource, openTrace, type Source, type Trace } from 'uscope/reader';
