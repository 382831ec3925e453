/** Questions that are being answered: files that they may still read stay until they have ended. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockPath } from '../writer/output/path-lock.js';
import { removeStaleLocks } from '../writer/output/stale-locks.js';
import { type JoinedRuns, readJoined } from './joined-runs.js';
import { STAGING } from './layout.js';
import { strangerOf } from './own-dataset.js';

const NAME = /^\.~read-(\d+)~[0-9a-f]{16}\.lock$/;
const POLL_MS = 25;

export interface Reading {
  readonly joined: JoinedRuns;
  end(): void;
}

/** Which groups count, for as long as it is held: in a dataset of this user. */
export async function beginReading(root: string): Promise<Reading> {
  const isOwn = (await strangerOf(root)) === null;
  for (;;) {
    const joined = await readJoined(root);
    if (!isOwn) return { joined, end: () => undefined };
    const name = `~read-${joined.generation}~${randomBytes(8).toString('hex')}`;
    // A directory in which nothing can be created has no moves either, or they are somebody else's risk.
    const lock = await lockPath(join(root, STAGING, name)).catch(() => null);
    if (lock === null || (await readJoined(root)).generation === joined.generation)
      return { joined, end: () => lock?.release() };
    lock.release();
  }
}

/** Whether questions are being answered that began before a generation. */
export async function hasReadersBefore(root: string, generation: number): Promise<boolean> {
  await removeStaleLocks(join(root, STAGING));
  const names = await readdir(join(root, STAGING)).catch(() => [] as string[]);
  return names.some((name) => {
    const found = NAME.exec(name);
    return found !== null && Number(found[1]) < generation;
  });
}

/** @returns false: there are still some when the time is over */
export async function waitForReadersBefore(
  root: string,
  generation: number,
  waitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (await hasReadersBefore(root, generation)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
