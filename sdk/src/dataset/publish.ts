/**
 * A run appears in a dataset whole or not at all. Its files are written aside and synced; then its commit gets its name, and is synced with all directories
 * above it; then the directories are moved, and the commit last of all becomes the run's record. What a killed process left between the commit and the last
 * move, the next one completes.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { replaceFile } from '../writer/output/atomic-file.js';
import type { Access } from '../writer/output/file-access.js';
import { ioError, syncDirectory } from '../writer/output/output-file.js';
import type { PathLock } from '../writer/output/path-lock.js';
import { removeStaleLocks } from '../writer/output/stale-locks.js';
import { isInside, KEYS, partition } from './files/names.js';
import { completeJoins } from './join-commit.js';
import { dropJoined, joinedNames, readJoined } from './joined-runs.js';
import { RUNS, type RunRecord, recordPath, STAGING, TABLES, type TableName } from './layout.js';
import { type LockWait, lockRun, tryLockRun, WAIT_MS, withPublishLock } from './locks.js';
import { checkOwn, makeShared, readIntent, strangerOf } from './own-dataset.js';
import { StagedFiles } from './staged-files.js';
import { syncOne, syncTree } from './sync.js';

const COMMIT = 'commit.json';
/** Of a run, until it is in the dataset. */
const RECORD = 'record.json';
/** What a staged run will do. */
interface Commit {
  readonly run: string;
  /** null: the run goes away. */
  readonly record: RunRecord | null;
  /** Directories that appear, and those of before that go away. */
  readonly moved: readonly string[];
  readonly removed: readonly string[];
}

/** Where one run is written before it appears. */
export class StagedRun {
  readonly files: StagedFiles;

  private constructor(
    private readonly root: string,
    private readonly run: string,
    readonly path: string,
    private readonly lock: PathLock,
  ) {
    this.files = new StagedFiles(path, run);
  }

  /** @throws UscopeError DATASET_LOCKED while the run is being exported, by another process or this one; READER_UNTRUSTED, WRITER_* */
  static async begin(root: string, run: string, wait: LockWait = {}): Promise<StagedRun> {
    await checkOwn(root);
    await makeShared(root, STAGING);
    await completeRuns(root);
    const lock = await lockRun(root, run, wait);
    try {
      const path = join(root, STAGING, stagedName(run));
      await mkdir(path, { mode: 0o700 });
      return new StagedRun(root, run, path, lock);
    } catch (error) {
      lock.release();
      throw ioError(error, root);
    }
  }

  /**
   * @param only the tables that are replaced; null: all of the run
   * @param access of all that is published; null: what it has
   */
  async publish(
    record: RunRecord,
    only: readonly TableName[] | null = null,
    access: Access | null = null,
  ): Promise<void> {
    await mkdir(join(this.path, 'tables'), { recursive: true });
    await syncTree(join(this.path, 'tables'), access);
    await withPublishLock(this.root, async (publishing) => {
      const moved = await partsOf(join(this.path, 'tables'), this.run);
      const there = await partsOf(this.root, this.run);
      const isReplaced = (part: string): boolean =>
        only === null || only.includes(part.slice(0, part.indexOf('/')) as TableName);
      const removed = there.filter((part) => isReplaced(part) && !moved.includes(part));
      const kept = there.filter((part) => !isReplaced(part) && !moved.includes(part));
      const parts = [...kept, ...moved].sort();
      const commit: Commit = { run: this.run, record: { ...record, parts }, moved, removed };
      // A machine that was suspended may have lost them.
      await this.lock.check?.();
      await publishing.check?.();
      // Now, as long as there may be no room for it: to complete a commit takes none.
      await stageRecord(this.path, { ...record, parts }, access);
      await writeCommit(this.root, this.path, commit);
      await move(this.root, this.path, commit);
    });
    this.lock.release();
  }

  /** @returns false: after the commit there is no way back, and the next process completes it */
  async abandon(): Promise<boolean> {
    const isCommitted = await exists(join(this.path, COMMIT));
    if (!isCommitted) await rm(this.path, { recursive: true, force: true });
    this.lock.release();
    return !isCommitted;
  }
}

async function writeCommit(root: string, staged: string, commit: Commit): Promise<void> {
  // What the commit is in must outlive a power failure before the commit does.
  await syncDirectory(join(root, STAGING));
  await syncDirectory(root);
  await replaceFile(join(staged, COMMIT), `${JSON.stringify(commit)}\n`);
}

async function stageRecord(staged: string, record: RunRecord, access: Access | null): Promise<void> {
  await replaceFile(join(staged, RECORD), lineOf(record));
  await syncOne(join(staged, RECORD), access);
}

const lineOf = (record: RunRecord): string => `${JSON.stringify(record)}\n`;

/** Completes what killed processes had committed, and removes what they had not. In a dataset that is not this user's own it does nothing. */
export async function completeRuns(root: string): Promise<void> {
  if ((await strangerOf(root)) !== null) return;
  await removeStaleLocks(join(root, STAGING));
  await completeJoins(root);
  if ((await stagedRuns(root)).length === 0) return;
  await withPublishLock(root, async () => {
    for (const name of await stagedRuns(root)) {
      const lock = await tryLockRun(root, name.slice(0, name.indexOf('~')));
      if (lock === null) continue; // somebody is at work
      try {
        const staged = join(root, STAGING, name);
        const commit = await readCommit(staged);
        if (commit) await move(root, staged, commit);
        else await rm(staged, { recursive: true, force: true });
      } finally {
        lock.release();
      }
    }
  });
}

