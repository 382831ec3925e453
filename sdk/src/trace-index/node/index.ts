/** The index of a trace in Node: in the trace, or in the file beside it. */
import { stat } from 'node:fs/promises';
import { UscopeError } from '../../base/errors.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Source, Trace } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';
import { openIndex } from '../questions/open-index.js';
import type { TraceIndex } from '../questions/trace-index.js';

/** Path or URL of the sidecar of a trace. */
export function sidecarPath(pathOrUrl: string): string {
  if (!isHttpUrl(pathOrUrl)) return `${pathOrUrl}.idx`;
  const url = new URL(pathOrUrl);
  url.pathname += '.idx';
  return url.href;
}

/** As `openIndex`, with the sidecar of the path or URL that the trace was opened by. To be closed. */
export function openIndexOf(trace: Trace, pathOrUrl: string): Promise<TraceIndex | null> {
  return openIndex(trace, { sidecar: () => openSidecar(sidecarPath(pathOrUrl)) });
}

/** The file beside a trace, by the path or URL of `sidecarPath`. null: there is none. */
export async function openSidecar(path: string): Promise<Source | null> {
  if (!isHttpUrl(path)) {
    const there = await stat(path).catch(() => null);
    return there?.isFile() ? openSource(path) : null;
  }
  const source = await openSource(path);
  try {
    await source.size();
    return source;
  } catch (error) {
    await source.close?.();
    if (error instanceof UscopeError && error.code === 'READER_HTTP_STATUS') return null;
    throw error;
  }
}
