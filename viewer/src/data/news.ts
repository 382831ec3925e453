/** Whether a trace that is being written may have more: its server says so without sending any of it. */
import type { TraceOrigin } from './protocol.js';

/** A server that does not answer is the reader's to report. */
const PATIENCE_MS = 2000;
/** What servers say of the time of a write is not exact: now and then the trace itself is looked at. */
const TRUSTED_MS = 1000;
/** Between two looks at the trace of another server. */
const PLAIN_MS = 250;

/** @returns false: there is nothing new; true: there may be, or the server is none of `uscope view` */
export function newsOf(origin: TraceOrigin): () => Promise<boolean> {
  let known: string | null = null;
  let looked = 0;
  /** It says when the file was written. */
  let isMarked = true;
  return async () => {
    if ('file' in origin) return true;
    let mark: string | null = null;
    if (!isMarked) {
      if (performance.now() - looked < PLAIN_MS) return false;
      looked = performance.now();
      return true;
    }
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const { ok, headers } = await fetch(origin.url, { method: 'HEAD', cache: 'no-store', signal });
      mark = ok ? headers.get('uscope-mark') : null;
      isMarked = mark !== null || !ok;
      if (mark !== null) mark += headers.get('uscope-writer') + headers.get('etag')!;
    } catch {
      // The reader asks again, and reports it.
    }
    const now = performance.now();
    if (mark !== null && mark === known && now - looked < TRUSTED_MS) return false;
    known = mark;
    looked = now;
    return true;
  };
}
