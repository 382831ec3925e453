/** Locks of a dataset: one for each run that is being exported, and one that is held for a moment while runs are moved to their places. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { lockPath, type PathLock } from '../writer/output/path-lock.js';
import { STAGING } from './layout.js';

export const WAIT_MS = 60_000;
const POLL_MS = 15;
/** No run can be called that. */
const PUBLISH = '~publish';

/** Nor that. */
const JOIN = '~join';

/** null: another process, or another export of this one, has the run. */
export const tryLockRun = (root: string, run: string): Promise<PathLock | null> => tryLock(root, run);

/** For joining files. null: another process does. */
export const tryLockJoin = (root: string): Promise<PathLock | null> => tryLock(root, JOIN);

async function tryLock(root: string, name: string): Promise<PathLock | null> {
  try {
    return await lockPath(join(root, STAGING, name));
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

/** How long to wait for a lock, by default not at all. */
export interface LockWait {
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws UscopeError DATASET_LOCKED; the signal's reason */
export async function lockRun(root: string, run: string, wait: LockWait = {}): Promise<PathLock> {
  const detail = `another process is exporting or joining the run "${run}"; wait for it, or export under another name, with --run`;
  return lockWithin(root, run, wait, detail);
}

/** For joining files. @throws UscopeError DATASET_LOCKED when another process does for a minute */
export const lockJoin = (root: string): Promise<PathLock> =>
  lockWithin(
    root,
    JOIN,
    { waitMs: WAIT_MS },
    'another process is joining the files of this dataset; wait for it',
  );

async function lockWithin(
  root: string,
  name: string,
  { waitMs = 0, signal }: LockWait,
  detail: string,
): Promise<PathLock> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    signal?.throwIfAborted();
    const lock = await tryLock(root, name);
    if (lock) return lock;
    if (performance.now() >= deadline) throw new UscopeError('DATASET_LOCKED', detail, { file: root });
    await sleep(POLL_MS);
  }
}

/** @throws UscopeError DATASET_LOCKED when another process holds the lock for a minute; WRITER_* */
export async function withPublishLock<T>(
  root: string,
  work: (lock: PathLock) => Promise<T>,
  waitMs = WAIT_MS,
): Promise<T> {
  const detail = 'another process has been moving runs for too long; wait for it, or end it';
  const lock = await lockWithin(root, PUBLISH, { waitMs }, detail);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

const isBusy = (error: unknown): boolean => isUscopeError(error) && error.code === 'WRITER_BUSY';
