/**
 * A lock that hosts with a shared file system respect: a file that one process at a time can create. Its holder shows signs of life by
 * changing the file's time; a holder that shows none for its lease, measured by the clock of the one who watches, may be replaced. Clocks
 * of different hosts are never compared.
 *
 * - Created by link(2) from a complete file, so that its content is there from the first moment.
 * - Replaced by rename(2) under a claim, a lock file of the same kind, named after what is replaced: of several that find the holder dead,
 *   one replaces it.
 * - A holder that finds itself late (it was suspended) takes that claim too before it believes that the lock is still its own. So nobody
 *   replaces it between its sign of life and its next write.
 */
import { readFileSync, unlinkSync } from 'node:fs';
import { copyFile, type FileHandle, constants as fs, link, open, rename, unlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { UscopeError } from '../../base/errors.js';
import {
  encodeHolder,
  forget,
  type Holder,
  judge,
  look,
  MAX_LEASE_MS,
  MIN_LEASE_MS,
  nameOfHolder,
  newHolder,
  type Seen,
  temporaryPath,
} from './lock-holder.js';
import { ioError } from './output-file.js';

/** Less than a client waits for the answer to its `open`. */
const LEASE_MS = 8000;
/** How long a process that was killed may take to end, and how often that is looked at. */
export const ENDING_MS = 5000;
export const POLL_MS = 20;
/** Signs of life in a lease; a holder whose last one is older than half of it is late. */
const BEATS = 5;
const LATE = 0.5;
/** Answers of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

/** Looks at locks that are still held: they may have separate files. */
const underWay = new Set<Promise<void>>();

/** To be awaited before the process ends, when all locks are released: otherwise a claim may be left, which the next daemon removes. */
export async function locksSettled(): Promise<void> {
  await Promise.allSettled(underWay);
}

export class LockFile {
  /**
   * @param path of the lock file
   * @param subject what it locks, for messages
   * @throws UscopeError WRITER_BUSY, WRITER_DIRECTORY, WRITER_DISK_FULL, WRITER_IO
   */
  static async acquire(path: string, subject: string, leaseMs: number): Promise<LockFile> {
    const own = newHolder(leaseMs);
    const temporary = temporaryPath(path, own);
    try {
      await writeNew(temporary, encodeHolder(own));
      const clock = new Elapsed();
      const patience = performance.now() + ENDING_MS;
      for (;;) {
        clock.restart(); // what comes to be held is held from here on
        if (await isCreated(temporary, path)) break;
        const seen = await whenFree(path, subject);
        if (seen?.token === own.token) break; // the answer to our link was lost
        clock.restart();
        if (seen === null) continue;
        const isOver = await withClaim(path, seen, subject, leaseMs, () => rename(temporary, path));
        if (isOver) break;
        if (performance.now() > patience) throw busy(subject, null);
      }
      return new LockFile(path, subject, own, clock, await openOwn(path, own, subject));
    } catch (error) {
      forget(own);
      throw ioError(error, subject);
    } finally {
      await unlink(temporary).catch(() => {}); // a rename has taken it
    }
  }

  private beat = 0;
  private lost: UscopeError | null = null;
  private renewing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly path: string,
    private readonly subject: string,
    private readonly own: Holder,
    private readonly clock: Elapsed,
    private readonly file: FileHandle,
  ) {}

  /** From now on there are signs of life. */
  keep(): this {
    this.timer = setInterval(() => void this.renew().catch(() => {}), this.own.leaseMs / BEATS);
    this.timer.unref();
    return this;
  }

  /**
   * To be called before every write: undefined when the lock is surely held, else a promise that resolves when that is sure.
   * @throws UscopeError WRITER_LOCK_LOST, or why it cannot be known
   */
  check(): Promise<void> | undefined {
    return this.lost === null && !this.isLate ? undefined : this.renew();
  }

  release(): void {
    clearInterval(this.timer);
    void Promise.resolve(this.renewing)
      .catch(() => {})
      .then(() => this.file.close())
      .catch(() => {});
    if (this.lost === null) unlinkOwn(this.path, this.own);
    forget(this.own);
  }

  /** The last sign of life may be so old that others are about to take the lock. */
  get isLate(): boolean {
    return this.clock.ms > this.own.leaseMs * LATE;
  }

  private renew(): Promise<void> {
    if (this.lost) return Promise.reject(this.lost);
    if (this.renewing === null) {
      const renewing = (this.isLate ? this.regain() : this.beatOn()).finally(() => {
        this.renewing = null;
        underWay.delete(renewing);
      });
      underWay.add(renewing);
      this.renewing = renewing;
    }
    return this.renewing;
  }

  /** A machine whose clocks all stopped does not know that it is late: its file is gone then. */
  private async beatOn(): Promise<void> {
    await this.showLife();
    const { nlink } = await this.file.stat();
    if (nlink === 0 && !(await this.isOurs())) this.lose();
  }

  private async showLife(): Promise<void> {
    const begun = this.clock.now();
    this.beat = Math.max(this.beat + 1, Math.floor(Date.now() / 1000));
    try {
      await this.file.utimes(this.beat, this.beat);
    } catch (error) {
      throw ioError(error, this.subject);
    }
    this.clock.restart(begun);
  }

  /** Another may have taken the lock, or be about to: while we have the claim, nobody does. */
  private async regain(): Promise<void> {
    const claim = await this.claimOwn();
    try {
      if (!(await this.isOurs())) this.lose();
      await this.showLife();
    } finally {
      claim.release();
    }
  }

  private async claimOwn(): Promise<LockFile> {
    const { path, own, subject } = this;
    const end = performance.now() + own.leaseMs;
    for (;;) {
      try {
        return await LockFile.acquire(claimPath(path, own.token), subject, own.leaseMs);
      } catch (error) {
        if ((error as UscopeError).code !== 'WRITER_BUSY') throw error;
        if (performance.now() > end || (await look(path))?.token !== own.token) this.lose();
        await delay(POLL_MS);
      }
    }
  }

  /** Whether the file that others see is still this one. */
  async isOurs(): Promise<boolean> {
    return (await look(this.path))?.token === this.own.token;
  }

  private lose(): never {
    const detail =
      'another host has taken the lock of this trace, because this process gave no sign of life for too long; the file is the other one’s';
    this.lost = new UscopeError('WRITER_LOCK_LOST', detail, { file: this.subject });
    throw this.lost;
  }
}

