/** Locks of a dataset: one for each run that is being exported, and one that is held for a moment while runs are moved to their places. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { lockPath, type PathLock } from '../writer/output/path-lock.js';
import { STAGING } from './layout.js';

const WAIT_MS = 60_000;
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

/** @throws UscopeError DATASET_LOCKED */
export async function lockRun(root: string, run: string): Promise<PathLock> {
  const lock = await tryLockRun(root, run);
  if (lock) return lock;
  const detail = `another process is exporting the run "${run}"; wait for it, or choose another name with --run`;
  throw new UscopeError('DATASET_LOCKED', detail, { file: root });
}

/** @throws UscopeError DATASET_LOCKED when another process holds the lock for a minute; WRITER_* */
export async function withPublishLock<T>(
  root: string,
  work: (lock: PathLock) => Promise<T>,
  waitMs = WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    let lock: PathLock;
    try {
      lock = await lockPath(join(root, STAGING, PUBLISH));
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) {
        const detail = 'another process has been moving runs for too long; wait for it, or end it';
        throw new UscopeError('DATASET_LOCKED', detail, { file: root }, { cause: error });
      }
      await sleep(POLL_MS);
      continue;
    }
    try {
      return await work(lock);
    } finally {
      lock.release();
    }
  }
}

const isBusy = (error: unknown): boolean => isUscopeError(error) && error.code === 'WRITER_BUSY';
