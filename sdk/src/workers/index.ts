/** Several threads that read the same trace, in Node and in browsers. */
import { processors, startThread } from '#platform/threads';
import { type WorkerOptions, WorkerPool } from './pool.js';

export type { StateColumns, StorageColumns } from '../reader/state-columns.js';
export type { ThreadOpenOptions } from './messages.js';
export {
  type GrowthListener,
  type RequestOptions,
  type TraceGrowth,
  type WorkerOptions,
  WorkerPool,
} from './pool.js';
export type { RequestKind, RequestTypes, TraceExtent, TraceInfo } from './requests.js';
export type { StartThread, Thread, ThreadListener } from './thread.js';

/** More threads than this share memory bandwidth rather than work. */
const MAX_THREADS = 8;

/**
 * A pool of threads over one trace, which answers when the trace is open.
 * @param from a path (Node) or http or https URL; a Blob or File; the bytes of a trace
 * @throws UscopeError as `openTrace`; READER_THREAD where no thread can be started
 */
export async function openWorkers(
  from: string | URL | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>,
  options: WorkerOptions = {},
): Promise<WorkerPool> {
  const pool = workersOf(from, options);
  try {
    await pool.request('info', null);
    return pool;
  } catch (error) {
    pool.close();
    throw error;
  }
}

/** The same, but nothing is started before there is work. */
export function workersOf(
  from: string | URL | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>,
  options: WorkerOptions = {},
): WorkerPool {
  const threads = options.threads ?? Math.max(1, Math.min(MAX_THREADS, processors()));
  const isPlace = typeof from === 'string' || from instanceof URL;
  // A Blob is not copied on its way to each thread.
  const location = isPlace
    ? ({ kind: 'place', place: String(from) } as const)
    : ({ kind: 'blob', blob: from instanceof Blob ? from : new Blob([from]), name: nameOf(from) } as const);
  return new WorkerPool(location, options.start ?? startThread, threads, options);
}

function nameOf(from: object): string | undefined {
  return 'name' in from && typeof from.name === 'string' ? from.name : undefined;
}