/** Takes a run away, whole. @returns false: there is no such run @throws UscopeError DATASET_LOCKED, READER_UNTRUSTED, WRITER_* */
export async function removeRun(
  root: string,
  run: string,
  wait: LockWait = { waitMs: WAIT_MS },
): Promise<boolean> {
  await checkOwn(root);
  await makeShared(root, STAGING);
  const lock = await lockRun(root, run, wait);
  try {
    return await withPublishLock(root, async () => {
      const removed = await partsOf(root, run);
      const isJoined = joinedNames(await readJoined(root)).has(run);
      if (removed.length === 0 && !isJoined && !(await exists(recordPath(root, run)))) return false;
      const staged = join(root, STAGING, stagedName(run));
      await mkdir(staged, { mode: 0o700 });
      const commit: Commit = { run, record: null, moved: [], removed };
      await writeCommit(root, staged, commit);
      await move(root, staged, commit);
      return true;
    });
  } catch (error) {
    throw ioError(error, root);
  } finally {
    lock.release();
  }
}

/** Names of staged runs, of living processes and dead ones. */
export async function stagedRuns(root: string): Promise<string[]> {
  const names = await readdir(join(root, STAGING)).catch(() => [] as string[]);
  return names.filter((name) => STAGED.test(name));
}

/** Directories of a run in a dataset, or in a staged copy of one. */
export async function partsOf(root: string, run: string): Promise<string[]> {
  const directory = partition('run', run);
  const parts: string[] = [];
  for (const table of TABLES) {
    const keys =
      KEYS[table] === undefined ? [''] : await readdir(join(root, table)).catch(() => [] as string[]);
    for (const key of keys) {
      const part = [table, key, directory].filter((step) => step !== '').join('/');
      if (await exists(join(root, part))) parts.push(part);
    }
  }
  return parts.sort();
}

/** Can be repeated from any point at which it was interrupted. */
async function move(root: string, staged: string, { run, record, moved, removed }: Commit): Promise<void> {
  for (const part of removed) await moveAside(root, staged, part);
  for (const part of moved) {
    const from = join(staged, 'tables', part);
    if (!(await exists(from))) continue; // moved already
    await moveAside(root, staged, part);
    await makeShared(root, dirname(part));
    await rename(from, join(root, part));
  }
  await syncAbove(root, [...moved, ...removed]);
  await dropJoined(root, run);
  await makeShared(root, RUNS);
  if (record === null) await rm(recordPath(root, run), { force: true });
  else await moveRecord(staged, record, recordPath(root, run));
  await syncDirectory(join(root, RUNS));
  await syncDirectory(root);
  // Without its commit the rest is only in the way.
  await rm(join(staged, COMMIT), { force: true });
  await rm(staged, { recursive: true, force: true });
}

/** Once it is moved, it is no more where it was. A commit of an early release has it nowhere else. */
async function moveRecord(staged: string, record: RunRecord, path: string): Promise<void> {
  if (!(await exists(join(staged, RECORD)))) {
    const there = await readFile(path, 'utf8').catch(() => null);
    if (there === lineOf(record)) return;
    await stageRecord(staged, record, null);
  }
  await rename(join(staged, RECORD), path);
}

async function moveAside(root: string, staged: string, part: string): Promise<void> {
  if (!(await exists(join(root, part)))) return;
  const old = join(staged, 'old', `${part.replaceAll('/', '~')}-${randomBytes(3).toString('hex')}`);
  await mkdir(dirname(old), { recursive: true });
  await rename(join(root, part), old);
}

/** Makes the names of moved directories durable, and those of the directories above them. */
async function syncAbove(root: string, parts: readonly string[]): Promise<void> {
  const above = new Set<string>([root]);
  for (const part of parts) {
    for (let path = dirname(part); path !== '.'; path = dirname(path)) above.add(join(root, path));
  }
  for (const path of above) if (await exists(path)) await syncDirectory(path);
}

/** null: it was not written. @throws UscopeError DATASET_LAYOUT for one that names files outside the dataset */
async function readCommit(staged: string): Promise<Commit | null> {
  const file = join(staged, COMMIT);
  const text = await readIntent(file);
  if (text === null) return null;
  const commit = parsed(text);
  if (!commit || typeof commit.run !== 'string') return null; // renamed only when it was whole: the disk has lost it
  const { run, moved, removed } = commit;
  const lists: readonly unknown[] = [[run], moved, removed];
  if (!run.includes('/') && lists.every((list) => Array.isArray(list) && list.every(isInside))) return commit;
  const detail =
    'an export that was interrupted names files outside the dataset: remove the directory of this file, and export the run again';
  throw new UscopeError('DATASET_LAYOUT', detail, { file });
}

function parsed(text: string): Commit | null {
  try {
    return JSON.parse(text) as Commit | null;
  } catch {
    return null;
  }
}

const STAGED = /^[^~]+~[0-9a-f]{16}$/;
const stagedName = (run: string): string => `${run}~${randomBytes(8).toString('hex')}`;

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
