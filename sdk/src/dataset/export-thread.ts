/** A thread that writes the files of one run after the other. */
import { parentPort } from 'node:worker_threads';
import { isUscopeError } from '../base/errors.js';
import { exportTraces, type RunReport, type RunWork } from './export-traces.js';
import { StagedFiles } from './staged-files.js';

export interface ExportJob {
  /** Where the files go. */
  readonly path: string;
  readonly request: Omit<RunWork, 'onProgress'>;
}

export type ExportAnswer =
  | { readonly fraction: number }
  | { readonly report: RunReport }
  | {
      readonly error: {
        readonly code: string | null;
        readonly detail: string;
        readonly file?: string | undefined;
      };
    };

/** Between two notices of how far it is. */
const NOTICE_MS = 100;

const port = parentPort;
port?.on('message', async ({ path, request }: ExportJob) => {
  const answer = (message: ExportAnswer): void => port.postMessage(message);
  let last = 0;
  const onProgress = (fraction: number): void => {
    const now = performance.now();
    if (now - last < NOTICE_MS) return;
    last = now;
    answer({ fraction });
  };
  try {
    const staged = new StagedFiles(path, request.run);
    answer({ report: await exportTraces(staged, { ...request, onProgress }) });
  } catch (error) {
    if (isUscopeError(error))
      answer({ error: { code: error.code, detail: error.detail, file: error.place.file } });
    else
      answer({
        error: {
          code: null,
          detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
        },
      });
  }
});
