/** Joins the files of many runs: a farm leaves thousands of small ones, and an engine opens each of them. */

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import type { PathLock } from '../../writer/output/path-lock.js';
import { type Connection, type Engine, loadEngine, named, quoted } from '../engine/duckdb.js';
import { KEYS, nameInPartition, partition } from '../files/names.js';
import { type JoinCommit, publishJoin } from '../join-commit.js';
import { type JoinedGroup, joinedNames, readJoined } from '../joined-runs.js';
import { JOINED, openDataset, STAGING } from '../layout.js';
import { lockJoin, tryLockRun } from '../locks.js';
import { checkOwn, makeShared, runAccess } from '../own-dataset.js';
import { UNSIGNED_KEY } from '../parquet/parquet-file.js';
import { completeRuns } from '../publish.js';
import { syncOne } from '../sync.js';
import { unsignedQuery } from '../unsigned.js';
import { rowsOf } from '../views.js';
import { writeFailure } from '../write-failure.js';
import { filesBelow, listRuns } from './runs.js';

/** Files of one group together, about. */
const GROUP_BYTES = 128 * 2 ** 20;
/** Locks are held for each of them. */
const GROUP_RUNS = 500;
/** A run with more has files that are large enough. */
const RUN_BYTES = 64 * 2 ** 20;
const MEMORY = '400MB';
/** What the engine writes is like what an export writes. */
const PARQUET = 'FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880';
const WAIT_MS = 30_000;

export interface CompactOptions {
  /** Only groups with rows of runs that were removed or exported again. */
  readonly onlyDropped?: boolean;
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /** How long to wait for questions that read the files of before. */
  readonly waitMs?: number;
}

export interface Compaction {
  readonly runs: number;
  readonly filesBefore: number;
  readonly filesAfter: number;
}

/** Rows that go into a group: those of a run, or of a group of before. */
interface Source {
  readonly runs: readonly string[];
  readonly bytes: number;
  /** Directories of a run, or files of a group. */
  readonly parts: readonly string[];
  readonly group: JoinedGroup | null;
}

/** @throws UscopeError DATASET_LAYOUT, DATASET_LOCKED while another process joins files, DATASET_WRITE */
export async function compactDataset(
  { api }: Engine,
  root: string,
  { onlyDropped = false, onProgress, waitMs = WAIT_MS }: CompactOptions = {},
): Promise<Compaction> {
  await openDataset(root);
  await checkOwn(root);
  await makeShared(root, STAGING);
  await completeRuns(root);
  const lock = await lockJoin(root);
  const spill = join(root, STAGING, 'spill');
  let instance: import('@duckdb/node-api').DuckDBInstance | null = null;
  try {
    await rm(spill, { recursive: true, force: true });
    await mkdir(spill, { mode: 0o700 });
    instance = await api.DuckDBInstance.create(':memory:', { memory_limit: MEMORY, temp_directory: spill });
    const connection = await instance.connect();
    const work = new Joining(root, connection, lock, waitMs);
    const groups = groupsOf(await sourcesOf(root, onlyDropped));
    for (const [index, sources] of groups.entries()) {
      await work.join(sources);
      onProgress?.((index + 1) / groups.length);
    }
    return work.done;
  } catch (error) {
    if (error instanceof UscopeError) throw error;
    const detail = `the files were not joined, the dataset is as before: ${writeFailure(error, 'join them again')}`;
    throw new UscopeError('DATASET_WRITE', detail, { file: root }, { cause: error });
  } finally {
    instance?.closeSync();
    await rm(spill, { recursive: true, force: true }).catch(() => {});
    lock.release();
  }
}

/** Takes rows out of joined files that no longer count: other engines read the files as they are. */
export async function purgeJoined(root: string): Promise<void> {
  const { groups } = await readJoined(root);
  if (!groups.some(({ dropped }) => dropped.length > 0)) return;
  await compactDataset(await loadEngine(), root, { onlyDropped: true });
}

