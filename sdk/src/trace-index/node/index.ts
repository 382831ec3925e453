/** The index of a trace in Node: in the trace, or in the file beside it. */
import { lstat, stat } from 'node:fs/promises';
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
  return openIndex(trace, { sidecar: () => trustedSidecar(trace, pathOrUrl, sidecarPath(pathOrUrl)) });
}

/** As `openSidecar`; null, and a warning, also where somebody may have written it who cannot write the trace. */
export async function trustedSidecar(trace: Trace, pathOrUrl: string, path: string): Promise<Source | null> {
  const why = isHttpUrl(path) ? null : await distrustOfSidecar(pathOrUrl, path);
  if (why === null) return openSidecar(path);
  trace.warn('index-foreign', `${path} is not used: ${why}; remove it, and "uscope index" makes a new one`);
  return null;
}

async function distrustOfSidecar(trace: string, path: string): Promise<string | null> {
  const [link, file, source] = await Promise.all(
    [lstat(path), stat(path), stat(trace)].map((found) => found.catch(() => null)),
  );
  if (!link || !file) return null;
  const { ownUid } = await import('../../writer/output/own-file.js'); // most traces have no sidecar
  const trusted = [ownUid(), 0, source?.uid];
  const stranger = [link.uid, file.uid].find((uid) => !trusted.includes(uid));
  if (stranger !== undefined) return `it belongs to user ${stranger}`;
  const writers = file.mode & 0o022;
  return (writers & ~(source?.mode ?? 0)) === 0 ? null : 'others may write it';
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
