/**
 * The steps that put joined files into a dataset. Each can be repeated: what a killed process left after its commit, the next one completes. The files of
 * before stay until all questions that may read them have ended.
 */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { replaceFile } from '../writer/output/atomic-file.js';
import { syncDirectory } from '../writer/output/output-file.js';
import type { PathLock } from '../writer/output/path-lock.js';
import { isInside } from './files/names.js';
import { changeJoined, type JoinedGroup, joinedNames, readJoined } from './joined-runs.js';
import { JOINED, STAGING } from './layout.js';
import { tryLockJoin, withPublishLock } from './locks.js';
import { makeShared, readIntent } from './own-dataset.js';
import { waitForReadersBefore } from './readers.js';
import { syncTree } from './sync.js';

const COMMIT = 'join.json';
const STAGED = /^~join~[0-9a-f]{16}$/;

export interface JoinCommit {
  /** null: groups without runs go away. */
  readonly group: JoinedGroup | null;
  /** Groups whose runs are in the new one. */
  readonly replaces: readonly string[];
  /** Directories of runs that are in the new group. */
  readonly removed: readonly { readonly run: string; readonly part: string }[];
  readonly removedFiles: readonly string[];
  /** Of the list with the new group in it; null: it is not in the list yet. */
  readonly generation: number | null;
}

/** The caller has the lock for joining and those of the runs. */
export async function publishJoin(
  root: string,
  staged: string,
  commit: JoinCommit,
  lock: PathLock,
  waitMs: number,
): Promise<void> {
  await mkdir(join(staged, JOINED), { recursive: true });
  await syncTree(join(staged, JOINED), null);
  await withPublishLock(root, async (publishing) => {
    await lock.check?.();
    await publishing.check?.();
    await syncDirectory(join(root, STAGING));
    await writeCommit(staged, commit);
    await apply(root, staged, commit);
  });
  await finish(root, staged, waitMs);
}

/** Completes what killed processes had committed, as far as no question is being answered, and removes what they had not. */
export async function completeJoins(root: string): Promise<void> {
  const names = (await readdir(join(root, STAGING)).catch(() => [] as string[])).filter((name) =>
    STAGED.test(name),
  );
  if (names.length === 0) return;
  const lock = await tryLockJoin(root);
  if (lock === null) return; // somebody is at work
  try {
    for (const name of names) {
      const staged = join(root, STAGING, name);
      const commit = await readCommit(staged);
      if (commit === null) await rm(staged, { recursive: true, force: true });
      else {
        await withPublishLock(root, () => apply(root, staged, commit));
        await finish(root, staged, 0);
      }
    }
  } finally {
    lock.release();
  }
}

/** Puts the files in their places and their group into the list. The caller has the lock for moves. */
async function apply(root: string, staged: string, commit: JoinCommit): Promise<void> {
  if (commit.generation !== null) return;
  const above = new Set<string>();
  for (const file of commit.group?.files ?? []) {
    const from = join(staged, file);
    if (await exists(from)) {
      await makeShared(root, dirname(file));
      await rename(from, join(root, file));
    }
    for (let path = dirname(file); path !== '.'; path = dirname(path)) above.add(join(root, path));
  }
  for (const path of above) await syncDirectory(path);
  const { generation } = await changeJoined(root, (groups) => [
    ...groups.filter(({ name }) => name !== commit.group?.name && !commit.replaces.includes(name)),
    ...(commit.group ? [commit.group] : []),
  ]);
  await writeCommit(staged, { ...commit, generation });
}

/** Removes what is in the new files. Runs that were exported again since keep their directories. */
async function finish(root: string, staged: string, waitMs: number): Promise<void> {
  const commit = await readCommit(staged);
  if (!commit || commit.generation === null) return;
  if (!(await waitForReadersBefore(root, commit.generation, waitMs))) return;
  await withPublishLock(root, async () => {
    const joined = joinedNames(await readJoined(root));
    for (const { run, part } of commit.removed)
      if (joined.has(run)) await rm(join(root, part), { recursive: true, force: true });
    for (const file of commit.removedFiles) await rm(join(root, file), { force: true });
    await rm(join(staged, COMMIT), { force: true });
    await rm(staged, { recursive: true, force: true });
  });
}

async function writeCommit(staged: string, commit: JoinCommit): Promise<void> {
  await replaceFile(join(staged, COMMIT), `${JSON.stringify(commit)}\n`);
}

/** null: it was not written. @throws UscopeError DATASET_LAYOUT for one that names files outside the dataset, or is damaged */
async function readCommit(staged: string): Promise<JoinCommit | null> {
  const file = join(staged, COMMIT);
  const text = await readIntent(file).catch((error) => {
    if (isUscopeError(error)) throw error;
    throw damaged(file, error.message);
  });
  if (text === null) return null;
  const commit = parseCommit(text);
  if (commit) return commit;
  throw damaged(file, 'it is not a list of joined files');
}

function damaged(file: string, why: string): UscopeError {
  const detail = `a join that was interrupted cannot be completed: ${why}; the runs are as before it: remove the directory of this file`;
  return new UscopeError('DATASET_LAYOUT', detail, { file });
}

/** What it names is moved and removed, so nothing in it may lead out of the dataset. */
function parseCommit(text: string): JoinCommit | null {
  try {
    const commit = JSON.parse(text) as JoinCommit;
    const { group, replaces, removed, removedFiles, generation } = commit;
    const isWhole =
      (generation === null || Number.isSafeInteger(generation)) &&
      (group === null || group.files.every(isInside)) &&
      Array.isArray(replaces) &&
      removed.every(({ part }) => isInside(part)) &&
      removedFiles.every(isInside);
    return isWhole ? commit : null;
  } catch {
    return null;
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
