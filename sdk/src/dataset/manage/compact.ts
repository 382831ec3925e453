/** Joins the files of many runs: a farm leaves thousands of small ones, and an engine opens each of them. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import type { PathLock } from '../../writer/output/path-lock.js';
import { type Connection, type Engine, loadEngine, named, quoted } from '../engine/duckdb.js';
import { KEYS, nameInPartition, partition } from '../files/names.js';
import { type JoinCommit, publishJoin } from '../join-commit.js';
import { JOINED, type JoinedGroup, joinedNames, readJoined } from '../joined-runs.js';
import { openDataset, STAGING } from '../layout.js';
import { tryLockJoin, tryLockRun } from '../locks.js';
import { UNSIGNED_KEY } from '../parquet/parquet-file.js';
import { completeRuns } from '../publish.js';
import { unsignedQuery } from '../unsigned.js';
import { writeFailure } from '../write-failure.js';
import { listRuns } from './runs.js';

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
  await mkdir(join(root, STAGING), { recursive: true });
  await completeRuns(root);
  const lock = await tryLockJoin(root);
  if (lock === null) {
    const detail = 'another process is joining the files of this dataset; wait for it';
    throw new UscopeError('DATASET_LOCKED', detail, { file: root });
  }
  const instance = await api.DuckDBInstance.create(':memory:', {
    memory_limit: MEMORY,
    temp_directory: join(root, STAGING, 'spill'),
  });
  const connection = await instance.connect();
  try {
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
    connection.closeSync();
    instance.closeSync();
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
      await mkdir(staged);
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
    locks.push(...held);
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
    const directories: string[] = [];
    const joined: string[] = [];
    const selects: string[] = [];
    for (const { group, parts } of sources) {
      const mine = parts.filter((part) => placeOf(part) === place).map((part) => join(this.root, part));
      if (group) {
        joined.push(...mine);
        const rows = `SELECT * FROM read_parquet([${mine.map(quoted).join(', ')}], hive_partitioning = false)`;
        const dropped = group.dropped.map(quoted).join(', ');
        selects.push(dropped === '' ? rows : `${rows} WHERE run NOT IN (${dropped})`);
      } else for (const directory of mine) directories.push(...(await filesBelow(directory)));
    }
    this.filesBefore += joined.length + directories.length;
    if (directories.length > 0) selects.push(runRows(directories, KEYS[place.split('/')[0]]));
    const query = selects.join(' UNION ALL BY NAME ');
    const expected = await this.count(`(${query})`);
    if (expected === 0n) return false;
    await mkdir(dirname(path), { recursive: true });
    await this.connection.run(
      `COPY (${query}) TO ${quoted(path)} (${PARQUET}${await this.unsigned([...joined, ...directories])})`,
    );
    const written = await this.count(`read_parquet(${quoted(path)}, hive_partitioning = false)`);
    if (written !== expected)
      throw new Error(`${place} has ${written} rows after it was joined, and had ${expected}`);
    return true;
  }

  /** What the files say of their columns, as an option of COPY. */
  private async unsigned(paths: readonly string[]): Promise<string> {
    if (paths.length === 0) return '';
    const found = await this.connection.runAndReadAll(unsignedQuery(paths.map(quoted)));
    const names = found.getRows().map(([name]) => String(name));
    return names.length === 0 ? '' : `, KV_METADATA {${quoted(UNSIGNED_KEY)}: ${quoted(names.join(','))}}`;
  }

  private async count(from: string): Promise<bigint> {
    const result = await this.connection.runAndReadAll(`SELECT count(*) FROM ${from}`);
    return result.getRows()[0][0] as bigint;
  }
}

/** Rows of runs' directories, with `run` and `core` as columns. The partition above stays one. */
function runRows(paths: readonly string[], key: string | undefined): string {
  const keys = ['run', 'core', ...(key ? [key] : [])].map((name) => `${named(name)}: VARCHAR`).join(', ');
  return (
    `SELECT * ${key ? `EXCLUDE (${named(key)}) ` : ''}FROM read_parquet([${paths.map(quoted).join(', ')}], union_by_name = true, ` +
    `hive_partitioning = true, hive_types = {${keys}})`
  );
}

/** Table and key of a run's directory, or of a joined file: `events/event=E`. */
function placeOf(part: string): string {
  const steps = part.split('/');
  const [table, above] = steps[0] === JOINED ? steps.slice(1) : steps;
  const key = KEYS[table];
  return key === undefined
    ? table
    : `${table}/${partition(key, nameInPartition(above.slice(key.length + 1)))}`;
}

/** In the order of cores and parts. */
async function filesBelow(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.parquet'));
  const number = (name: string): number => Number(/part-(\d+)\.parquet$/.exec(name)?.[1] ?? 0);
  return names
    .sort((a, b) => dirname(a).localeCompare(dirname(b)) || number(a) - number(b))
    .map((name) => join(directory, name));
}
