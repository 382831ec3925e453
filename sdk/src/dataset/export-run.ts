/** Exports one run: the traces of one simulation, core by core, into the tables of a dataset. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { isHttpUrl } from '../reader/http-url.js';
import type { RunReport, RunWork } from './export-traces.js';
import { checkRunName } from './files/names.js';
import { joinedNames, readJoined } from './joined-runs.js';
import { openDataset, type RunRecord, readRecord, TABLES, type TableName } from './layout.js';
import type { LockWait } from './locks.js';
import { runAccess } from './own-dataset.js';
import { completeRuns, StagedRun } from './publish.js';
import type { StagedFiles } from './staged-files.js';
import { writeFailure } from './write-failure.js';

export interface RunExport extends Omit<RunWork, 'isAdding'> {
  /** Replace a run of that name that was made of other files. */
  readonly replace: boolean;
  /** Tables that the run has already stay, as long as its files have not changed. */
  readonly keep?: boolean | undefined;
  /** For another process that exports the run. */
  readonly wait?: LockWait | undefined;
}

/** What is to be done. */
interface Plan {
  readonly sources: RunRecord['sources'];
  /** Tables that the run has and keeps. */
  readonly kept: readonly string[];
  /** Tables to make. */
  readonly tables: readonly TableName[];
  readonly isAdding: boolean;
}

/**
 * @param work writes the files, in this thread or another one: locks and moves are this one's
 * @throws UscopeError DATASET_LAYOUT, DATASET_NAME, DATASET_RUN, DATASET_LOCKED, DATASET_WRITE; READER_* and FORMAT_* for a trace that cannot be opened
 */
export async function exportRun(
  root: string,
  request: RunExport,
  work: (staged: StagedFiles, request: RunWork) => Promise<RunReport>,
): Promise<RunReport> {
  checkRunName(request.run);
  const unchanged = {
    run: request.run,
    result: 'unchanged',
    cores: 0,
    instructions: 0,
    gaps: 0,
    rows: {},
  } as const;
  const sources = await sourcesOf(request.files);
  const access = await runAccess(request.files);
  await openDataset(root, access);
  await completeRuns(root);
  if ((await planOf(root, sources, request)) === null) return unchanged;
  const staged = await StagedRun.begin(root, request.run, request.wait ?? {});
  try {
    // Again: the process that was waited for may have made the run.
    const plan = await planOf(root, await sourcesOf(request.files), request);
    if (plan === null) {
      await staged.abandon();
      return unchanged;
    }
    const { tables, isAdding, kept } = plan;
    const { run, window, tags, wait: _, ...rest } = request;
    const report = await work(staged.files, { ...rest, run, window, tags, tables, isAdding });
    const record = { run, sources: plan.sources, tables: [...kept, ...tables], window, tags };
    await staged.publish(record, isAdding ? tables : null, access);
    return report;
  } catch (error) {
    throw writeError(error, root, await staged.abandon());
  }
}

/** null: the run is there already. @throws UscopeError DATASET_RUN */
async function planOf(root: string, sources: RunRecord['sources'], request: RunExport): Promise<Plan | null> {
  const there = await readRecord(root, request.run);
  if (there) checkSources(root, there, sources, request);
  const isSame = there !== null && sameRun(there, { sources, window: request.window, tags: request.tags });
  const missing = request.tables.filter((table) => !isSame || !there.tables.includes(table));
  const isExtra =
    isSame && !request.keep && there.tables.some((table) => !request.tables.includes(table as TableName));
  if (missing.length === 0 && !isExtra) return null;
  if (!isSame || !request.keep) return { sources, kept: [], tables: request.tables, isAdding: false };
  // Joined files are those of many runs: nothing is added to them.
  if (!joinedNames(await readJoined(root)).has(request.run))
    return { sources, kept: there.tables, tables: missing, isAdding: true };
  const tables = TABLES.filter((table) => there.tables.includes(table) || missing.includes(table));
  return { sources, kept: [], tables, isAdding: false };
}

async function sourcesOf(files: readonly string[]): Promise<RunRecord['sources']> {
  return Promise.all(
    files.map(async (file) => {
      if (isHttpUrl(file)) return { path: file, bytes: -1, modifiedMs: -1 };
      const found = await stat(file).catch((cause) => {
        throw new UscopeError('READER_OPEN', `the file cannot be read: ${(cause as Error).message}`, {
          file,
        });
      });
      return { path: resolve(file), bytes: found.size, modifiedMs: Math.floor(found.mtimeMs) };
    }),
  );
}

function checkSources(
  root: string,
  there: RunRecord,
  sources: RunRecord['sources'],
  { run, replace }: RunExport,
): void {
  const paths = (of: RunRecord['sources']): string =>
    of
      .map(({ path }) => path)
      .sort()
      .join('\n');
  if (replace || paths(there.sources) === paths(sources)) return;
  throw new UscopeError(
    'DATASET_RUN',
    `the dataset has a run "${run}" of other traces (${there.sources[0]?.path ?? 'none'}); choose another name with --run, or --replace it`,
    { file: root },
  );
}

/** Whether the run was exported of these very files, in the same way. A file of the network may have changed: nobody says. */
function sameRun(there: RunRecord, wanted: Pick<RunRecord, 'sources' | 'window' | 'tags'>): boolean {
  const key = ({ sources, window, tags }: Pick<RunRecord, 'sources' | 'window' | 'tags'>): string =>
    JSON.stringify([sources, window, Object.entries(tags).sort()]);
  return wanted.sources.every(({ bytes }) => bytes >= 0) && key(there) === key(wanted);
}

function writeError(error: unknown, root: string, isAbandoned: boolean): unknown {
  if (isUscopeError(error) && !error.code.startsWith('WRITER_')) return error;
  const hint = writeFailure(error, 'export again');
  return new UscopeError(
    'DATASET_WRITE',
    isAbandoned
      ? `the run was not exported, the dataset is as before: ${hint}`
      : `the run was written, and not moved to its place; the next export or query does that: ${hint}`,
    { file: root },
    { cause: error },
  );
}
