/** What is asked: datasets as they are, and traces as datasets that are kept beside them until they change. */

import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import {
  exportAside,
  isDataset,
  makeScratch,
  openWhole,
  runAccess,
  type Scratch,
  type TableName,
} from '../../dataset/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { directoryMode } from '../../writer/output/file-access.js';
import { ioError } from '../../writer/output/output-file.js';
import { distrustOf, ownUid } from '../../writer/output/own-file.js';
import { io } from '../common/io.js';
import { parseSize } from '../common/option-values.js';
import { type RunFiles, runsOf } from './run-directories.js';

const CACHE = '.uscope-sql';
const WINDOW = 10_000;
const LOOK_MS = 50;

export interface Limits {
  /** Such as `2GB`. */
  readonly memory?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export class SqlSources {
  /** Where the tables of a run are, by its directory. */
  private readonly places = new Map<string, string>();
  private scratch: Scratch | null = null;

  /** @param run name of the run, where the sources are the traces of one */
  constructor(
    readonly paths: readonly string[],
    private readonly run: string | undefined,
    private readonly limits: Limits,
  ) {}

  /** The datasets to read. Of traces only the tables are made that may be needed. @throws UscopeError */
  async datasets(tables: readonly TableName[], signal: AbortSignal): Promise<string[]> {
    const datasets = new Set<string>();
    const runs: RunFiles[] = [];
    for (const path of this.paths) {
      if (isHttpUrl(path))
        throw new UscopeError(
          'CLI_USAGE',
          `export the trace first, since it has no directory to keep tables in: ${path}`,
        );
      if ((await isDirectory(path)) && (await isDataset(path))) {
        await openWhole(path);
        datasets.add(path);
      } else appendAll(runs, await runsOf([path]));
    }
    if (this.run !== undefined && (runs.length !== 1 || datasets.size > 0))
      throw new UscopeError('CLI_USAGE', '--run names the run of one trace, or of one directory with traces');
    for (const { run, files } of runs) datasets.add(await this.made(this.run ?? run, files, tables, signal));
    return [...datasets];
  }

  async close(): Promise<void> {
    await this.scratch?.remove();
  }

  private async made(
    run: string,
    files: readonly string[],
    tables: readonly TableName[],
    signal: AbortSignal,
  ): Promise<string> {
    const directory = dirname(files[0]);
    const place = this.places.get(directory) ?? (await this.placeOf(run, directory, files));
    this.places.set(directory, place);
    const request = { run, files, tables, window: WINDOW, tags: {}, replace: true, keep: true };
    await withLimits(this.limits, signal, (either) =>
      exportAside(place, { ...request, wait: { waitMs: Infinity, signal: either } }, either),
    );
    return place;
  }

  private async placeOf(run: string, directory: string, files: readonly string[]): Promise<string> {
    const cache = join(directory, CACHE);
    try {
      await openCache(cache, files);
      // By name: a directory that was renamed or copied still has the tables of its former name, which are another run's.
      return join(cache, run);
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      io.err(
        `uscope: note: ${error.code}: ${error.detail}; the tables are made in a temporary directory, for this command only (${cache})`,
      );
      this.scratch ??= await makeScratch('sql');
      return join(this.scratch.path, String(this.places.size), run);
    }
  }
}

/**
 * The directory for tables beside a trace, which nobody else may have written or can read who may not read the trace.
 * @throws UscopeError READER_UNTRUSTED, WRITER_*
 */
async function openCache(cache: string, files: readonly string[]): Promise<void> {
  const traces = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const stranger = traces.find((trace) => trace && trace.uid !== ownUid());
  if (stranger) throw new UscopeError('READER_UNTRUSTED', `the trace belongs to user ${stranger.uid}`);
  const mode = directoryMode((await runAccess(files)).mode);
  try {
    await mkdir(cache, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw ioError(error, cache);
  }
  const why = await distrustBelow(cache);
  if (why !== null) throw new UscopeError('READER_UNTRUSTED', `${why}; remove it, or check who made it`);
  // One of an early release, or of a trace that more people could read then.
  const found = await lstat(cache);
  if ((found.mode & 0o777 & ~mode) !== 0) await chmod(cache, found.mode & mode);
}

/** Why a directory with all that is in it may be another user's; null: it is not. */
async function distrustBelow(path: string): Promise<string | null> {
  const found = await lstat(path);
  const isDirectory = found.isDirectory();
  const why = isDirectory || found.isFile() ? distrustOf(found) : 'it is not an ordinary file or directory';
  if (why !== null) return `${path} is not used: ${why}`;
  if (!isDirectory) return null;
  for (const name of await readdir(path)) {
    const inside = await distrustBelow(join(path, name)).catch(unlessGone);
    if (inside !== null) return inside;
  }
  return null;
}

function unlessGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Time and memory of making tables. */
async function withLimits<T>(
  { memory, timeoutMs }: Limits,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = new AbortController();
  const exceed = (code: 'DATASET_TIMEOUT' | 'DATASET_QUERY', what: string): void =>
    limits.abort(
      new UscopeError(code, `${what}; raise it, or make a dataset of the trace first, with uscope export`),
    );
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(exceed, timeoutMs, 'DATASET_TIMEOUT', 'to make the tables took longer than --timeout');
  const most = memory === undefined ? null : parseSize(memory);
  const before = process.memoryUsage.rss();
  const look = (): void => {
    if (most !== null && process.memoryUsage.rss() - before > most)
      exceed('DATASET_QUERY', 'to make the tables took more than --memory');
  };
  const looks = most === null ? undefined : setInterval(look, LOOK_MS);
  try {
    return await work(AbortSignal.any([signal, limits.signal]));
  } finally {
    clearTimeout(timer);
    clearInterval(looks);
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
