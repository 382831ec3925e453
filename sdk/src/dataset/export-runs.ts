/** Exports many runs, several at a time, each on a thread. A run that fails does not keep the others from the dataset. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../base/codes.js';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { exportRun, type RunExport } from './export-run.js';
import type { ExportAnswer, ExportJob } from './export-thread.js';
import { exportTraces, type RunReport, type RunWork } from './export-traces.js';

const IS_SOURCE = import.meta.url.endsWith('.ts');
const THREAD = new URL(IS_SOURCE ? './export-thread.ts' : './export-thread.js', import.meta.url);

export interface RunFailure {
  readonly run: string;
  readonly error: { readonly code: string; readonly detail: string; readonly file?: string | undefined };
}

export interface RunsOptions {
  /** Runs at a time; default: the cores of the machine. */
  readonly jobs?: number | undefined;
  /** How much of all runs is done, 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /** In the order in which they end. */
  readonly onRun?: ((result: RunReport | RunFailure) => void) | undefined;
}

/** @returns in the order of the requests @throws what is not a UscopeError */
export async function exportRuns(
  root: string,
  requests: readonly RunExport[],
  { jobs = availableParallelism(), onProgress, onRun }: RunsOptions = {},
): Promise<(RunReport | RunFailure)[]> {
  const fractions = new Float64Array(requests.length);
  const results: (RunReport | RunFailure)[] = [];
  const note = (index: number, fraction: number): void => {
    fractions[index] = fraction;
    onProgress?.(fractions.reduce((sum, one) => sum + one, 0) / requests.length);
  };
  const count = Math.max(1, Math.min(jobs, requests.length));
  const threads = count > 1 ? Array.from({ length: count }, () => new ExportThread()) : [];
  let next = 0;
  const work = async (thread: ExportThread | null): Promise<void> => {
    for (let index = next++; index < requests.length; index = next++) {
      const request = { ...requests[index], onProgress: (fraction: number) => note(index, fraction) };
      const result = await exportRun(root, request, (staged, work) =>
        thread ? thread.run(staged.path, work) : exportTraces(staged, work),
      ).catch((error) => failureOf(request.run, error));
      results[index] = result;
      note(index, 1);
      onRun?.(result);
    }
  };
  try {
    await Promise.all(threads.length > 0 ? threads.map(work) : [work(null)]);
  } finally {
    for (const thread of threads) thread.end();
  }
  return results;
}

/** One run, in this thread. @throws UscopeError as `exportRun` */
export function exportOneRun(root: string, request: RunExport): Promise<RunReport> {
  return exportRun(root, request, exportTraces);
}

/**
 * One run, on a separate thread, so that this one is not held up.
 * @param signal ends it: the dataset is then as before
 * @throws UscopeError as `exportRun`; when the signal is raised, its reason, or DATASET_TIMEOUT
 */
export async function exportAside(root: string, request: RunExport, signal: AbortSignal): Promise<RunReport> {
  const thread = new ExportThread();
  const interrupt = (): void => thread.end();
  signal.addEventListener('abort', interrupt);
  try {
    return await exportRun(root, request, (staged, work) => {
      signal.throwIfAborted();
      return thread.run(staged.path, work);
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    if (isUscopeError(signal.reason)) throw signal.reason;
    throw new UscopeError('DATASET_TIMEOUT', 'the question was interrupted', {}, { cause: error });
  } finally {
    signal.removeEventListener('abort', interrupt);
    thread.end();
  }
}

function failureOf(run: string, error: unknown): RunFailure {
  if (!isUscopeError(error)) throw error;
  return { run, error: { code: error.code, detail: error.detail, file: error.place.file } };
}

class ExportThread {
  private worker: Worker | null = null;
  /** Of the run that is being exported. */
  private settle: ((answer: ExportAnswer | { readonly died: unknown }) => void) | null = null;

  run(path: string, { onProgress, ...request }: RunWork): Promise<RunReport> {
    this.worker ??= this.start();
    const { worker } = this;
    return new Promise((resolve, reject) => {
      this.settle = (answer) => {
        if ('fraction' in answer) onProgress?.(answer.fraction);
        else if ('report' in answer) resolve(answer.report);
        else if ('error' in answer) reject(errorOf(answer.error));
        else {
          const detail = 'a thread that exported the run died; export it again';
          reject(new UscopeError('DATASET_WRITE', detail, {}, { cause: answer.died }));
        }
      };
      worker.postMessage({ path, request: { ...request, files: [...request.files] } } satisfies ExportJob);
    });
  }

  end(): void {
    void this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(THREAD, IS_SOURCE ? {} : { execArgv: [] });
    const died = (cause: unknown): void => {
      this.worker = null;
      this.settle?.({ died: cause });
    };
    worker.on('message', (answer: ExportAnswer) => this.settle?.(answer));
    worker.on('error', died);
    worker.on('exit', (status) => died(new Error(`exit status ${status}`)));
    return worker;
  }
}

function errorOf({
  code,
  detail,
  file,
}: {
  code: string | null;
  detail: string;
  file?: string | undefined;
}): Error {
  return code === null ? new Error(detail) : new UscopeError(code as ErrorCode, detail, { file });
}