async function sourcesOf(root: string, onlyDropped: boolean): Promise<Source[]> {
  const joined = await readJoined(root);
  const sources: Source[] = [];
  for (const group of joined.groups) {
    const sizes = await Promise.all(group.files.map(async (file) => (await stat(join(root, file))).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const isSmall = bytes < GROUP_BYTES / 2 && group.runs.length < GROUP_RUNS / 2;
    if (group.dropped.length > 0 || (isSmall && !onlyDropped))
      sources.push({ runs: group.runs, bytes, parts: group.files, group });
  }
  if (onlyDropped) return sources;
  const names = joinedNames(joined);
  for (const { run, record, parts, bytes } of await listRuns(root))
    if (record !== null && parts.length > 0 && bytes < RUN_BYTES && !names.has(run))
      sources.push({ runs: [run], bytes, parts, group: null });
  return sources;
}

/** In the order in which they are, as long as they are not too large. */
function groupsOf(sources: readonly Source[]): Source[][] {
  const groups: Source[][] = [];
  let [bytes, runs] = [0, 0];
  for (const source of sources) {
    const last = groups.at(-1);
    if (last && bytes + source.bytes <= GROUP_BYTES && runs + source.runs.length <= GROUP_RUNS)
      last.push(source);
    else {
      groups.push([source]);
      [bytes, runs] = [0, 0];
    }
    bytes += source.bytes;
    runs += source.runs.length;
  }
  // One alone is joined already, or has nothing to be joined with.
  return groups.filter((group) => group.length > 1 || group[0].group?.dropped.length);
}

class Joining {
  private runs = 0;
  private filesBefore = 0;
  private filesAfter = 0;

  constructor(
    private readonly root: string,
    private readonly connection: Connection,
    private readonly lock: PathLock,
    private readonly waitMs: number,
  ) {}

  get done(): Compaction {
    return { runs: this.runs, filesBefore: this.filesBefore, filesAfter: this.filesAfter };
  }

  async join(wanted: readonly Source[]): Promise<void> {
    const locks: PathLock[] = [];
    const staged = join(this.root, STAGING, `~join~${randomBytes(8).toString('hex')}`);
    try {
      const sources: Source[] = [];
      for (const source of wanted) if (await this.hold(source, locks)) sources.push(source);
      if (sources.length === 0 || (sources.length === 1 && !sources[0].group?.dropped.length)) return;
      await mkdir(staged, { mode: 0o700 });
      const commit = await this.write(staged, sources);
      await publishJoin(this.root, staged, commit, this.lock, this.waitMs);
      this.runs += commit.group?.runs.length ?? 0;
    } catch (error) {
      // After the commit the next process completes it.
      if (!(await readdir(staged).catch(() => [] as string[])).includes('join.json'))
        await rm(staged, { recursive: true, force: true });
      throw error;
    } finally {
      for (const lock of locks) lock.release();
    }
  }

  /** Runs that are being exported are left for another time; so are those that have changed since they were listed. */
  private async hold({ runs, parts, group }: Source, locks: PathLock[]): Promise<boolean> {
    const held: PathLock[] = [];
    for (const run of runs) {
      const lock = await tryLockRun(this.root, run);
      if (lock) held.push(lock);
    }
    appendAll(locks, held);
    if (held.length < runs.length) return false;
    const { groups } = await readJoined(this.root);
    if (group) {
      const now = groups.find(({ name }) => name === group.name);
      return now?.runs.length === runs.length && now.dropped.length === group.dropped.length;
    }
    const there = await Promise.all(
      parts.map((part) =>
        stat(join(this.root, part)).then(
          () => true,
          () => false,
        ),
      ),
    );
    return there.every(Boolean);
  }

  private async write(staged: string, sources: readonly Source[]): Promise<JoinCommit> {
    const name = `group-${randomBytes(6).toString('hex')}`;
    const tables = new Map<string, Source[]>();
    for (const source of sources) {
      for (const part of source.parts) {
        const place = placeOf(part);
        const list = tables.get(place) ?? [];
        if (!list.includes(source)) list.push(source);
        tables.set(place, list);
      }
    }
    const files: string[] = [];
    for (const [place, from] of [...tables].sort()) {
      const file = `${JOINED}/${place}/${name}.parquet`;
      if (await this.writeTable(join(staged, file), place, from)) files.push(file);
    }
    this.filesAfter += files.length;
    const runs = sources.flatMap((source) => source.runs);
    return {
      group: runs.length > 0 ? { name, runs, dropped: [], files } : null,
      replaces: sources.flatMap(({ group }) => (group ? [group.name] : [])),
      removed: sources.flatMap(({ group, runs: [run], parts }) =>
        group ? [] : parts.map((part) => ({ run, part })),
      ),
      removedFiles: sources.flatMap(({ group }) => group?.files ?? []),
      generation: null,
    };
  }

  /** @returns false: there are no rows */
  private async writeTable(path: string, place: string, sources: readonly Source[]): Promise<boolean> {
    const [table] = place.split('/');
    const parts: PartFile[] = [];
    const joined: string[] = [];
    const selects: string[] = [];
    for (const { runs, group, parts: all } of sources) {
      const mine = all.filter((part) => placeOf(part) === place).map((part) => join(this.root, part));
      if (group) {
        appendAll(joined, mine);
        const dropped = group.dropped.map(quoted).join(', ');
        selects.push(`${rowsOf(mine, [], false)}${dropped && ` WHERE run NOT IN (${dropped})`}`);
      } else for (const directory of mine) appendAll(parts, await partFiles(directory, runs[0]));
    }
    const ofGroups = selects.join(' UNION ALL BY NAME ');
    const paths = parts.map((part) => part.path);
    this.filesBefore += joined.length + paths.length;
    const expected = new Map([
      ...(ofGroups === '' ? [] : await this.rowsOfCores(`(${ofGroups})`)),
      ...(await this.rowsOfParts(parts)),
    ]);
    if (expected.size === 0) return false;
    if (paths.length > 0) selects.push(runRows(paths, KEYS[table]));
    await mkdir(dirname(path), { recursive: true });
    await this.connection.run(
      `COPY (${selects.join(' UNION ALL BY NAME ')}) TO ${quoted(path)} (${PARQUET}${await this.unsigned([...joined, ...paths])})`,
    );
    const written = await this.rowsOfCores(`read_parquet(${quoted(path)}, hive_partitioning = false)`);
    const wrong = [...expected].find(([core, rows]) => written.get(core) !== rows);
    if (wrong || written.size > expected.size)
      throw new Error(
        `${place} does not have the rows of before: ${wrong ? `${wrong[0]} has ${written.get(wrong[0]) ?? 0} rows and had ${wrong[1]}` : 'it has rows of other runs'}`,
      );
    await syncOne(path, await runAccess([...joined, ...paths]));
    return true;
  }

  /** How many rows each run and core has, by the rows themselves. */
  private async rowsOfCores(from: string): Promise<Map<string, bigint>> {
    const found = await this.connection.runAndReadAll(
      `SELECT run, core, count(*) FROM ${from} GROUP BY ALL ORDER BY ALL`,
    );
    return new Map(found.getRows().map(([run, core, rows]) => [coreName(run, core), rows as bigint]));
  }

  /** The same by the directories and the footers of files. */
  private async rowsOfParts(parts: readonly PartFile[]): Promise<Map<string, bigint>> {
    const rows = new Map<string, bigint>();
    if (parts.length === 0) return rows;
    const cores = new Map(parts.map(({ path, core }) => [path, core]));
    const found = await this.connection.runAndReadAll(
      `SELECT file_name, num_rows FROM parquet_file_metadata([${[...cores.keys()].map(quoted).join(', ')}])`,
    );
    for (const [path, count] of found.getRows()) {
      const core = cores.get(String(path)) ?? '';
      if (count !== 0n) rows.set(core, (rows.get(core) ?? 0n) + (count as bigint));
    }
    return rows;
  }

  /** What the files say of their columns, as an option of COPY. */
  private async unsigned(paths: readonly string[]): Promise<string> {
    if (paths.length === 0) return '';
    const found = await this.connection.runAndReadAll(unsignedQuery(paths.map(quoted)));
    const names = found.getRows().map(([name]) => String(name));
    return names.length === 0 ? '' : `, KV_METADATA {${quoted(UNSIGNED_KEY)}: ${quoted(names.join(','))}}`;
  }
}

/** Rows of runs' directories, with `run` and `core` as columns. The partition above stays one. */
function runRows(paths: readonly string[], key: string | undefined): string {
  if (key === undefined) return rowsOf(paths, ['run', 'core'], true);
  return `SELECT * EXCLUDE (${named(key)}) FROM (${rowsOf(paths, [key, 'run', 'core'], true)})`;
}

const coreName = (run: unknown, core: unknown): string => `run ${run}, core ${core}`;

/** Table and key of a run's directory, or of a joined file: `events/event=E`. */
function placeOf(part: string): string {
  const steps = part.split('/');
  const [table, above] = steps[0] === JOINED ? steps.slice(1) : steps;
  const key = KEYS[table];
  return key === undefined
    ? table
    : `${table}/${partition(key, nameInPartition(above.slice(key.length + 1)))}`;
}

interface PartFile {
  readonly path: string;
  /** Name of its run and core. */
  readonly core: string;
}

/** The files of a run's directory, in the order of cores and parts. */
async function partFiles(directory: string, run: string): Promise<PartFile[]> {
  const files = (await filesBelow(directory)).map(({ path }) => path);
  const number = (path: string): number => Number(/part-(\d+)\.parquet$/.exec(path)?.[1] ?? 0);
  return files
    .sort((a, b) => dirname(a).localeCompare(dirname(b)) || number(a) - number(b))
    .map((path) => ({
      path,
      core: coreName(run, nameInPartition(basename(dirname(path)).slice('core='.length))),
    }));
}