/**
 * Resolves when the lock's holder is dead (what was seen of it), or there is none any more (null). A holder that was killed is waited for, one
 * that cannot be looked at is watched for its lease.
 * @throws UscopeError WRITER_BUSY
 */
export async function whenFree(path: string, subject: string): Promise<Seen | null> {
  let first: Seen | null = null;
  let since = 0;
  for (;;) {
    const waited = performance.now() - since;
    const seen = await look(path);
    if (seen === null) return null;
    if (first?.token !== seen.token) {
      first = seen;
      since = performance.now();
      continue;
    }
    const verdict = judge(seen.holder);
    if (verdict === 'dead') return seen;
    const leaseMs = seen.holder?.leaseMs ?? defaultLeaseMs();
    const isStill = first.beat === seen.beat;
    if (verdict === 'unknown' && isStill && waited > leaseMs) return seen;
    const isWorthIt = verdict === 'unknown' ? isStill : verdict === 'ending' && waited < ENDING_MS;
    if (!isWorthIt) throw busy(subject, seen.holder);
    await delay(verdict === 'unknown' ? Math.min(leaseMs / (4 * BEATS), 250) : POLL_MS);
  }
}

export function busy(subject: string, holder: Holder | null): UscopeError {
  const detail = `${nameOfHolder(holder)} writes this trace; wait for its end or choose another name`;
  return new UscopeError('WRITER_BUSY', detail, { file: subject });
}

/** Of locks whose file does not say. `USCOPE_LOCK_LEASE_MS` is for file systems that are silent for long. */
export function defaultLeaseMs(): number {
  const asked = Number(process.env.USCOPE_LOCK_LEASE_MS);
  return asked >= MIN_LEASE_MS && asked <= MAX_LEASE_MS ? asked : LEASE_MS;
}

/** Removes the lock file of a holder that is dead, unless somebody else has come to it meanwhile. @throws UscopeError WRITER_* */
export async function removeDead(path: string, dead: Seen): Promise<void> {
  await withClaim(path, dead, path, MIN_LEASE_MS, () => unlink(path));
}

/** Acts on a dead holder's lock file as the only one who does; false when that is not what is there any more, or another has the claim. */
async function withClaim(
  path: string,
  dead: Seen,
  subject: string,
  leaseMs: number,
  act: () => Promise<void>,
): Promise<boolean> {
  const claim = await acquireClaim(path, dead, subject, leaseMs);
  if (claim === null) return false;
  try {
    const seen = await look(path);
    if (seen?.token !== dead.token || seen.beat !== dead.beat) return false;
    await act();
    // Suspended with the claim, we may have lost that: then the lock is another's.
    if (!claim.isLate || (await claim.isOurs())) return true;
    unlinkQuietly(path);
    throw busy(subject, null);
  } finally {
    claim.release();
  }
}

/** null: another has it, for a moment. */
async function acquireClaim(
  path: string,
  { token }: Seen,
  subject: string,
  leaseMs: number,
): Promise<LockFile | null> {
  try {
    return await LockFile.acquire(claimPath(path, token), subject, leaseMs);
  } catch (error) {
    if ((error as UscopeError).code !== 'WRITER_BUSY') throw error;
    await delay(POLL_MS);
    return null;
  }
}

const claimPath = (path: string, token: string): string => `${path}-${token}`;

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close(); // a network file system has it now
  }
}

async function isCreated(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  try {
    await copyFile(temporary, path, fs.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The file that was created, or renamed, must be the one that others see. */
async function openOwn(path: string, own: Holder, subject: string): Promise<FileHandle> {
  const file = await open(path, 'r');
  const seen = await look(path);
  if (seen?.token === own.token) return file;
  await file.close();
  throw busy(subject, seen?.holder ?? null);
}

/** A lock that was lost without our knowing is another's. */
function unlinkOwn(path: string, { token }: Holder): void {
  try {
    if (JSON.parse(readFileSync(path, 'utf8')).token === token) unlinkSync(path);
  } catch {
    // It is gone, or stale from now on.
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is stale from now on.
  }
}

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/**
 * Time since a moment, by the clock of this machine that has gone further: the monotonic one stops while a machine sleeps. A wall
 * clock that is set only makes a holder look twice.
 */
class Elapsed {
  since = this.now();

  now(): Moment {
    return { monotonic: performance.now(), wall: Date.now() };
  }

  restart(since = this.now()): void {
    this.since = since;
  }

  get ms(): number {
    const { monotonic, wall } = this.since;
    return Math.max(performance.now() - monotonic, Math.abs(Date.now() - wall));
  }
}
