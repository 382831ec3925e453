/** Lock files of processes that were killed: nobody has to come to their traces for them to go away. */
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ENDING_MS, POLL_MS, removeDead } from './lock-file.js';
import { judge, judgeTemporary, look, type Verdict } from './lock-holder.js';

/** Locks, claims of locks, and files that were to become either. */
const NAME = /^\..*\.lock(?:[.-][0-9a-f]{8})*(?:\.[0-9a-f]{6}(?:-[0-9a-z]+){2})?$/;

/** Removes those whose process was one of this machine, when it has ended. What cannot be removed stays: it is in nobody's way. */
export async function removeStaleLocks(directory: string): Promise<void> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  await Promise.all(names.map((name) => removeStale(join(directory, name)).catch(() => {}))); // somebody took it in between, or the directory is not ours
}

async function removeStale(path: string): Promise<void> {
  const end = performance.now() + ENDING_MS;
  for (;;) {
    const verdict = await removedOr(path);
    // A process that was killed is there until it has ended.
    if (verdict !== 'ending' || performance.now() > end) return;
    await delay(POLL_MS, undefined, { ref: false });
  }
}

/** Removes it if its process is dead; else says what that is. */
async function removedOr(path: string): Promise<Verdict> {
  const temporary = judgeTemporary(path);
  if (temporary !== null) {
    if (temporary === 'dead') await unlink(path); // a lock made of it has a separate name
    return temporary;
  }
  const seen = await look(path);
  if (seen?.holder == null) return 'unknown';
  const verdict = judge(seen.holder);
  if (verdict === 'dead') await removeDead(path, seen);
  return verdict;
}
