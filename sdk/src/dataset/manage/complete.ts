/** Every verb that opens a dataset finishes what killed processes have begun, as far as the dataset is this user's own. */
import { isUscopeError } from '../../base/errors.js';
import { readJoined } from '../joined-runs.js';
import { openDataset } from '../layout.js';
import { tryLockJoin } from '../locks.js';
import { strangerOf } from '../own-dataset.js';
import { completeRuns } from '../publish.js';
import { hasReadersBefore } from '../readers.js';
import { purgeJoined } from './compact.js';

/** @throws UscopeError DATASET_LAYOUT */
export async function openWhole(root: string): Promise<void> {
  await openDataset(root);
  if ((await strangerOf(root)) !== null) return;
  await completeRuns(root);
  try {
    if (await canPurge(root)) await purgeJoined(root);
  } catch (error) {
    // Without the engine, on a full disk or on one that is only read, the rows stay for the next verb. Our own questions leave them out.
    if (!isUscopeError(error)) throw error;
  }
}

/** Whether rows that no longer count are in joined files, nobody reads those, and nobody joins files. */
async function canPurge(root: string): Promise<boolean> {
  const { groups, generation } = await readJoined(root);
  if (!groups.some(({ dropped }) => dropped.length > 0)) return false;
  if (await hasReadersBefore(root, generation + 1)) return false;
  const lock = await tryLockJoin(root);
  lock?.release();
  return lock !== null;
}
