/** Lock files of processes that were killed: nobody has to come to their traces for them to go away. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDead } from './lock-file.js';
import { judge, look } from './lock-holder.js';

/** Locks, claims of locks, and files that were to become either. */
const NAME = /^\..*\.lock(?:[.-][0-9a-f]{8})*$/;

/** Removes those whose process was one of this machine. What cannot be removed stays: it is in nobody's way. */
export async function removeStaleLocks(directory: string): Promise<void> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  for (const name of names) {
    const path = join(directory, name);
    try {
      const seen = await look(path);
      if (seen?.holder && judge(seen.holder) === 'dead') await removeDead(path, seen);
    } catch {
      // Somebody took it in between, or the directory is not ours.
    }
  }
}
