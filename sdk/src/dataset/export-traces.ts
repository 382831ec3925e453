/** Writes the files of one run, trace after trace. */
import { isUscopeError } from '../base/errors.js';
import { openTraceFile } from '../reader/node.js';
import { exportTrace } from './export-trace.js';
import type { TableName } from './layout.js';
import type { StagedFiles } from './staged-files.js';

export interface RunWork {
  readonly run: string;
  /** Paths or URLs of its traces. */
  readonly files: readonly string[];
  readonly tables: readonly TableName[];
  /** Cycles of a window of `counters`. */
  readonly window: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Only tables that the run did not have. */
  readonly isAdding: boolean;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

export interface RunReport {
  readonly run: string;
  readonly result: 'exported' | 'unchanged';
  readonly cores: number;
  readonly instructions: number;
  readonly gaps: number;
  /** Of each table that has some. */
  readonly rows: Readonly<Record<string, number>>;
}

/** @throws UscopeError READER_* and FORMAT_* for a trace that cannot be opened; what the file system says */
export async function exportTraces(staged: StagedFiles, request: RunWork): Promise<RunReport> {
  let [cores, instructions, gaps] = [0, 0, 0];
  const rows: Record<string, number> = {};
  const used = new Set<string>();
  for (const [index, file] of request.files.entries()) {
    const trace = await openTraceFile(file);
    try {
      const done = await exportTrace(staged, trace, {
        file,
        tables: request.tables,
        window: request.window,
        tags: request.tags,
        isAdding: request.isAdding,
        usedNames: used,
        rows,
        onProgress: (fraction) => request.onProgress?.((index + fraction) / request.files.length),
      });
      cores += done.cores;
      instructions += done.instructions;
      gaps += done.gaps;
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file }) : error;
    } finally {
      await trace.close();
    }
  }
  return { run: request.run, result: 'exported', cores, instructions, gaps, rows };
}
