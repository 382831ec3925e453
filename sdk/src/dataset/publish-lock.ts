/**
 * The lock that a process holds while it moves runs to their places: a moment. `_staging/lock-N` with the greatest N counts, and says who holds it. A dead
 * holder's lock is taken over with number N + 1, which only one process can create. The last file stays, marked free: were it deleted, a process that has
 * seen number N could take N + 1 while another one takes 1.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UscopeError } from '../base/errors.js';
import { ioError } from '../writer/output/output-file.js';
import { STAGING } from './layout.js';
import { isAlive, type Owner, ownOwner } from './owner.js';

const WAIT_MS = 60_000;
const POLL_MS = 15;
/** Between the creation of a lock and its content. */
const EMPTY_MS = 10_000;

interface Held {
  readonly number: number;
  readonly isFree: boolean;
  readonly owner: Owner | null;
}

/** @throws UscopeError DATASET_LOCKED when another process holds the lock for a minute, DATASET_WRITE */
export async function withPublishLock<T>(root: string, work: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const directory = join(root, STAGING);
  const number = await acquire(directory, waitMs);
  try {
    return await work();
  } finally {
    await release(directory, number);
  }
}

async function acquire(directory: string, waitMs: number): Promise<number> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const held = await newest(directory);
    if (held === null || held.isFree) {
      const number = (held?.number ?? 0) + 1;
      if (await take(directory, number)) return number;
      continue;
    }
    if (Date.now() > deadline) {
      const who = held.owner ? `process ${held.owner.pid} on ${held.owner.host}` : 'another process';
      throw new UscopeError(
        'DATASET_LOCKED',
        `${who} has been changing the dataset for too long; wait for it, or end it`,
        {
          file: join(directory, `lock-${held.number}`),
        },
      );
    }
    await sleep(POLL_MS);
  }
}

async function take(directory: string, number: number): Promise<boolean> {
  const path = join(directory, `lock-${number}`);
  try {
    await writeFile(path, JSON.stringify(ownOwner()), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw ioError(error, path);
  }
  const numbers = await numbersOf(directory);
  // Number N + 1 can have been taken, left and removed since this process has seen N.
  if (numbers.some((other) => other > number)) {
    await rm(path, { force: true });
    return false;
  }
  for (const other of numbers)
    if (other < number) await rm(join(directory, `lock-${other}`), { force: true });
  return true;
}

async function release(directory: string, number: number): Promise<void> {
  const temporary = join(directory, `.lock-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(temporary, '"free"');
    await rename(temporary, join(directory, `lock-${number}`));
  } catch {
    // The next process sees a dead owner as soon as this one has ended.
    await rm(temporary, { force: true }).catch(() => {});
  }
}

/** The lock that counts; null: there has been none. A dead owner's is free. */
async function newest(directory: string): Promise<Held | null> {
  for (;;) {
    const number = Math.max(0, ...(await numbersOf(directory)));
    if (number === 0) return null;
    const path = join(directory, `lock-${number}`);
    const text = await readFile(path, 'utf8').catch(() => null);
    const found = await stat(path).catch(() => null);
    if (text === null || found === null) continue;
    const owner = ownerOf(text);
    if (owner === 'free') return { number, isFree: true, owner: null };
    if (owner === null) return { number, isFree: Date.now() - found.mtimeMs > EMPTY_MS, owner };
    return { number, isFree: !isAlive(owner, found.mtimeMs), owner };
  }
}

function ownerOf(text: string): Owner | 'free' | null {
  try {
    const value = JSON.parse(text) as Owner | 'free' | null;
    return value === 'free' || typeof value?.pid === 'number' ? value : null;
  } catch {
    return null;
  }
}

async function numbersOf(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => [] as string[]);
  return names.flatMap((name) => {
    const [, digits] = /^lock-(\d{1,15})$/.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
}
