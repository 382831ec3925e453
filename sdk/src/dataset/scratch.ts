/**
 * Directories in the machine's temporary directory that live as long as a process. One that is killed leaves them: the next process that makes one removes
 * them. A lock next to each says whose it is, and is there before it.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLocked, lockPath } from '../writer/output/path-lock.js';

export interface Scratch {
  readonly path: string;
  /** With all that is in it. */
  remove(): Promise<void>;
}

/** What it is for. */
export type ScratchKind = 'sql' | 'view-sql';
const NAME = /^uscope-(?:view-)?sql-[0-9a-f]{16}$/;

/** @param directory for tests */
export async function makeScratch(kind: ScratchKind, directory = tmpdir()): Promise<Scratch> {
  await removeDead(directory);
  const path = join(directory, `uscope-${kind}-${randomBytes(8).toString('hex')}`);
  const lock = await lockPath(path);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true });
      lock.release();
    },
  };
}

/** What cannot be removed stays: it is another user's, or somebody took its lock in between. */
async function removeDead(directory: string): Promise<void> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  for (const name of names) await removeIfDead(join(directory, name)).catch(() => {});
}

async function removeIfDead(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (await isLocked(path))) return;
  const lock = await lockPath(path);
  try {
    await rm(path, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}
